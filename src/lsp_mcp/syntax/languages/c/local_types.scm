; Bodies of functions, and types with members.
(compound_statement) @body
(function_definition declarator: (function_declarator declarator: (_) @name) body: (_) @body)
(function_definition declarator: (_ (function_declarator declarator: (_) @name)) body: (_) @body)
(struct_specifier name: (_) @name body: (_) @members)
(union_specifier name: (_) @name body: (_) @members)

; The names that types and their members have.
(struct_specifier name: (_) @class body: (_))
(union_specifier name: (_) @class body: (_))
(field_declaration declarator: (field_identifier) @field)
(pointer_declarator declarator: (field_identifier) @field)
(array_declarator declarator: (field_identifier) @field)
(parenthesized_declarator (field_identifier) @field)
(function_declarator declarator: (field_identifier) @method)

; What may be such a name, behind the head of a type or function that could not be parsed.
(ERROR ["struct" "union"]) @members
(ERROR (function_declarator) "{") @body
(ERROR ["struct" "union"] [(identifier) (type_identifier) (field_identifier)] @open)
(ERROR ["struct" "union"] (_ declarator: (identifier) @open))
(ERROR ["struct" "union"] (_ declarator: (_ declarator: (identifier) @open)))
