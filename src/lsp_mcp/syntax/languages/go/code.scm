; The compiler goes by some comments. (A predicate on each comment would take three times as long.)
((comment) @comment (#set! code "//(?:go:linkname|export)[ \t]"))
[(interpreted_string_literal) (raw_string_literal) (rune_literal)] @string
