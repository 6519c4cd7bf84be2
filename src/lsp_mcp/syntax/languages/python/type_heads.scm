; The head of a class ends at its body; what is `above` names the classes above it, but for what is `apart`.
(class_definition name: (identifier) @name superclasses: (argument_list)? @above body: (_) @body) @whole
(decorated_definition definition: (class_definition name: (identifier) @name body: (_) @body)) @whole
(argument_list (keyword_argument) @apart)
(argument_list (attribute object: (_) @apart))
(argument_list (subscript value: (attribute object: (_) @apart)))
(argument_list (subscript subscript: (_) @apart))
