(comment) @comment
[(string) (type_conversion) (format_specifier)] @string
[(interpolation) (format_expression)] @code
; An annotation may be quoted.
(type (string (string_content) @code))
([(assignment
    left: (identifier) @_name
    right: [
      (list (string (string_content) @code))
      (tuple (string (string_content) @code))
      (expression_list (string (string_content) @code))
    ])
  (augmented_assignment
    left: (identifier) @_name
    right: [(list (string (string_content) @code)) (tuple (string (string_content) @code))])
  (assignment left: (identifier) @_name right: (binary_operator [(list (string (string_content) @code)) (tuple (string (string_content) @code))]))
  (assignment left: (identifier) @_name right: (binary_operator (binary_operator [(list (string (string_content) @code)) (tuple (string (string_content) @code))])))
  (augmented_assignment left: (identifier) @_name right: (binary_operator [(list (string (string_content) @code)) (tuple (string (string_content) @code))]))]
 (#any-of? @_name "__all__" "__slots__" "__match_args__"))
((assignment left: (identifier) @_name right: (string (string_content) @code)) (#eq? @_name "__slots__"))
((call
  function: (attribute object: (identifier) @_name attribute: (identifier) @_change)
  arguments: (argument_list [(string (string_content) @code) (list (string (string_content) @code)) (tuple (string (string_content) @code))]))
 (#eq? @_name "__all__")
 (#any-of? @_change "append" "extend" "remove"))
