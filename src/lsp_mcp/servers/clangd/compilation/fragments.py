"""Files that make sense only inside other code: `is_inside`, for the line of an include. Pure.

An include inside braces or parentheses, or in the middle of a statement, brings in a part of that code: the values of a
table, the members of a class, the cases of a `switch`. Read alone, such a file means something else.
"""

from __future__ import annotations

import re

from lsp_mcp.adapters import Language
from lsp_mcp.syntax.preprocessor import DIRECTIVE
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import blanked
from lsp_mcp.words.nested import replaced_inside_out

_LINE = r"[ \t]*#[ \t]*(?:{})\b(?:\\\r?\n|[^\n])*\n?"
_OTHER_LINES = rf"(?:(?!{_LINE.format('(?:if|el|endif)[a-z]*')})[^\n]*\n)*"
_CONDITIONAL = re.compile(
    rf"^{_LINE.format('if[a-z]*')}(?P<first>{_OTHER_LINES})(?:{_LINE.format('el[a-z]*')}{_OTHER_LINES})*{_LINE.format('endif')}",
    re.MULTILINE,
)
# `extern "C" {`, whose string is blanked, and a namespace: what they enclose are declarations, as without them.
_ENCLOSING = re.compile(r"\b(?:extern\s*|namespace\b[^;{}()]*)\{")
_PAIR = re.compile(r"\{[^{}()]*\}|\([^{}()]*\)")


def is_inside(before: str, language: Language | None) -> bool:
    """Whether what comes after `before`, the text of a file up to a line, is inside a declaration or a statement."""
    # Each branch may open the same brace: of a whole conditional, the first counts.
    code = replaced_inside_out(_CONDITIONAL, lambda found: found["first"], blanked(Text(before), language))
    code = replaced_inside_out(_PAIR, ";", _ENCLOSING.sub(" ", DIRECTIVE.sub("", code)))
    return "{" in code or "(" in code or code.rstrip().endswith((",", "="))
