; What a use is inside of without changing what it stands for, and parts of its value.
(attribute attribute: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(attribute object: (_) @whole) @part
(subscript value: (_) @whole) @part

; What may write into it.
(call function: (attribute object: (_) @receiver attribute: (_) @method))
(assignment left: (_) @assigned)
(augmented_assignment left: (_) @assigned)
(for_statement left: (_) @assigned)
[(pattern_list (_) @assigned) (tuple_pattern (_) @assigned) (list_pattern (_) @assigned)]
(as_pattern_target (_) @assigned)
(delete_statement (_) @assigned)
(delete_statement (expression_list (_) @assigned))
