(method_declaration (modifiers) @_how name: (identifier) @entry (#match? @_how "static") (#eq? @entry "main"))
