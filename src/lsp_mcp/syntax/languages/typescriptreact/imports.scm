; inherits: typescript
(import_require_clause (identifier) @alias)
(import_alias . (identifier) @alias)
