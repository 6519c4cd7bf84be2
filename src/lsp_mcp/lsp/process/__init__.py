"""Language servers that this program starts: finding the program, starting it, initializing it."""
