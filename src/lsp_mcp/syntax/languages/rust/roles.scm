; What a name is inside of, without changing what it stands for.
(field_expression field: (_) @inner) @outer
(scoped_identifier name: (_) @inner) @outer
(scoped_type_identifier name: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(reference_expression value: (_) @inner) @outer
(unary_expression (_) @inner) @outer
(try_expression (_) @inner) @outer
(generic_type type: (_) @inner) @outer
(reference_type type: (_) @inner) @outer
(tuple_struct_pattern type: (_) @inner) @outer
(struct_pattern type: (_) @inner) @outer
(or_pattern (_) @inner) @outer
(match_pattern . (_) @inner) @outer

(struct_item name: (_) @declaration)
(enum_item name: (_) @declaration)
(union_item name: (_) @declaration)
(trait_item name: (_) @declaration)
(type_item name: (_) @declaration)
(match_arm pattern: (_) @case)
(arguments (_) @argument)
(return_expression (_) @return)
(struct_expression name: (_) @literal)
(field_initializer field: (_) @literal)
(shorthand_field_initializer (_) @literal)
(type_identifier) @type
(trait_item bounds: (trait_bounds (_) @embed))
