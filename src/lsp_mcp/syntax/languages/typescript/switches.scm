(switch_statement) @switch
(switch_default) @default
(enum_body) @members
(enum_body name: (_) @member)
(enum_assignment name: (_) @member)
