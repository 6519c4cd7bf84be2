; What a name is inside of, without changing what it stands for.
(attribute attribute: (_) @inner) @outer
(parenthesized_expression (_) @inner) @outer
(keyword_argument value: (_) @inner) @outer
(list_splat (_) @inner) @outer
(dictionary_splat (_) @inner) @outer
(generic_type . (_) @inner) @outer
(subscript value: (_) @inner) @outer
(dotted_name (identifier) @inner .) @outer
(case_pattern (_) @inner) @outer
(union_pattern (_) @inner) @outer
(class_pattern . (_) @inner) @outer
(as_pattern . (case_pattern) @inner) @outer
(list_pattern (case_pattern) @inner) @outer
(tuple_pattern (case_pattern) @inner) @outer

(class_definition name: (_) @declaration)
(case_clause (case_pattern) @case)
(call arguments: (argument_list (_) @argument))
(return_statement (_) @return)
(return_statement (expression_list (_) @return))
(keyword_argument name: (_) @literal)
(type (_) @type)
(type (binary_operator (_) @type))
(type (binary_operator left: (binary_operator (_) @type)))
(type (binary_operator left: (binary_operator left: (binary_operator (_) @type))))
(type (string (string_content) @type))
(class_definition superclasses: (argument_list (_) @embed))
