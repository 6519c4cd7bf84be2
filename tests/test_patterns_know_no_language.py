"""The grammar of a language is read by queries (`syntax`) or named with a server (`servers`), not by patterns."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from lsp_mcp.adapters import shipped_adapters

SOURCE = Path(__file__).parent.parent / "src" / "lsp_mcp"
# The parts that read code.
READING = (
    "backend.py",
    "text.py",
    "edits",
    "evidence",
    "features",
    "render",
    "requests",
    "sessions",
    "toolsets",
    "words",
)
FUNCTIONS = {"compile", "search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
# The key is the module with the words: a pattern may have them if what it reads is not code.
ALLOWED = {
    "edits/policy.py ref": "a file of git",
    "features/impact/changed_lines.py null": "the output of git",
    "requests/declaration.py try": "brackets by the words of the code, for any language; queries would be one for each",
    "requests/signatures.py const": "a name as servers and callers write it",
    "requests/signatures.py noexcept": "a name as servers and callers write it",
    "toolsets/addresses.py with": "a compiler's message",
}
_ASIDE = re.compile(r"\\.|\(\?P[<=]\w+[>)]|\(\?[a-zA-Z]+[:)]")


def patterns(tree: ast.AST) -> Iterator[str]:
    """The literals in what is passed to `re` as a pattern."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and node.args
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in FUNCTIONS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
        ):
            for one in ast.walk(node.args[0]):
                if isinstance(one, ast.Constant) and isinstance(one.value, (str, bytes)):
                    yield one.value if isinstance(one.value, str) else one.value.decode()


def test_no_pattern_has_a_keyword_of_a_language() -> None:
    keywords = {word for one in shipped_adapters() for language in one.languages for word in language.keywords}
    files = [
        file
        for part in READING
        for file in ([SOURCE / part] if part.endswith(".py") else (SOURCE / part).rglob("*.py"))
    ]
    found = {
        f"{file.relative_to(SOURCE).as_posix()} {word}"
        for file in files
        for pattern in patterns(ast.parse(file.read_text("utf-8")))
        for word in re.findall(r"[A-Za-z]{2,}", _ASIDE.sub(" ", pattern))
        if word in keywords
    }
    assert found == set(ALLOWED)
