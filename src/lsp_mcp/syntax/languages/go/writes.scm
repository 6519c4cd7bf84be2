; What a use is inside of without changing what it stands for, and parts of its value.
(selector_expression field: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(selector_expression operand: (_) @whole) @part
(index_expression operand: (_) @whole) @part
(slice_expression operand: (_) @whole) @part

; What may write into it.
(call_expression function: (selector_expression operand: (_) @receiver field: (_) @method))
(assignment_statement left: (expression_list (_) @assigned))
(inc_statement (_) @assigned)
(dec_statement (_) @assigned)
(send_statement channel: (_) @assigned)
(range_clause left: (expression_list (_) @assigned) "=")
(receive_statement left: (expression_list (_) @assigned) "=")
((call_expression function: (identifier) @function arguments: (argument_list . (_) @changed))
 (#any-of? @function "clear" "close" "copy" "delete"))
(unary_expression operator: "&" operand: (_) @address)
