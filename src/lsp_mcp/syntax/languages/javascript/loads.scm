; What `module.exports` is, as a whole: the name that is given to it.
((assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: [
    (identifier) @whole
    (function_expression name: (identifier) @whole)
    (class name: (identifier) @whole)
    (assignment_expression
      left: (identifier)
      right: [
        (identifier) @whole
        (function_expression name: (identifier) @whole)
        (class name: (identifier) @whole)
      ])
  ])
 (#eq? @_module "module") (#eq? @_exports "exports"))

; What a module loads: under a name, to pass it on, in parts, or used at once.
((variable_declarator
  name: (identifier) @alias
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @path)))
 (#eq? @_require "require"))
((assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (call_expression function: (identifier) @_require arguments: (arguments . (string) @path))) @passed
 (#eq? @_module "module") (#eq? @_exports "exports") (#eq? @_require "require"))
((variable_declarator
  name: (object_pattern) @part
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @path)))
 (#eq? @_require "require"))
((member_expression
  object: (call_expression function: (identifier) @_require arguments: (arguments . (string) @path))) @part
 (#eq? @_require "require"))
((expression_statement
  (call_expression function: (identifier) @_require arguments: (arguments . (string) @path))) @part
 (#eq? @_require "require"))
((call_expression function: (identifier) @_require arguments: (arguments . (string) @path)) @used
 (#eq? @_require "require"))
