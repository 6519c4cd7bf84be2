(use_declaration argument: (scoped_identifier) @path)
(use_declaration argument: (scoped_use_list path: (_) @path))
(use_declaration argument: (use_wildcard (_) @path))
(use_declaration argument: (use_as_clause path: (_) @path))
