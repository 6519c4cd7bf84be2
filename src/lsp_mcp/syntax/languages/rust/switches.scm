(match_expression) @switch
(match_arm pattern: (match_pattern "_")) @default
(enum_variant_list) @members
(enum_variant name: (identifier) @member)
