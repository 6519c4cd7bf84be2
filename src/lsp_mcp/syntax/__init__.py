"""Syntax trees of texts, by tree-sitter, and what they say: a folder per grammar in `languages` has its queries."""
