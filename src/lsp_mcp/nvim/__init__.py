"""A running Neovim: its channel, its buffers, its language clients, its edits."""
