; Names that are declared elsewhere: servers list them in outlines.
(import_clause) @import
; Names of other files that this one passes on.
(export_statement (export_clause) @passed source: (_))
; What a module is loaded into while the program runs.
((variable_declarator name: (_) @loaded value: (call_expression function: (identifier) @_require)) (#eq? @_require "require"))
(variable_declarator name: (_) @loaded value: (await_expression (call_expression function: (import))))
; Names that a file gives to a whole module.
(namespace_import (identifier) @module)
