(comment) @comment
; Quotes divide the digits of numbers.
[(string_literal) (char_literal) (system_lib_string) (number_literal)] @string
