; What a name is inside of, without changing what it stands for.
(selector_expression field: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(unary_expression operator: ["&" "*"] operand: (_) @inner) @outer
(qualified_type name: (_) @inner) @outer
(pointer_type (_) @inner) @outer
(generic_type type: (_) @inner) @outer
(literal_element (_) @inner) @outer

(type_spec name: (_) @declaration)
(type_alias name: (_) @declaration)
(expression_case value: (expression_list (_) @case))
(type_case type: (_) @case)
(argument_list (_) @argument)
(return_statement (expression_list (_) @return))
(composite_literal type: (_) @literal)
(keyed_element . (literal_element (identifier) @literal))
(type_identifier) @type
(field_declaration !name type: (_) @embed)
(interface_type (type_elem (_) @embed))
