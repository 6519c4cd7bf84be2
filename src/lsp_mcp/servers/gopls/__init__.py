"""gopls, the Go team's language server."""
