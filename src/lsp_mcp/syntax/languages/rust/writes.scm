; What a use is inside of without changing what it stands for, and parts of its value.
(field_expression field: (_) @inner) @outer
(scoped_identifier name: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(unary_expression (_) @inner) @outer
(field_expression value: (_) @whole) @part
(index_expression . (_) @whole) @part

; What may write into it; in what a macro gets, all that looks like a call of a method.
(call_expression function: (field_expression value: (_) @receiver field: (_) @method))
(token_tree [(identifier) (self)] @receiver . (identifier) @method . (token_tree))
(assignment_expression left: (_) @assigned)
(compound_assignment_expr left: (_) @assigned)
(reference_expression (mutable_specifier) value: (_) @address)
