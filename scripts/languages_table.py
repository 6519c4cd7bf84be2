"""The table of languages in docs/other-languages.md, from the adapters and the samples of their tests: `with_table`."""

from __future__ import annotations

import re
from pathlib import Path

from lsp_mcp.adapters import Adapter, read_adapter

TOP = Path(__file__).parents[1]
_SAMPLES = TOP / "tests" / "languages" / "samples"
_MARKED = re.compile(r"(?<=<!-- languages -->\n).*?(?=<!-- /languages -->)", re.DOTALL)
_OWN_ARCHIVES = ("gopls", "clangd")  # every tool, tested by several hundred archives


def with_table(text: str) -> str:
    """`text` with the present table between its marks."""
    every = [read_adapter(path) for path in sorted((TOP / "adapters" / "lsp").glob("*.toml"))]
    adapters = [adapter for adapter in every if not adapter.is_fallback]  # it has a section of its own
    told = {match[1]: path.read_text("utf-8") for path in _SAMPLES.glob("*.txtar") if (match := _backend(path))}
    ordered = sorted(adapters, key=lambda one: (one.untested, one.name not in _OWN_ARCHIVES, one.name not in told))
    rows = [
        "| language | backend | `lsp-mcp install` | references | rename | callers | outline |",
        "|---|---|---|---|---|---|---|",
    ]
    for adapter in ordered:
        install = adapter.install.version if adapter.install else "–"
        rows.append(f"| {', '.join(adapter.language_names)} | {adapter.name} | {install} | {_tools(adapter, told)} |")
    return _MARKED.sub(lambda _: "\n" + "\n".join(rows) + "\n\n", text)


def _backend(path: Path) -> re.Match[str] | None:
    return re.match(r"backend: (\S+)", path.read_text("utf-8"))


def _tools(adapter: Adapter, told: dict[str, str]) -> str:
    if adapter.untested:
        return "not tested | not tested | not tested | not tested"
    if adapter.name in _OWN_ARCHIVES:
        return "yes | yes | yes | yes"
    if adapter.name not in told:  # tests/languages/test_single_files.py
        return f"{'in one file' if adapter.name == 'vscode-css' else '–'} | – | – | yes"
    sample = told[adapter.name]
    rename = "–" if re.search("(?m)^lacks: .*rename", sample) else "yes"
    return f"yes | {rename} | {'yes' if re.search('(?m)^callers:', sample) else '–'} | yes"
