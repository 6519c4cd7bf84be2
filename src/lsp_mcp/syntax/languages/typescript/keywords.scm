; Words that are also used as names. A name is an identifier to the grammar, even if it is spelled like one of these.
[
  "abstract" "accessor" "any" "as" "asserts" "async" "boolean" "declare" "from" "get" "global" "implements" "infer" "is" "keyof" "meta"
  "module" "namespace" "never" "number" "object" "of" "override" "private" "protected" "public" "readonly" "require" "satisfies" "set"
  "static" "string" "symbol" "target" "type" "unknown" "using"
] @keyword
