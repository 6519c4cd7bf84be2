; What a name is inside of, without changing what it stands for.
(field_access field: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(cast_expression value: (_) @inner) @outer
(generic_type . (_) @inner) @outer
(scoped_type_identifier (_) @inner .) @outer

(class_declaration name: (_) @declaration)
(interface_declaration name: (_) @declaration)
(enum_declaration name: (_) @declaration)
(record_declaration name: (_) @declaration)
(switch_label (_) @case)
(argument_list (_) @argument)
(return_statement (_) @return)
(object_creation_expression type: (_) @literal)
(type_identifier) @type
(superclass (_) @embed)
(super_interfaces (type_list (_) @embed))
(extends_interfaces (type_list (_) @embed))
