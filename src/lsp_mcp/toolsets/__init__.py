"""The published vocabularies, one module each; every tool is a method with its schema and description."""
