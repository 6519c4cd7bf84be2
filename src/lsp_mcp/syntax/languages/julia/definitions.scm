(function_definition (signature (call_expression (identifier) @name))) @definition.function
(macro_definition (signature (call_expression (identifier) @name))) @definition.macro
(struct_definition (type_head (identifier) @name)) @definition.struct
