; Attributes of what follows them, and of what they are in; a comment may stand between.
(attribute_item) @before
(inner_attribute_item) @inside
[(line_comment) (block_comment)] @comment
