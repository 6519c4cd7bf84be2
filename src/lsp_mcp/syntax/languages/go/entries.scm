(source_file
  (package_clause (package_identifier) @_package)
  (function_declaration name: (identifier) @entry)
  (#eq? @_package "main") (#eq? @entry "main"))
