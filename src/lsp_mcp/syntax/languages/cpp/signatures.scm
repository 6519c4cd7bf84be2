; inherits: c
((function_declarator declarator: [(qualified_identifier) (template_function)] @declared parameters: (_) @parameters)
 @function (#set! empty ""))
(function_declarator (trailing_return_type (_) @result))
(lambda_expression declarator: (_ parameters: (_) @parameters)) @function
(lambda_expression body: (_) @body)
(parameter_list "..." @parameter @parameter.rest)
(parameter_declaration declarator: (reference_declarator (identifier) @parameter.name))
(parameter_declaration declarator: (pointer_declarator declarator: (reference_declarator (identifier) @parameter.name)))
(parameter_declaration declarator: (reference_declarator (parenthesized_declarator (identifier) @parameter.name)))
(optional_parameter_declaration declarator: (identifier) @parameter.name)
(optional_parameter_declaration declarator: (reference_declarator (identifier) @parameter.name))
(optional_parameter_declaration declarator: (_ declarator: (identifier) @parameter.name))
(optional_parameter_declaration declarator: (_ declarator: (_ declarator: (identifier) @parameter.name)))
(optional_parameter_declaration
  declarator: (_ declarator: (parenthesized_declarator (_ declarator: (identifier) @parameter.name))))
(optional_parameter_declaration default_value: (_) @parameter.default)
(variadic_parameter_declaration) @parameter.rest
(variadic_parameter_declaration declarator: (variadic_declarator (identifier) @parameter.name))
(variadic_parameter_declaration declarator: (_ (variadic_declarator (identifier) @parameter.name)))

; Constructors.
(init_declarator declarator: (_) @called value: [(argument_list) (initializer_list)] @arguments)
; `Size size(width, height);` looks like a function with parameters of these types.
(declaration declarator: (function_declarator declarator: (identifier) @called parameters: (_) @arguments))
(new_expression type: (_) @called arguments: (_) @arguments)
(compound_literal_expression type: (_) @called value: (_) @arguments)
(field_initializer . (_) @called [(argument_list) (initializer_list)] @arguments)

(qualified_identifier name: (_) @name) @named
(template_type name: (_) @name) @named
(template_function name: (_) @name) @named
(template_method name: (_) @name) @named
(dependent_name (_) @name) @named

(using_declaration (_) @mention)
