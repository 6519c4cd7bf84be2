(source_file (function_item name: (identifier) @entry) (#eq? @entry "main"))
