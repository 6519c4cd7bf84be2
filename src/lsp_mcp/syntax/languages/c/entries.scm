(function_definition declarator: (function_declarator declarator: (identifier) @entry) (#eq? @entry "main"))
