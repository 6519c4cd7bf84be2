; Variables and what they get: `new` ones are declared there.
(short_var_declaration left: (_) @new right: (_) @values)
(var_spec name: (_) @new)
(var_spec name: (_) @new value: (_) @values)
(range_clause left: (_) @new ":=" right: (_) @values)
(receive_statement left: (_) @new ":=" right: (_) @values)
(type_switch_statement alias: (_) @new value: (_) @values)
(assignment_statement left: (_) @old right: (_) @values)
(range_clause left: (_) @old "=" right: (_) @values)
(receive_statement left: (_) @old "=" right: (_) @values)
(expression_list) @list
(return_statement (expression_list (_) @return))

; What gets a variable, or its address.
(call_expression function: (_) @called arguments: (argument_list (identifier) @passed))
(call_expression
  function: (_) @called
  arguments: (argument_list (unary_expression operator: "&" operand: (identifier) @address)))
(unary_expression operator: "&" operand: (identifier) @address)
; A call with type arguments looks like a conversion.
(type_conversion_expression type: (generic_type type: (_) @called) operand: (identifier) @passed)

; Collections, to which a call may add without their address.
(var_spec name: (_) @collection type: [(map_type) (slice_type) (array_type)])
(composite_literal type: [(map_type) (slice_type) (array_type)]) @collection
(type_conversion_expression type: [(map_type) (slice_type)]) @collection
((call_expression function: (identifier) @_make) @collection (#eq? @_make "make"))

; The names that a value comes from: of `a.b` that is `b`.
(field_identifier) @name
([(identifier) (type_identifier)] @name (#not-eq? @name "any"))
(selector_expression operand: (identifier) @qualifier)
(qualified_type package: (_) @qualifier)
