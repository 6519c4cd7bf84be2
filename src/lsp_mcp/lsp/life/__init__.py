"""One life of a language server and the next: what it says, what it has open, its death and restart."""
