(import_statement source: (string) @path)
(export_statement source: (string) @path)
(call_expression function: (identifier) @_require arguments: (arguments . (string) @path) (#eq? @_require "require"))
(export_statement "*" source: (string) @whole)
