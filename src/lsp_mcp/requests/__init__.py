"""One LSP request each, for any `Backend`, in points and spans instead of LSP positions."""
