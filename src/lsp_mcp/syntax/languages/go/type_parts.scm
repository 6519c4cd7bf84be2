; Declared types, and the types that their values have in them: what functions take is not among these.
[(type_spec name: (_) @name) (type_alias name: (_) @name)] @declaration
[(type_spec name: (_) @interface type: (interface_type)) (type_alias name: (_) @interface type: (interface_type))]
(type_identifier) @part
(parameter_list) @apart

; What can be a value of any type.
(interface_type) @any
((type_identifier) @any (#eq? @any "any"))
