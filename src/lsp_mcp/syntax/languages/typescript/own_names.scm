; Names that only the code of what they name can use.
(function_expression name: (_) @name) @scope
(generator_function name: (_) @name) @scope
(class name: (_) @name) @scope
