; Names that are declared elsewhere: servers list them in outlines.
(import_clause) @import
; Names of other files that this one passes on.
(export_statement (export_clause) @passed source: (_))
