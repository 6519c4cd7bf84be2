"""An overview of a workspace: folders, imports between them, entry points, and what is used and changed most."""
