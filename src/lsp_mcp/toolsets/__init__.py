"""The published vocabularies, one module each; every tool a method with its schema and description."""
