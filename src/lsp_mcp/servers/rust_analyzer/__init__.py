"""rust-analyzer, a Rust language server."""
