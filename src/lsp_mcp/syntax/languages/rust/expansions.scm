; Macros, what in them is no code, their calls, and the names of what is declared: of all but local variables, which macros see apart.
(macro_definition name: (identifier) @name) @definition
(macro_invocation macro: (identifier) @name) @call
(macro_invocation macro: (scoped_identifier name: (identifier) @name)) @call
(_ name: [(identifier) (type_identifier) (field_identifier)] @declared)
(macro_rule left: (token_tree_pattern) @pattern)
(metavariable) @pattern
