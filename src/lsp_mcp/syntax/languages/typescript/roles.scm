; What a name is inside of, without changing what it stands for.
(member_expression property: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(spread_element (_) @inner) @outer
(await_expression (_) @inner) @outer
(non_null_expression (_) @inner) @outer
(as_expression . (_) @inner) @outer
(satisfies_expression . (_) @inner) @outer
(generic_type name: (_) @inner) @outer
(nested_type_identifier name: (_) @inner) @outer

(class_declaration name: (_) @declaration)
(abstract_class_declaration name: (_) @declaration)
(interface_declaration name: (_) @declaration)
(type_alias_declaration name: (_) @declaration)
(enum_declaration name: (_) @declaration)
(switch_case value: (_) @case)
(arguments (_) @argument)
(return_statement (_) @return)
(pair key: (_) @literal)
(new_expression constructor: (_) @literal)
(object (shorthand_property_identifier) @literal)
(type_identifier) @type
(extends_clause value: (_) @embed)
(extends_type_clause type: (_) @embed)
(implements_clause (_) @embed)
; A property that is read there, into a variable of that name: servers list it as written.
(shorthand_property_identifier_pattern) @taken
; A variable that is read there, for the value of a property of its name: servers list it as written.
(object (shorthand_property_identifier) @given)
; The name of a property, and of no variable.
[(property_identifier) (private_property_identifier)] @member
