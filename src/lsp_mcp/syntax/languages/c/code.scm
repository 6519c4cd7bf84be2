(comment) @comment
; Quotes divide the digits of numbers.
[(string_literal) (char_literal) (system_lib_string) (number_literal)] @string
; In these strings compilers and assemblers look for names.
((call_expression
   function: (identifier) @_attribute
   arguments: (argument_list (string_literal (string_content) @code)))
 (#match? @_attribute "^(__)?(alias|copy|ifunc|weakref)(__)?$"))
((attribute
   name: (identifier) @_attribute
   (argument_list (string_literal (string_content) @code)))
 (#match? @_attribute "^(__)?(alias|copy|ifunc|weakref)(__)?$"))
(gnu_asm_expression assembly_code: (string_literal (string_content) @code))
(gnu_asm_expression assembly_code: (concatenated_string (string_literal (string_content) @code)))
