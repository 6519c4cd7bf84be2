; What a name is inside of, without changing what it stands for.
(field_expression field: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(pointer_expression argument: (_) @inner) @outer
(cast_expression value: (_) @inner) @outer
(type_descriptor type: (_) @inner) @outer
(struct_specifier name: (_) @inner !body) @outer
(union_specifier name: (_) @inner !body) @outer
(enum_specifier name: (_) @inner !body) @outer

(struct_specifier name: (_) @declaration body: (_))
(union_specifier name: (_) @declaration body: (_))
(enum_specifier name: (_) @declaration body: (_))
(type_definition declarator: (type_identifier) @declaration)
(case_statement value: (_) @case)
(argument_list (_) @argument)
(return_statement (_) @return)
(compound_literal_expression type: (_) @literal)
(field_designator (_) @literal)
(type_identifier) @type
