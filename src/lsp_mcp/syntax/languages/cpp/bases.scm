; inherits: c
(type_definition
  type: [(qualified_identifier) (template_type) (dependent_type) (class_specifier name: (_) !body)] @type
  declarator: (type_identifier) @alias)
(alias_declaration
  name: (_) @alias
  type: (type_descriptor
    type: [
      (type_identifier) (qualified_identifier) (template_type) (dependent_type)
      (struct_specifier name: (_) !body) (class_specifier name: (_) !body)] @type
    !declarator))

; Types that are based on others, and what templates of types take.
(class_specifier name: (_) @name (base_class_clause) @clause)
(struct_specifier name: (_) @name (base_class_clause) @clause)
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
(template_declaration parameters: (_) @parameters (class_specifier name: (_) @template))
(template_declaration parameters: (_) @parameters (struct_specifier name: (_) @template))
(template_parameter_list (type_parameter_declaration (type_identifier) @parameter)) @list
(template_parameter_list (variadic_type_parameter_declaration (type_identifier) @parameter)) @list
(template_parameter_list (optional_type_parameter_declaration name: (_) @parameter)) @list
(template_parameter_list
  (template_template_parameter_declaration (type_parameter_declaration (type_identifier) @parameter))) @list
