; Calls of the class that the code is in, by the class that a method gets or by that of `self`, and what they may name:
; the parameters of its constructor; without one, the fields that are declared with types (`field`, certainly so if a
; decorator makes the constructor: `made`).
(class_definition name: (identifier) @name) @class
((function_definition name: (identifier) @_new parameters: (parameters . (identifier) @receiver)) @of_class (#eq? @_new "__new__"))
((decorated_definition
  (decorator (identifier) @_classmethod)
  definition: (function_definition parameters: (parameters . (identifier) @receiver)) @of_class)
 (#eq? @_classmethod "classmethod"))
(class_definition body: (block (function_definition parameters: (parameters . (identifier) @receiver)) @of_object))
(class_definition
  body: (block (decorated_definition definition: (function_definition parameters: (parameters . (identifier) @receiver)) @of_object)))

(call function: (identifier) @by_class arguments: (argument_list (keyword_argument name: (identifier) @argument)))
((call
  function: (call function: (identifier) @_type arguments: (argument_list . (identifier) @by_object .))
  arguments: (argument_list (keyword_argument name: (identifier) @argument)))
 (#eq? @_type "type"))
((call
  function: (attribute object: (identifier) @by_object attribute: (identifier) @_class)
  arguments: (argument_list (keyword_argument name: (identifier) @argument)))
 (#eq? @_class "__class__"))

((function_definition name: (identifier) @_init parameters: (parameters)) @constructor (#any-of? @_init "__init__" "__new__"))
((function_definition
  name: (identifier) @_init
  parameters: (parameters [
    (identifier) @parameter
    (typed_parameter . (identifier) @parameter)
    (default_parameter name: (identifier) @parameter)
    (typed_default_parameter name: (identifier) @parameter)
  ]))
 (#any-of? @_init "__init__" "__new__"))
(class_definition body: (block (expression_statement (assignment left: (identifier) @field type: (_)))))
((decorated_definition
  (decorator) @_decorator
  definition: (class_definition body: (block (expression_statement (assignment left: (identifier) @made type: (_))))))
 (#match? @_decorator "dataclass|define|mutable|frozen|attr"))
