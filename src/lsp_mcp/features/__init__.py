"""Questions to any `Backend`, one module per LSP request, in points and spans instead of LSP positions."""
