; Parameters whose arguments a call may name, and where it does.
(parameters [
  (identifier) @parameter
  (typed_parameter . (identifier) @parameter)
  (default_parameter name: (identifier) @parameter)
  (typed_default_parameter name: (identifier) @parameter)
])
(lambda_parameters [
  (identifier) @parameter
  (default_parameter name: (identifier) @parameter)
])
(keyword_argument name: (identifier) @argument)
