; Words of a macro's call that declares items: one word may name several of them.
(source_file (macro_invocation (token_tree) @made))
(source_file (expression_statement (macro_invocation (token_tree) @made)))
(declaration_list (macro_invocation (token_tree) @made))
