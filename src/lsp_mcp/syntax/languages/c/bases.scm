; Other names for types. A text without these `words`, in code, says nothing about bases.
(type_definition
  type: [(type_identifier) (struct_specifier name: (_) !body)] @type
  declarator: (type_identifier) @alias
  (#set! words "\\b(?:class|struct)\\b[^;{}]*(?<!:):(?!:)|\\busing\\b[^;{}]*=|\\btypedef\\b"))

; The head of a type with bases, for parts of a text that could not be parsed.
([(ERROR) (MISSING)] @error
 (#set! head "(?:\\btemplate\\s*<(?P<parameters>(?:[^<>;{}]|<[^<>;{}]*>)*)>\\s*)?\\b(?:class|struct)\\b(?P<macro>(?:(?!\\b(?:class|struct)\\b)[^;{}=])*?)(?<!\\w)(?P<name>[^\\W\\d]\\w*)\\s*(?:<[^;{}]*?>\\s*)?(?:\\([^()]*\\)\\s*)?(?:\\bfinal\\s*)?(?<!:):(?!:)(?P<bases>[^;{}]*)\\{"))
