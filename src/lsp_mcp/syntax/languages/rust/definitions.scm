; Functions of an `impl`: the type is their owner.
(impl_item
  type: [
    (type_identifier) @owner
    (scoped_type_identifier name: (type_identifier) @owner)
    (generic_type type: (type_identifier) @owner)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @owner))
    (reference_type type: (type_identifier) @owner)
  ]
  body: (declaration_list (function_item name: (identifier) @name) @definition.method))
