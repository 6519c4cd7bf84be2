(import_spec path: (_) @path)
