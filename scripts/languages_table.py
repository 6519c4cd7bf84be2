"""The tables of languages, from the adapters and from what their tests call.

`with_table` fills the one of docs/other-languages.md, with all adapters; `with_short_table` that of README.md.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from marked import replaced, table

from lsp_mcp.adapters import Adapter, read_adapter

TOP = Path(__file__).parents[1]
_TESTS = TOP / "tests"
_SAMPLES = _TESTS / "languages" / "samples"
_BASIC = _TESTS / "languages" / "test_basic_twelve.py"
_DEFAULT = "gopls"  # of an archive that names no backend

_COLUMNS = {
    "references": ("find_symbol_references_by_anchor",),
    "rename": ("rename_symbol_by_anchor",),
    "callers": ("find_calls",),
    "outline": ("list_symbols_in_file",),
    "implementations": ("find_implementations",),
    "check, edit, impact": ("check", "edit_symbol", "find_impact"),
}
"""The tools of each column."""

_LINES = (
    ("callers", "callers", "no"),
    ("implementations", "subtypes", "no"),
    ("check, edit, impact", "broken", "in part"),
)
"""Columns, the line that a sample has if its server can do that, and what the table says without it."""


@dataclass(frozen=True)
class Tested:
    """What the tests of one server examine, and how much: each column is yes, in part, no (it cannot) or not tested."""

    columns: dict[str, str]
    tests: str


def with_table(text: str) -> str:
    """docs/other-languages.md with its table."""
    rows = []
    columns = list(_COLUMNS)[:4]
    for adapter in _adapters():
        install = adapter.install.version if adapter.install else "–"
        tested = _tested(adapter)
        names = ", ".join(adapter.language_names)
        rows.append([names, adapter.name, install, *(tested.columns[one] for one in columns)])
    return replaced(text, "languages", table(["language", "backend", "`lsp-mcp install`", *columns], rows, 9))


def with_short_table(text: str) -> str:
    """README.md with its table: a row for each tested server of code, a row for those of data, a line for the rest."""
    adapters = _adapters()
    rows = []
    columns = [one for one in _COLUMNS if one != "outline"]  # all of them have one
    for adapter in adapters:
        if not adapter.untested and adapter.searched_by_name:
            tested = _tested(adapter)
            names = ", ".join(adapter.language_names)
            rows.append([names, adapter.name, *(tested.columns[one] for one in columns), tested.tests])
    data = [one for one in adapters if not (one.untested or one.searched_by_name)]
    names = ", ".join(dict.fromkeys(name for one in data for name in one.language_names))
    untested = ", ".join(sorted({name for one in adapters if one.untested for name in one.language_names}))
    shown = table(["language", "server", *columns, "tests"], rows, 9)
    return replaced(
        text,
        "languages",
        f"{shown}One file at a time: {names}. Adapters without tests yet: {untested}.\n",
    )


def _adapters() -> list[Adapter]:
    """All but the fallback, which has a section of its own: the most tested first."""
    every = [read_adapter(path) for path in sorted((TOP / "adapters" / "lsp").glob("*.toml"))]
    calls, samples = _calls(), _samples()
    return sorted(
        (one for one in every if not one.is_fallback),
        key=lambda one: (one.untested, one.name not in calls, one.name not in samples),
    )


def _tested(adapter: Adapter) -> Tested:
    calls, samples = _calls(), _samples()
    if adapter.untested:
        return Tested(dict.fromkeys(_COLUMNS, "not tested"), "")
    if adapter.name in calls:
        called = calls[adapter.name]
        columns = {name: _word(all(called[tool] for tool in tools)) for name, tools in _COLUMNS.items()}
        return Tested(columns, f"{called.total() // 100 * 100:,}+")
    if adapter.name not in samples:  # tests/languages/test_single_files.py
        columns = {**dict.fromkeys(_COLUMNS, "no"), "outline": "yes"}
        return Tested({**columns, "references": "in one file" if adapter.name == "vscode-css" else "no"}, "")
    sample, basic = samples[adapter.name], _BASIC.read_text("utf-8")
    columns = {name: _word(all(f'"{tool}"' in basic for tool in tools)) for name, tools in _COLUMNS.items()}
    columns["rename"] = "no" if re.search(r"(?m)^lacks: .*rename", sample) else columns["rename"]
    for column, line, otherwise in _LINES:
        columns[column] = columns[column] if re.search(rf"(?m)^{line}:", sample) else otherwise
    return Tested(columns, str(len(re.findall(r"(?m)^def test_", basic))))


def _calls() -> dict[str, Counter[str]]:
    """The number of calls of each tool in the archives, by backend."""
    found: dict[str, Counter[str]] = {}
    for path in (_TESTS / "archives").glob("*.txtar"):
        text = path.read_text("utf-8")
        named = re.search(r"(?m)^backend: (\S+)", text.partition("\n-- ")[0])
        tools = re.findall(r"(?m)^-- call (\w+)", text)
        found.setdefault(named[1] if named else _DEFAULT, Counter()).update(tools)
    return {backend: calls for backend, calls in found.items() if calls.total() > 100}


def _samples() -> dict[str, str]:
    """The sample projects, by backend."""
    texts = (path.read_text("utf-8") for path in _SAMPLES.glob("*.txtar"))
    return {match[1]: text for text in texts if (match := re.match(r"backend: (\S+)", text))}


def _word(is_tested: bool) -> str:
    return "yes" if is_tested else "not tested"
