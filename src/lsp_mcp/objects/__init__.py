"""Raw LSP objects: converting their positions (`walker`), and checking params from callers (`params`)."""
