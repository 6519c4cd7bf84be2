(switch_expression) @switch
(switch_label "default") @default
(enum_body) @members
(enum_constant name: (identifier) @member)
