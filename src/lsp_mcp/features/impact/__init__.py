"""What depends on a symbol, and what nothing depends on."""
