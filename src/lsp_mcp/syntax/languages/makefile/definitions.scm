(variable_assignment name: (word) @name) @definition.variable
(define_directive name: (word) @name) @definition.macro
(rule (targets (word) @name)) @definition.function
