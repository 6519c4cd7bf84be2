[(line_comment) (block_comment)] @comment
[(string_literal) (character_literal)] @string
(string_interpolation) @code
