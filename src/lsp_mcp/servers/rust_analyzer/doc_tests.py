"""The doc tests of a file as code that rust-analyzer reads: `doc_tests`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from lsp_mcp.servers.rust_analyzer.workspaces import MANIFEST
from lsp_mcp.servers.traits import Examples
from lsp_mcp.syntax.definitions import errors
from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import parsed
from lsp_mcp.text import Text

_LINE = re.compile(r"^[ \t]*//[/!](?!/) ?(?P<rest>[^\n]*)$", re.MULTILINE)
_FENCE = re.compile(r"\s*(?P<fence>```+|~~~+)(?P<language>[^\n]*)")
_RUST = re.compile(
    r"(?:\s|,|rust|should_panic|no_run|ignore(?:-\w+)*|compile_fail|test_harness|standalone\w*|edition\d+|E\d+)*"
)
_HIDDEN = re.compile(r"\s*#(?: |$|(?=#))")
_LEFT_OUT = re.compile(r"\s*(?:#!\[|(?:#\[macro_use\]\s*)?extern\s+crate\b)")


class _Line(Struct, frozen=True):
    """Code in a comment: where it begins, and what it is."""

    start: int
    code: str


def doc_tests(path: Path, text: Text) -> Examples | None:
    """The text of `path` with a module for each of its doc tests at the end; None if there are none.

    What is not code by itself is left out.
    """
    crate = _crate_name(path)
    grammar = grammar_of("rust")
    blocks = [lines for lines in _blocks(text.content) if lines] if crate and grammar else []
    shown = [text.content]
    at, segments = len(text.content), []
    for number, lines in enumerate(blocks):
        before = f"\nmod lsp_mcp_doc_test_{number} {{ extern crate self as {crate}; fn test() {{\n"
        code = "".join(f"{line.code}\n" for line in lines)
        module = f"{before}{code}}} }}\n"
        if grammar is None or errors(parsed(Text(module), grammar)):
            continue
        inside = at + len(before)
        for line in lines:
            segments.append((line.start, inside, len(line.code)))
            inside += len(line.code) + 1
        shown.append(module)
        at += len(module)
    return Examples(text=Text("".join(shown)), segments=tuple(segments)) if segments else None


def _blocks(content: str) -> Iterator[list[_Line]]:
    """The code of each doc test."""
    fence, lines, end, wanted = "", list[_Line](), -1, False
    for found in _LINE.finditer(content):
        if found.start() != end:
            fence = ""  # another comment
        end = found.end() + 1
        rest = found["rest"]
        if not fence:
            if (opened := _FENCE.fullmatch(rest)) is not None:
                is_code = _RUST.fullmatch(opened["language"]) is not None
                fence, lines = opened["fence"], list[_Line]()
                wanted = is_code
            continue
        if rest.strip() == fence:
            if wanted:
                yield lines
            fence = ""
            continue
        hidden = _HIDDEN.match(rest)
        start = hidden.end() if hidden else 0
        code = "" if _LEFT_OUT.match(rest, start) else rest[start:]
        lines.append(_Line(found.start("rest") + start, code))


def _crate_name(path: Path) -> str:
    """The name by which other crates call the library that `path` is of; empty if it is unknown."""
    for folder in path.parents:
        try:
            said = tomllib.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return ""
        tables = (said.get("lib"), said.get("package"))
        names = [one.get("name") for one in tables if isinstance(one, dict)]
        found = next((one for one in names if isinstance(one, str)), "").replace("-", "_")
        return found if found.isidentifier() else ""
    return ""
