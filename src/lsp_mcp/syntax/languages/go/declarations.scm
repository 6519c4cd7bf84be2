; What a file declares, with the type that a method belongs to. Those of a group in parentheses are parts of it.
(source_file (function_declaration name: (_) @name) @declaration)
(source_file (method_declaration name: (_) @name) @declaration)
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @receiver)))
(source_file (type_declaration [(type_spec name: (_) @name) (type_alias name: (_) @name)] @part) @declaration)
(source_file (const_declaration (const_spec name: (_) @name) @part) @declaration)
(source_file (var_declaration (var_spec name: (_) @name) @part) @declaration)
(source_file (var_declaration (var_spec_list (var_spec name: (_) @name) @part)) @declaration)

; Imports, and where another one can be added.
(import_spec path: (_) @import)
(import_spec_list) @imports
(package_clause) @clause

; What may name something that a file declares, and what qualifies it.
[(identifier) (type_identifier)] @use
(selector_expression operand: (identifier) @qualifier field: (_) @use)
(qualified_type package: (_) @qualifier name: (_) @use)

; Parts of a group with such a value depend on their order.
(iota) @ordered
