; Names in strings that say what a module exports, and where the module binds names.
([(assignment
    left: (identifier) @_name
    right: [
      (list (string (string_content) @exported))
      (tuple (string (string_content) @exported))
      (expression_list (string (string_content) @exported))
    ])
  (augmented_assignment
    left: (identifier) @_name
    right: [(list (string (string_content) @exported)) (tuple (string (string_content) @exported))])
  (assignment left: (identifier) @_name right: (binary_operator [(list (string (string_content) @exported)) (tuple (string (string_content) @exported))]))
  (assignment left: (identifier) @_name right: (binary_operator (binary_operator [(list (string (string_content) @exported)) (tuple (string (string_content) @exported))])))
  (augmented_assignment left: (identifier) @_name right: (binary_operator [(list (string (string_content) @exported)) (tuple (string (string_content) @exported))]))]
 (#eq? @_name "__all__"))
((call
  function: (attribute object: (identifier) @_name attribute: (identifier) @_change)
  arguments: (argument_list [(string (string_content) @exported) (list (string (string_content) @exported)) (tuple (string (string_content) @exported))]))
 (#eq? @_name "__all__")
 (#any-of? @_change "append" "extend" "remove"))
(module (import_from_statement name: (dotted_name (identifier) @bound .)))
(module (import_from_statement name: (aliased_import alias: (identifier) @bound)))
(module (import_statement name: (dotted_name . (identifier) @bound)))
(module (import_statement name: (aliased_import alias: (identifier) @bound)))
(module [(function_definition name: (identifier) @bound) (class_definition name: (identifier) @bound)])
(module (decorated_definition definition: (_ name: (identifier) @bound)))
(module (expression_statement (assignment left: (identifier) @bound)))
; Names in strings that say which attributes the objects of a class have, and where its code has them.
(class_definition) @class
((class_definition
  body: (block (expression_statement (assignment
    left: (identifier) @_name
    right: [
      (list (string (string_content) @slot))
      (tuple (string (string_content) @slot))
      (expression_list (string (string_content) @slot))
      (string (string_content) @slot)
    ]))))
 (#any-of? @_name "__slots__" "__match_args__"))
((attribute object: (identifier) @_self attribute: (identifier) @attribute) (#eq? @_self "self"))
(class_definition body: (block (expression_statement (assignment left: (identifier) @attribute type: (_)))))
