"""What a model is told of the whole server when it connects: `instructions`, under 2 KB."""

from __future__ import annotations

_TEXT = """\
Semantic {languages} code navigation and rename through a real language server ({backends}), in {root}.
Prefer these tools to grep for symbols: they find exactly the uses of one symbol, through aliases, interfaces and \
packages, and never in comments or strings.

- Don't know where it is: find_symbol_definitions_by_name. Know the file: list_symbols_in_file.
- Every result has an anchor SCHEME://FILE#LINE:CHAR, from 1, in characters. Hand it to \
find_symbol_references_by_anchor, find_callers_by_anchor, find_callees_by_anchor, find_type_hierarchy_by_anchor or \
rename_symbol_by_anchor, or pass an unambiguous name such as Type.Method. \
In compact answers put a file's heading and a line:char together.
- Anchors survive edits: one whose symbol moved is followed, one whose symbol is gone is refused with candidates.
- `status` is `complete`, or says what is missing (still indexing, capped, not searched). Trust `complete`.
- Answers are for what is on disk now, whoever changed it. No need to wait or refresh after an edit.
- rename_symbol_by_anchor writes all files or none; apply=false previews.
"""


def instructions(languages: str, backends: str, root: str) -> str:
    """The instructions for a workspace; what would not fit is the path's problem, so that is cut."""
    return _TEXT.format(languages=languages, backends=backends, root=root[-200:])
