; inherits: typescript
(export_statement "*" source: (string) @whole)
