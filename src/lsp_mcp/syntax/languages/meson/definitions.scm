(operatorunit . (identifier) @name "=") @definition.variable
