; Where names are known: blocks, for what follows them there; functions, with their own parameters; and classes.
[(compound_statement) (if_statement) (for_statement) (while_statement) (switch_statement)] @block
(parameter_list) @apart
(function_definition declarator: (function_declarator parameters: (_) @parameters)) @function
(function_definition declarator: (_ (function_declarator parameters: (_) @parameters))) @function
((expression_statement (call_expression)) . (compound_statement) @function) ; behind a macro
(field_declaration_list) @class
(struct_specifier name: (type_identifier) @name body: (_) @class)
(union_specifier name: (type_identifier) @name body: (_) @class)

; The names of variables and parameters.
(declaration declarator: (identifier) @variable)
(init_declarator declarator: (identifier) @variable)
(pointer_declarator declarator: (identifier) @variable)
(array_declarator declarator: (identifier) @variable)
(parenthesized_declarator (identifier) @unsure)
(parameter_declaration declarator: (identifier) @variable)
; What is declared elsewhere; and what may be something else: see `scopes.py`.
((declaration (storage_class_specifier) @_class) @unsure (#eq? @_class "extern"))
((declaration type: (type_identifier) @_type) @unsure
 (#any-of? @_type "return" "else" "delete" "goto" "case" "throw" "new" "using" "friend" "namespace" "operator" "not"
  "co_return" "co_yield" "co_await" "public" "private" "protected"))
(declaration type: (_) @type . declarator: (_) @first) @declaration
[(declaration) (parameter_list)] @declaration

; The names of members, and their uses in the class itself.
(field_declaration declarator: (field_identifier) @member)
(pointer_declarator declarator: (field_identifier) @member)
(array_declarator declarator: (field_identifier) @member)
(function_declarator declarator: (field_identifier) @member)

; Other words.
[(type_identifier) (field_identifier) (statement_identifier)] @other
(preproc_arg) @apart

[(ERROR) (MISSING)] @error
