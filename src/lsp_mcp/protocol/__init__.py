"""What messages of LSP and DAP consist of."""
