"""What single language servers need beyond their adapters: a folder for each of them, known to `registry` only."""
