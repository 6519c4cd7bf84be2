; inherits: c
(class_specifier name: (_) @name body: (_) @members)
(class_specifier name: (_) @class body: (_))
(reference_declarator (field_identifier) @field)
(field_declaration_list (alias_declaration name: (_) @class))
(field_declaration_list (type_definition declarator: (type_identifier) @type))
(field_declaration_list (template_declaration (alias_declaration name: (_) @class)))
(field_declaration_list (template_declaration (_ declarator: (function_declarator declarator: (identifier) @method))))
(ERROR "class") @members
(ERROR "class" [(identifier) (type_identifier) (field_identifier)] @open)
(ERROR "class" (_ declarator: (identifier) @open))
(ERROR "class" (_ declarator: (_ declarator: (identifier) @open)))
