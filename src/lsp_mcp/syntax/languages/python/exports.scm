; Names in strings that say what a module exports, and where the module binds names.
((assignment
  left: (identifier) @_name
  right: [(list (string (string_content) @exported)) (tuple (string (string_content) @exported))])
 (#eq? @_name "__all__"))
(module (import_from_statement name: (dotted_name (identifier) @bound .)))
(module (import_from_statement name: (aliased_import alias: (identifier) @bound)))
(module (import_statement name: (dotted_name . (identifier) @bound)))
(module (import_statement name: (aliased_import alias: (identifier) @bound)))
(module [(function_definition name: (identifier) @bound) (class_definition name: (identifier) @bound)])
(module (decorated_definition definition: (_ name: (identifier) @bound)))
(module (expression_statement (assignment left: (identifier) @bound)))
