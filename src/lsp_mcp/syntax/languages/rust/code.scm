[(line_comment) (block_comment)] @comment
[(string_literal) (raw_string_literal) (char_literal)] @string
; Macros that format read names out of their strings: `println!("{name}")`.
(macro_invocation (token_tree [(string_literal (string_content) @format) (raw_string_literal (string_content) @format)]))
