; inherits: c
[(for_range_loop) (catch_clause)] @block
(lambda_expression) @function
(lambda_expression declarator: (_ parameters: (_) @parameters)) @function
(requires_expression) @apart
(class_specifier name: (type_identifier) @name body: (_) @class)
(class_specifier name: (type_identifier) @name (base_class_clause) @bases body: (_) @class)
(struct_specifier name: (type_identifier) @name (base_class_clause) @bases body: (_) @class)

(reference_declarator (identifier) @variable)
; A call behind a macro may look like a variable with arguments.
(init_declarator declarator: (identifier) @unsure value: (argument_list))
(for_range_loop declarator: (identifier) @variable)
(structured_binding_declarator (identifier) @variable)
(optional_parameter_declaration declarator: (identifier) @variable)

(reference_declarator (field_identifier) @member)
(field_declaration_list
  (template_declaration (_ declarator: (function_declarator declarator: (identifier) @member))))
(field_expression argument: (this) field: (field_identifier) @own)
(field_initializer . (field_identifier) @own)
(qualified_identifier name: (_) @other)
(namespace_identifier) @other
(function_definition declarator: (operator_cast declarator: (_ parameters: (_) @parameters))) @function
(function_declarator declarator: (operator_name) @member)
