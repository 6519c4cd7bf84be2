(use_as_clause path: (_) @name alias: (identifier) @alias)
