"""What explains an occurrence of a symbol's name, one way a module, each an `evidence.verdicts.Explainer`.

`evidence.word_check` lists them in the order in which they are asked.
"""
