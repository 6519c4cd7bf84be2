"""Raw LSP objects: their positions, there and back (`walker`), and what callers pass on to a server (`params`)."""
