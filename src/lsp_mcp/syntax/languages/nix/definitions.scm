; Of `a.b.c = 1` the name is `c`. What the body of a function binds is local.
(binding attrpath: (attrpath (identifier) @name .) expression: (function_expression)) @definition.function
(binding attrpath: (attrpath (identifier) @name .) expression: (_)) @definition.variable
