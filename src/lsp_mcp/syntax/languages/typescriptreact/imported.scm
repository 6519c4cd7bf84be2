; inherits: typescript
; Names that a file gives to a whole module.
(namespace_import (identifier) @module)
