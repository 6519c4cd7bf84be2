(program (binary_operator lhs: (identifier) @name rhs: (function_definition)) @definition.function)
