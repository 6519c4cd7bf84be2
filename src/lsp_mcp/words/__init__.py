"""Which files have a word, where it stands in their code, and which of them can mean a symbol by it."""
