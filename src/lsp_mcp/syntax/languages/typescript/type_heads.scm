; The head of a type ends at its body; what is `above` names the types above it, but for what is `apart`.
(class_declaration name: (_) @name (class_heritage)? @above body: (_) @body) @whole
(abstract_class_declaration name: (_) @name (class_heritage)? @above body: (_) @body) @whole
(variable_declarator name: (identifier) @name value: (class (class_heritage)? @above body: (_) @body)) @whole
(interface_declaration name: (_) @name (extends_type_clause)? @above body: (_) @body) @whole
(extends_clause value: (member_expression object: (_) @apart))
(extends_clause type_arguments: (_) @apart)
(nested_type_identifier module: (_) @apart)
(generic_type type_arguments: (_) @apart)
