(function_def (function_command (argument_list . (argument (unquoted_argument) @name)))) @definition.function
(macro_def (macro_command (argument_list . (argument (unquoted_argument) @name)))) @definition.macro
