[(comment) (html_comment) (hash_bang_line)] @comment
[(string) (regex) (template_string) (jsx_text)] @string
(template_substitution) @code
