(import_declaration (scoped_identifier) @path)
