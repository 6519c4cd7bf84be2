"""The current problems of a workspace, and which of them are new."""
