(message (message_name) @name) @definition.class
(service (service_name) @name) @definition.interface
(rpc (rpc_name) @name) @definition.method
(enum (enum_name) @name) @definition.enum
(field (identifier) @name) @definition.field
(enum_field (identifier) @name) @definition.enum_member
