; What a CommonJS module exports, and the name in it that this stands for: it is the same name if there is no `value`.
; That may be of another module: `exports.name = other.name`.
((assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @exposed)
  right: [(identifier) @value (member_expression property: (property_identifier) @value)])
 (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    property: (property_identifier) @exposed)
  right: [(identifier) @value (member_expression property: (property_identifier) @value)])
 (#eq? @_module "module") (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (object (shorthand_property_identifier) @exposed))
 (#eq? @_module "module") (#eq? @_exports "exports"))
; `exports.a = function () {}`: the name stands for itself; that of the function, which only the server uses, for it.
((assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @exposed)
  right: [(function_expression) (arrow_function) (class) (call_expression) (object) (array) (string) (number)])
 (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    property: (property_identifier) @exposed)
  right: [(function_expression) (arrow_function) (class) (call_expression) (object) (array) (string) (number)])
 (#eq? @_module "module") (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @value)
  right: [(function_expression name: (identifier) @exposed) (class name: (identifier) @exposed)])
 (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    property: (property_identifier) @value)
  right: [(function_expression name: (identifier) @exposed) (class name: (identifier) @exposed)])
 (#eq? @_module "module") (#eq? @_exports "exports"))
