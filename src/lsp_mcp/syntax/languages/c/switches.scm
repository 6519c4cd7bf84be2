(switch_statement) @switch
(case_statement "default") @default
(enumerator_list) @members
(enumerator name: (identifier) @member)
