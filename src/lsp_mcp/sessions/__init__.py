"""Running backends of a workspace, and connected Neovims."""
