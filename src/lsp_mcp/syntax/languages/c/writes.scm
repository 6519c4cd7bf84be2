; What a use is inside of without changing what it stands for, and parts of its value: what it points to is none.
(field_expression field: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(field_expression argument: (_) @whole operator: ".") @part
(subscript_expression argument: (_) @whole) @part

; What may write into it.
(call_expression function: (field_expression argument: (_) @receiver field: (_) @method))
(assignment_expression left: (_) @assigned)
(update_expression argument: (_) @assigned)
(pointer_expression operator: "&" argument: (_) @address)
