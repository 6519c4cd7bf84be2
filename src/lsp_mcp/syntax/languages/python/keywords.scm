; Words that are also used as names. A name is an identifier to the grammar, even if it is spelled like one of these.
["case" "match" "type" "_"] @keyword
