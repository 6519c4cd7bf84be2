; Words that are also used as names. A name is an identifier to the grammar, even if it is spelled like one of these.
["as" "async" "from" "get" "meta" "of" "set" "static" "target" "using"] @keyword
