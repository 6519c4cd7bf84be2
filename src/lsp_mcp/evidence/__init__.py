"""The comparison of answers with the text: occurrences of a name, and what explains each of them."""
