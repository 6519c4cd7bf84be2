; inherits: c
(qualified_identifier name: (_) @inner) @outer
