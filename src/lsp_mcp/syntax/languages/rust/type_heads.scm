; The head of a type begins with its attributes and ends at its body.
([(attribute_item) (line_comment) (block_comment)]+ @whole . (struct_item name: (_) @name body: (_) @body))
([(attribute_item) (line_comment) (block_comment)]+ @whole . (enum_item name: (_) @name body: (_) @body))
([(attribute_item) (line_comment) (block_comment)]+ @whole . (union_item name: (_) @name body: (_) @body))
