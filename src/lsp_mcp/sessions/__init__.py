"""Who is running: the backends of a workspace, and the Neovims that are connected."""
