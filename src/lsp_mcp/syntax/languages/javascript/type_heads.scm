; The head of a class ends at its body; what is `above` names the class above it, but for what is `apart`.
(class_declaration name: (_) @name (class_heritage)? @above body: (_) @body) @whole
(variable_declarator name: (identifier) @name value: (class (class_heritage)? @above body: (_) @body)) @whole
(class_heritage (member_expression object: (_) @apart))
