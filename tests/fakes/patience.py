"""How long tests let the program take: answers are the same on a slow machine."""

TO_THE_END = 60.0  # seconds for which answers are compared with the text
