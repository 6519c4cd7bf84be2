(Decl (FnProto function: (IDENTIFIER) @name)) @definition.function
(source_file (Decl (VarDecl variable_type_function: (IDENTIFIER) @name)) @definition.variable)
(ContainerField field_member: (IDENTIFIER) @name) @definition.field
