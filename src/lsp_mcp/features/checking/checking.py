"""Current problems: a backend's diagnostics as `Problem`s, comparable with earlier ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lsp_mcp.backend import Backend, Checked
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.features.checking.problems import SEVERITIES, Kind, Known, Problem, Severity, known_lines
from lsp_mcp.objects.elsewhere import elsewhere, one_line
from lsp_mcp.protocol.lsp import Diagnostic, Range
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.text import Text


async def problems(backend: Backend, checked: Checked, texts: dict[Path, Text] | None = None) -> list[Problem]:
    """The problems in `checked` by file and line, each once; `texts` take precedence over the server's."""
    found: dict[tuple[Path, int, int, str], Problem] = {}
    known: dict[Path, Text | None] = dict(texts or {})
    for path, raw in checked.diagnostics.items():
        for one in raw:
            where, range_, message = _place(backend, path, one)
            if where not in known:
                known[where] = await text_or_none(backend, where) or _readable(where)
            if (text := known[where]) is None:
                continue
            span = text.range_span(range_, backend.encoding)
            problem = Problem(Place(where, span, text), severity(one), message, one)
            found.setdefault((where, span.start.line, span.start.character, message), problem)
    return [found[key] for key in sorted(found)]


def baseline(backend: Backend) -> Known | None:
    """The problems before anything changed, as far as the backend knows them."""
    checked = backend.problems.baseline
    return None if checked is None else known_lines(_lines(backend, checked), checked.covers, checked.incomplete)


def severity(diagnostic: Diagnostic) -> Severity:
    """The severity that the server gives; error if it gives none (LSP 3.17)."""
    number = diagnostic.get("severity", 1)
    return SEVERITIES[number - 1] if isinstance(number, int) and 1 <= number <= len(SEVERITIES) else "error"


def _lines(backend: Backend, checked: Checked) -> Iterator[tuple[Kind, int]]:
    for path, raw in checked.diagnostics.items():
        for one in raw:
            where, range_, message = _place(backend, path, one)
            line = Text("").unclamped_position_point(range_["start"], backend.encoding).line
            yield Kind(where, severity(one), message), line


def _readable(path: Path) -> Text | None:
    """What can be read of a file that is not text, but has an error for the server; None if it is gone."""
    content = content_or_nothing(path)
    return Text(content.decode("utf-8", "replace")) if content else None


def _place(backend: Backend, path: Path, diagnostic: Diagnostic) -> tuple[Path, Range, str]:
    """File, range and message; a problem in an included file counts for that file."""
    # A problem without a file of its own belongs to the including one.
    rules = backend.plugin.diagnostics
    where, range_, message = elsewhere(diagnostic, rules.elsewhere_pattern) or (
        path,
        diagnostic["range"],
        one_line(diagnostic),
    )
    return where, range_, re.sub(rf"(?:{rules.remark_pattern})\Z", "", message) if rules.remark_pattern else message
