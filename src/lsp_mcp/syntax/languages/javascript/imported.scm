; Names that are declared elsewhere: servers list them in outlines.
(import_clause) @import
