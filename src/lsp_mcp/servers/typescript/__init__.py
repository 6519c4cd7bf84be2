"""TypeScript's own language server."""
