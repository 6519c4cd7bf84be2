"""Language servers started by this program: finding the program, starting it, initializing it."""
