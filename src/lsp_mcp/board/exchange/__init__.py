"""A board out of files and into files: Neova's folders, and folders of Markdown with one file per task."""
