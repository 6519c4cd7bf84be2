(function_statement (function_name) @name) @definition.function
