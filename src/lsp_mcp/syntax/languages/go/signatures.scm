; Functions: their names, parameters, results and bodies.
((function_declaration name: (_) @declared parameters: (_) @parameters) @function
 (#set! parameter "{name} {type}") (#set! unnamed "_"))
(method_declaration name: (_) @declared parameters: (_) @parameters) @function
(method_elem name: (_) @declared parameters: (_) @parameters) @function
(func_literal parameters: (_) @parameters) @function
(function_declaration result: (_) @result)
(method_declaration result: (_) @result)
(method_elem result: (_) @result)
(function_declaration body: (_) @body)
(method_declaration body: (_) @body)
(func_literal body: (_) @body)

(parameter_list [(parameter_declaration) (variadic_parameter_declaration)] @parameter)
(parameter_declaration name: (_) @parameter.name)
(parameter_declaration type: (_) @parameter.type)
(variadic_parameter_declaration name: (_) @parameter.name)
(variadic_parameter_declaration type: (_) @parameter.type) @parameter.rest

; Calls.
(call_expression function: (_) @called arguments: (_) @arguments)
(variadic_argument) @spread
(call_expression) @call

; What names the function in a longer expression.
(selector_expression field: (_) @name) @named
(index_expression operand: (_) @name) @named
(type_instantiation_expression type: (_) @name) @named
(parenthesized_expression (_) @name) @named

(identifier) @identifier
