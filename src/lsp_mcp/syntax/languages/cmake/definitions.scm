(function_def (function_command (argument_list . (argument (unquoted_argument) @name)))) @definition.function
(macro_def (macro_command (argument_list . (argument (unquoted_argument) @name)))) @definition.macro
((normal_command (identifier) @_command (argument_list . (argument (unquoted_argument) @name))) @definition.variable
 (#any-of? @_command "set" "option" "SET" "OPTION"))
((normal_command (identifier) @_command (argument_list . (argument (unquoted_argument) @name))) @definition.module
 (#any-of? @_command "add_library" "add_executable" "add_custom_target" "ADD_LIBRARY" "ADD_EXECUTABLE"))
