"""The doc tests of a file as code that rust-analyzer reads: `doc_tests`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
_LIBRARY, _BINARY, _BINARIES, _BUILD = "src/lib.rs", "src/main.rs", "src/bin", "build.rs"
_FOLDERS = ("tests", "examples", "benches")  # with programs of their own
_TARGETS = ("bin", "test", "example", "bench")  # tables of a manifest
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
    """The name by which other crates call the library that `path` is of; empty if it is unknown, or of no library."""
    for folder in path.parents:
        try:
            said = tomllib.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return ""
        tables = [one for one in (said.get("lib"), said.get("package")) if isinstance(one, dict)]
        names = [one.get("name") for one in tables]
        found = next((one for one in names if isinstance(one, str)), "").replace("-", "_")
        return found if found.isidentifier() and _is_of_library(path, folder, said) else ""
    return ""


def _is_of_library(path: Path, folder: Path, said: dict[str, Any]) -> bool:
    """Whether `path`, of the package in `folder` with the manifest `said`, is of its library, and of nothing else."""
    library = folder / (_path_in(said.get("lib")) or _LIBRARY)
    if path == library:
        return True
    if not library.is_file() or not path.is_relative_to(library.parent):
        return False
    targets = [one for kind in _TARGETS for one in (said.get(kind) or ()) if isinstance(said.get(kind), list)]
    others = {folder / _BINARY, folder / _BUILD, *(folder / one for target in targets if (one := _path_in(target)))}
    if path in others or path.relative_to(folder).parts[0] in _FOLDERS or path.is_relative_to(folder / _BINARIES):
        return False
    first = path.relative_to(library.parent).parts[0].removesuffix(".rs")
    module = re.compile(rf"\bmod\s+(?:r#)?{re.escape(first)}\s*;")
    return not any(module.search(_content(other)) for other in others if other.parent == library.parent)


def _path_in(table: object) -> str:
    """The `path` of a target; empty if it has none."""
    path = table.get("path") if isinstance(table, dict) else None
    return path if isinstance(path, str) else ""


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
