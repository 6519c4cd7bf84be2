"""One run of a language server and the next: its messages, open documents, death and restart."""
