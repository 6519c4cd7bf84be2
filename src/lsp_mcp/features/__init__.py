"""Answers for any `Backend`, in a folder for each kind of question."""
