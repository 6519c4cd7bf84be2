((call target: (identifier) @_word (arguments (alias) @name)) @definition.module
 (#any-of? @_word "defmodule" "defprotocol"))
((call target: (identifier) @_word
  (arguments [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name))]))
 @definition.function
 (#any-of? @_word "def" "defp" "defdelegate" "defguard" "defguardp"))
((call target: (identifier) @_word
  (arguments [(identifier) @name (call target: (identifier) @name)]))
 @definition.macro
 (#any-of? @_word "defmacro" "defmacrop"))
