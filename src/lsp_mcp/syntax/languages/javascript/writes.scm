; What a use is inside of without changing what it stands for, and parts of its value.
(member_expression property: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(member_expression object: (_) @whole) @part
(subscript_expression object: (_) @whole) @part

; What may write into it.
(call_expression function: (member_expression object: (_) @receiver property: (_) @method))
(assignment_expression left: (_) @assigned)
(augmented_assignment_expression left: (_) @assigned)
(update_expression argument: (_) @assigned)
(for_in_statement left: (_) @assigned)
(array_pattern (_) @assigned)
(pair_pattern value: (_) @assigned)
(unary_expression operator: "delete" argument: (_) @assigned)
