(function_or_value_defn (function_declaration_left . (identifier) @name)) @definition.function
