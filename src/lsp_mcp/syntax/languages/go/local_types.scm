; Bodies of functions, and types with members. A search by name knows what is in a type with a name that is outside of
; functions, and in the fields of such a type that have a type without a name.
(function_declaration name: (_) @name body: (_) @body)
(method_declaration name: (_) @name body: (_) @body)
(block) @body
[(struct_type) (interface_type)] @members
(type_spec name: (_) @name type: [(struct_type) (interface_type)] @members)
(type_alias name: (_) @name type: [(struct_type) (interface_type)] @members)
(field_declaration name: (_) @name type: (struct_type) @members)

; The names that types and their members have.
(type_spec name: (_) @type)
(type_alias name: (_) @type)
(type_spec name: (_) @struct type: (struct_type))
(type_alias name: (_) @struct type: (struct_type))
(type_spec name: (_) @interface type: (interface_type))
(type_alias name: (_) @interface type: (interface_type))
(field_declaration name: (_) @field)
(method_elem name: (_) @method)
(field_declaration !name type: [
  (type_identifier) @embedded
  (qualified_type name: (_) @embedded)
  (generic_type type: [(type_identifier) @embedded (qualified_type name: (_) @embedded)])])

; What may be such a name, behind the head of a type or function that could not be parsed.
(ERROR ["type" "struct" "interface"]) @members
(ERROR "func") @body
(ERROR ["type" "struct" "interface"] [(identifier) (type_identifier) (field_identifier)] @open)
