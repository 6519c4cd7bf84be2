"""Language servers that an editor runs: what is needed of the editor, and connections to its servers."""
