"""Language servers that this program starts: `Session` is one of them, kept alive."""
