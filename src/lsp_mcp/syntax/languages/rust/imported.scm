; Names that are declared elsewhere: a search by name finds those that are passed on.
(use_declaration) @import
