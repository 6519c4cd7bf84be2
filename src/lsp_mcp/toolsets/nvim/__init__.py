"""The toolset `nvim`: the vocabulary of docs/contracts/nvim.md, for Neovims that are connected."""
