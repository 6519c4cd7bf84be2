(module (expression_statement (assignment left: (identifier) @name) @definition.variable))
