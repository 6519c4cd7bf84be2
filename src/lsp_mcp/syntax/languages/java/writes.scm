; What a use is inside of without changing what it stands for, and parts of its value.
(field_access field: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(field_access object: (_) @whole) @part
(array_access array: (_) @whole) @part

; What may write into it.
(method_invocation object: (_) @receiver name: (_) @method)
(assignment_expression left: (_) @assigned)
(update_expression (_) @assigned)
