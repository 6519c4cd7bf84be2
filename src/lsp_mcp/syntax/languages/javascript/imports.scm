(import_specifier name: (_) @name alias: (_) @alias)
(export_specifier name: (_) @name alias: (_) @alias)
(import_clause (identifier) @alias)
