"""What can be asked of any `Backend`, one module per request, in points and spans instead of LSP's positions."""
