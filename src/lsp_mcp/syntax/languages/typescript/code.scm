[(comment) (html_comment) (hash_bang_line)] @comment
[(string) (regex) (template_string) (template_literal_type)] @string
[(template_substitution) (template_type)] @code
