(import_from_statement name: (aliased_import name: (dotted_name) @name alias: (identifier) @alias))
(import_statement name: (aliased_import name: (dotted_name) @name alias: (identifier) @alias))
