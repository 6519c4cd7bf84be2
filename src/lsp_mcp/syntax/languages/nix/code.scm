(comment) @comment
[(string_expression) (indented_string_expression) (uri_expression) (path_expression) (hpath_expression) (spath_expression)] @string
(interpolation) @code
