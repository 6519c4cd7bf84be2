"""Importing and exporting a board: Neova's folders, and folders of Markdown with one file per task."""
