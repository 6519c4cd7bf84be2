"""The files that contain a word, its places in their code, and which of them can mean a symbol."""
