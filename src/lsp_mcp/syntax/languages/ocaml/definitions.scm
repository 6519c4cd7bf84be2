(value_definition (let_binding pattern: (value_name) @name)) @definition.function
(module_definition (module_binding (module_name) @name)) @definition.module
