"""intelephense, a PHP language server."""
