"""The toolset `nvim`: the vocabulary of seeds/000, for Neovims that are connected."""
