"""Includes that changed code needs, as the server offers them for its errors: `included`."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.edits.plan import FileChange, TextChange
from lsp_mcp.protocol.lsp import Diagnostic
from lsp_mcp.requests.code_actions import code_actions, edits_of
from lsp_mcp.requests.edit_plans import plan_of
from lsp_mcp.text import Text

_ERROR = 1  # LSP 3.17, `DiagnosticSeverity`
_MOST_ERRORS = 20  # for which includes are asked
_MOST_ROUNDS = 3  # an include may show that another one is missing


async def included(backend: Backend, trial: Trial, path: Path, before: Text, after: Text) -> Text:
    """`after` with the includes that the server offers for errors in lines that `before` does not have.

    An error for which it offers several headers stays as it is. The server is shown the result.

    Raises:
        RefusedError, UnavailableError: see `Backend.request`.
    """
    rules = backend.plugin.headers
    if rules is None:
        return after
    old = frozenset(before.lines())
    for _ in range(_MOST_ROUNDS):
        errors, missing = await _missing(backend, trial, path, old, after)
        method = backend.plugin.idle_request if backend.state() == "running" else ""
        if errors and not missing and method:
            await trial.request(method, {})
            # Offers are made with the errors: those of another text.
            _, missing = await _missing(backend, trial, path, old, Text(f"{after.content}\n"))
        if not missing:
            break
        after = Text(FileChange(path, after, after.content, ()).with_changes(missing).after)
    included = [*re.finditer(rules.include_pattern, after.content)]
    if included and not re.search(rules.include_pattern, before.content):  # the first includes of the file
        start, rest = after.content[: included[-1].end()], after.content[included[-1].end() :]
        line_end = "\r\n" if "\r\n" in before.content else "\n"
        after = Text(f"{start}{line_end * 2}{rest.lstrip(line_end)}")
        trial.show(path, after)
    return after


async def _missing(
    backend: Backend, trial: Trial, path: Path, old: Collection[str], text: Text
) -> tuple[bool, list[TextChange]]:
    """Whether lines of `text` that are not `old` have errors, and the includes for those with one offer."""
    trial.show(path, text)
    said = (await trial.check()).diagnostics.get(path, ())
    errors = [
        one
        for one in said
        if one.get("severity", _ERROR) == _ERROR
        and text.line(text.range_span(one["range"], trial.encoding).start.line) not in old
    ]
    found: dict[str, TextChange] = {}
    for error in errors[:_MOST_ERRORS]:
        offered = await _offered(backend, path, text, error)
        found |= offered if len(offered) == 1 else {}
    return bool(errors), [*found.values()]


async def _offered(backend: Backend, path: Path, text: Text, error: Diagnostic) -> dict[str, TextChange]:
    """The headers whose include the server offers for `error`, each with the line that it adds to `text`."""
    rules = backend.plugin.headers
    span = text.range_span(error["range"], backend.encoding)
    found: dict[str, TextChange] = {}
    for action in await code_actions(backend, path, text, span, only=["quickfix"], diagnostics=[error]):
        steps = (await plan_of(backend, await edits_of(backend, action, {}, backend.root))).steps
        match steps:
            case [FileChange(path=changed, changes=[TextChange(old_text="") as change])] if changed == path:
                if rules and (line := re.fullmatch(rules.include_pattern, change.new_text.strip())):
                    found[line["header"]] = change
    return found
