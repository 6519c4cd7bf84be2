(data_type name: (name) @name) @definition.type
(data_constructor constructor: (prefix name: (constructor) @name)) @definition.constructor
