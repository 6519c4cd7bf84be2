; What a name is inside of, without changing what it stands for.
(member_expression property: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(spread_element (_) @inner) @outer
(await_expression (_) @inner) @outer

(class_declaration name: (_) @declaration)
(switch_case value: (_) @case)
(arguments (_) @argument)
(return_statement (_) @return)
(pair key: (_) @literal)
(new_expression constructor: (_) @literal)
(object (shorthand_property_identifier) @literal)
(class_heritage (_) @embed)
; A property that is read there, into a variable of that name: servers list it as written.
(shorthand_property_identifier_pattern) @taken
; A variable that is read there, for the value of a property of its name: servers list it as written.
(object (shorthand_property_identifier) @given)
; The name of a property, and of no variable.
[(property_identifier) (private_property_identifier)] @member
