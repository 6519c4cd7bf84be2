; inherits: c
(qualified_identifier name: (_) @inner) @outer
(template_type name: (_) @inner) @outer
(template_function name: (_) @inner) @outer
(class_specifier name: (_) @declaration body: (_))
(alias_declaration name: (_) @declaration)
(new_expression type: (_) @literal)
(base_class_clause (_) @embed)
