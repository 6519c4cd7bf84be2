; Members defined outside of their class: what is before `::` is their owner.
(function_declarator
  declarator: (qualified_identifier
    scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
    name: (identifier) @name)) @definition.method

(function_declarator
  declarator: (qualified_identifier
    name: (qualified_identifier
      scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
      name: (identifier) @name))) @definition.method
