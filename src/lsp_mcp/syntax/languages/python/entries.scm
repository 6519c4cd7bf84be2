(if_statement condition: (comparison_operator (identifier) @entry) (#eq? @entry "__name__"))
