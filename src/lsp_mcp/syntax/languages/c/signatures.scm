; Functions: their names and parameters. A body is around the declarator.
((function_declarator declarator: [(identifier) (field_identifier)] @declared parameters: (_) @parameters) @function
 (#set! parameter "{type} {name}") (#set! empty "void"))
(function_definition body: (_) @body) @definition

; Results, before the declarator.
(function_definition type: (_) @result.type) @result.owner
(function_definition (type_qualifier) @result.type)
(declaration type: (_) @result.type) @result.owner
(declaration (type_qualifier) @result.type)
(field_declaration type: (_) @result.type) @result.owner
(field_declaration (type_qualifier) @result.type)
(pointer_declarator (type_qualifier) @result.type)

(parameter_list (_) @parameter)
((parameter_list (_) @parameter.rest) (#eq? @parameter.rest "..."))
((parameter_list . (parameter_declaration !declarator type: (primitive_type) @_type) @parameter.none .)
 (#eq? @_type "void"))
(parameter_declaration declarator: (identifier) @parameter.name)
(parameter_declaration declarator: (_ declarator: (identifier) @parameter.name))
(parameter_declaration declarator: (_ declarator: (_ declarator: (identifier) @parameter.name)))
(parameter_declaration declarator: (_ declarator: (_ declarator: (_ declarator: (identifier) @parameter.name))))
(parameter_declaration declarator: (_ declarator: (parenthesized_declarator (_ declarator: (identifier) @parameter.name))))

; Calls.
(call_expression function: (_) @called arguments: (_) @arguments) @call

; What names the function in a longer expression.
(field_expression field: (_) @name) @named
(parenthesized_expression (_) @name) @named

(identifier) @identifier
