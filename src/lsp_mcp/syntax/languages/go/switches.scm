(expression_switch_statement) @switch
(default_case) @default
(const_declaration) @members
(const_spec name: (identifier) @member type: (_)? @type value: (_)? @value)
