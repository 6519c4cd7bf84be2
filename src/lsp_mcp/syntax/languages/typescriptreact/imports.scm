; inherits: typescript
((variable_declarator name: (identifier) @alias value: (call_expression function: (identifier) @_require))
 (#eq? @_require "require"))
