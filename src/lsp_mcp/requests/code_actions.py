"""textDocument/codeAction: a server's offers at a place, and the edits they make (LSP 3.17)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from lsp_mcp.backend import Backend, Json
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.protocol.lsp import CodeAction, Command, Diagnostic, Location, WorkspaceEdit
from lsp_mcp.servers.traits import BuiltAction
from lsp_mcp.text import Span, Text
from lsp_mcp.uris import path_uri

_OPTION = re.compile(r"\{(\w+)\}")


class Action(Struct, frozen=True):
    """One offered action; `disabled` is the reason why it is not possible here, empty if it is."""

    name: str
    kind: str
    raw: CodeAction | None  # of the server; None of one that is `built` here
    disabled: str = ""
    built: BuiltAction | None = None
    location: Location | None = None  # of one that is built here

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options that it needs."""
        if not self.built:
            return ()
        found = _OPTION.findall(repr((self.built.arguments, self.built.answers)))
        return tuple(dict.fromkeys(name for name in found if name != "location"))


def _may_offer(provider: Any, only: Sequence[str]) -> bool:
    """Whether a server with this `codeActionProvider` may offer something of the kinds `only`; of any, if empty.

    To offer nothing it would read the whole file, which takes clangd 22 seconds.
    """
    kinds = provider.get("codeActionKinds") if isinstance(provider, dict) else None
    if not only or not kinds:
        return bool(provider)
    return any(f"{one}.".startswith(f"{kind}.") or f"{kind}.".startswith(f"{one}.") for one in only for kind in kinds)


async def code_actions(
    backend: Backend,
    path: Path,
    text: Text,
    span: Span,
    *,
    only: Sequence[str] = (),
    diagnostics: Sequence[Diagnostic] = (),
) -> list[Action]:
    """The actions for `span` of `path`, whose present text is `text`, except those that only show something.

    `only` are kinds; empty: any. `diagnostics` are the ones for which quick fixes are wanted.

    Raises:
        RefusedError, UnavailableError: see `Backend.request`.
    """
    if not _may_offer(backend.capabilities.get("codeActionProvider"), only):
        return []
    await backend.documents.open(path)  # some servers know only this form
    uri, range_ = path_uri(path), text.span_range(span, backend.encoding)
    context: Json = {"diagnostics": list(diagnostics), "triggerKind": 1, **({"only": list(only)} if only else {})}
    params = {"textDocument": {"uri": uri}, "range": range_, "context": context}
    found = [_action(raw) for raw in await backend.request("textDocument/codeAction", params) or []]
    offered = [one for one in found if _is_wanted(backend, one, only)]
    line = text.line(span.start.line)
    for built in backend.plugin.refactorings.built if not only else ():
        titles = [one for one in offered if one.kind == built.kind]
        offered = [one for one in offered if one not in titles]
        if titles or (built.needs and re.search(built.needs, line)):
            at: Location = {"uri": uri, "range": range_}
            offered.append(Action(built.title, built.kind, None, built=built, location=at))
    unique = {one.name: one for one in reversed(offered)}
    return [one for one in offered if unique[one.name] is one]


async def edits_of(backend: Backend, action: Action, options: Mapping[str, Any], root: Path) -> list[WorkspaceEdit]:
    """The edits (`WorkspaceEdit`) of `action`, in order; nothing is applied. Paths are below `root`.

    Raises:
        CallerError: an option is missing.
        RefusedError: the server refuses, or needs a command that is not executed.
    """
    if action.disabled:
        raise RefusedError(action.disabled)
    if action.built:
        return await _built(backend, action.built, action.location, options, root)
    raw = action.raw or CodeAction(title=action.name)
    if not raw.get("edit") and not isinstance(raw.get("command"), str) and _resolves(backend):
        raw = await backend.request("codeAction/resolve", raw) or raw
    edits = [raw["edit"]] if raw.get("edit") else []
    if command := _command(raw):
        if command["command"] in backend.plugin.adapter.actions.commands:
            edits += await backend.execute(command["command"], command.get("arguments") or [])
        elif not edits:
            raise RefusedError(
                f"{backend.plugin.name} uses the command {command['command']}, which lsp-mcp does not execute"
            )
    return edits


def _action(raw: CodeAction) -> Action:
    kind = str(raw.get("kind") or "")
    disabled = raw.get("disabled")
    reason = str(disabled.get("reason", "")) if disabled else ""
    return Action(" ".join(str(raw.get("title", "")).split()), kind, raw, reason)


def _is_wanted(backend: Backend, action: Action, only: Sequence[str]) -> bool:
    rules = backend.plugin.adapter.actions
    if not action.name or any(_is_of(action.kind, hidden) for hidden in rules.hidden):
        return False
    if only and not any(_is_of(action.kind, kind) for kind in only):
        return False
    command = _command(action.raw) if action.raw else None
    can = action.raw and (action.raw.get("edit") or (_resolves(backend) and action.raw.get("data") is not None))
    return bool(can or action.disabled or (command and command["command"] in rules.commands))


def _is_of(kind: str, wider: str) -> bool:
    return kind == wider or kind.startswith(f"{wider}.")


def _command(raw: CodeAction | Command) -> Command | None:
    """The command of an action, or a bare command sent in its place."""
    command = raw.get("command")
    return raw if isinstance(command, str) else command  # type: ignore[return-value] # a str: `raw` is a Command


def _resolves(backend: Backend) -> bool:
    provider = backend.capabilities.get("codeActionProvider")
    return isinstance(provider, dict) and bool(provider.get("resolveProvider"))


async def _built(
    backend: Backend, built: BuiltAction, location: Location | None, options: Mapping[str, Any], root: Path
) -> list[WorkspaceEdit]:
    needed = Action("", "", None, built=built).options
    if missing := [name for name in needed if options.get(name) in (None, "")]:
        wanted = ", ".join(f'"{name}": …' for name in needed)
        raise CallerError(f"{built.title} needs the option {missing[0]}: options={{{wanted}}}.")
    values = dict(options)
    for name in built.files:
        path = root / str(values[name])
        values[name] = path_uri(path)
    values["location"] = location
    answers = [{"id": id_, "value": _filled(value, values)} for id_, value in built.answers.items()]
    return await backend.execute(built.command, [_filled(one, values) for one in built.arguments], answers)


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    """`value` with each string `{NAME}` replaced by the value of that name."""
    if isinstance(value, dict):
        return {key: _filled(part, values) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(part, values) for part in value]
    match = _OPTION.fullmatch(value) if isinstance(value, str) else None
    return values[match[1]] if match else value
