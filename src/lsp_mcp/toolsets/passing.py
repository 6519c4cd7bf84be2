"""Shared by the passthrough tools: allowed methods, allowed documents, and answers."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict

from lsp_mcp.backend import Backend, Json, Scope, Use
from lsp_mcp.errors import CallerError, PathError, RefusedError
from lsp_mcp.features.finding.passthrough import Sent, asked_point, home_document, send
from lsp_mcp.gaps import Gap, hiding, status
from lsp_mcp.objects.params import checked_params
from lsp_mcp.objects.walker import documents
from lsp_mcp.prose import count, first_few
from lsp_mcp.render.gaps import gap_objects
from lsp_mcp.requests.asking import answer
from lsp_mcp.requests.reach import leads_elsewhere, reach_of
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Base, point_numbers
from lsp_mcp.toolsets.answers import dropped
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.uris import path_uri, uri_path

MOST_MS = 600_000  # the longest wait that a caller may request, milliseconds
MOST_CHARACTERS = 100_000  # characters of a result
_TOOL_FOR = {
    "textDocument/rename": "rename_symbol_by_anchor",
    "textDocument/codeAction": "refactor",
    "textDocument/formatting": "refactor with action format",
    "workspace/executeCommand": "refactor",
    "textDocument/diagnostic": "check",
    "workspace/diagnostic": "check",
}
"""The tool to use for methods that are not passed through."""
_URI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:")


class Position(BaseModel):
    """In the caller's numbers."""

    model_config = ConfigDict(extra="forbid")

    line: int
    character: int


class Range(BaseModel):
    """`end` exclusive."""

    model_config = ConfigDict(extra="forbid")

    start: Position
    end: Position


Tell = Callable[[Sequence[Gap]], tuple[Sequence[Gap], Collection[Gap]]]
"""Called with an answer's gaps; returns those to report, and which of them were reported before."""


class PassedThrough(Struct, frozen=True, dict=True):
    """An answer and its gaps. `tell` selects the gaps for its reader, once they are put into words."""

    result: Any
    gaps: Sequence[Gap]
    tell: Tell
    display_path: Callable[[Path], str]

    @property
    def status(self) -> str:
        """`complete`, or why not; and other news."""
        return status(*self._reported)

    @property
    def fields(self) -> Json:
        """`status` and `gaps`, as every JSON answer has them."""
        return {"status": self.status, "gaps": gap_objects(self._reported[0], self.display_path)}

    @cached_property
    def _reported(self) -> tuple[Sequence[Gap], Collection[Gap]]:
        return self.tell(self.gaps)


class PassThrough:
    """Sends requests for callers."""

    def __init__(self, sessions: Sessions, base: Base) -> None:
        self._sessions = sessions
        self._base = base

    async def uri(self, name: str, field: str = "uri") -> str:
        """The `file:` URI of the file that a caller names by a URI or a path, relative to the root or not.

        Raises:
            PathError: there is no such file, or it is outside the workspace and its dependencies.
        """
        try:
            path = str(uri_path(name)) if _URI.match(name) else name
            return path_uri(await self._sessions.file(path))
        except PathError as error:
            raise PathError(f"{field}: {error}") from None

    async def checked(self, method: str, params: Any) -> Json | None:
        """`params` in the shape that LSP gives to `method`, with `file:` URIs of files that may be read.

        Raises:
            CallerError: a wrong shape, or a file that may not be read; the message names the field.
        """
        checked = checked_params(method, params)
        if not checked:
            return checked
        out = dict(checked)
        for field in ("textDocument", "item"):
            if isinstance(holder := out.get(field), dict) and isinstance(holder.get("uri"), str):
                out[field] = {**holder, "uri": await self.uri(holder["uri"], f"params.{field}.uri")}
        if isinstance(out.get("uri"), str):
            out["uri"] = await self.uri(out["uri"], "params.uri")
        for uri in documents(out, None):  # no other file may be read, wherever the params name it
            await self.uri(uri, "params")
        return out

    async def whole(self, backend: Backend, uri: str) -> Json:
        """The range of the whole file, in the caller's numbers."""
        text = await backend.documents.open(uri_path(uri))
        span = text.offsets_span(0, len(text.content))
        return {"start": point_numbers(span.start, self._base), "end": point_numbers(span.end, self._base)}

    async def send(
        self,
        call: Call,
        backend: Backend,
        method: str,
        params: Json | Callable[[], Awaitable[Json]] | None,
        *,
        timeout_ms: int | None = None,
    ) -> PassedThrough:
        """The answer of `backend` when it is ready, for what is on disk now.

        `params` as `checked` gives them, or what makes them of what is on disk then.
        """
        timeout = timeout_ms / 1000 if timeout_ms else None
        word, path, unsearched = "", None, frozenset[Path]()
        reach = reach_of(method, backend.plugin)

        async def ask() -> Sent:
            nonlocal word, path, unsearched
            values = await params() if callable(params) else params
            home = home_document(values)
            path = uri_path(home) if home else None
            word = await self._word(backend, values)
            if word and reach == "workspace":
                unsearched = await backend.coverage.load(None, word)
            sent = await send(backend, method, values, base=self._base, word=word, timeout=timeout)
            if word and leads_elsewhere(method) and sent.leads_nowhere:
                # It may be in a file that the server has not read.
                unsearched = await backend.coverage.load(None, word)
                sent = await send(backend, method, values, base=self._base, word=word, timeout=timeout)
            return sent

        def scope(sent: Sent) -> Scope:
            anywhere = reach == "workspace" or (leads_elsewhere(method) and sent.leads_nowhere)
            return Scope(reach, path, Use(word) if word and anywhere else None, unsearched)

        try:
            answered = await answer(backend, ask, scope, report=call.report, text_only=reach == "text")
        except RefusedError as error:
            raise RefusedError(f"{backend.plugin.name} refuses {method}: {error}", error.code) from None
        sent = answered.value
        for file in sent.files:
            self._sessions.workspace.allow(file)
        gaps = [*answered.gaps, *_own_gaps(sent, backend)]
        if hiding(gaps) and not sent.result:
            gaps.append(Gap("unverified", "an empty result is not known yet"))
        tell = partial(self._sessions.reported.take, call.client.key)
        return PassedThrough(sent.result, gaps, tell, self._sessions.workspace.display_path)

    def fitted(self, passed: PassedThrough) -> PassedThrough:
        """The result shortened to a readable size, with a gap that says so.

        Raises:
            RefusedError: it is not a list, so it cannot be shortened.
        """
        result = passed.result
        if _fits(result) or (total := _size(result)) <= MOST_CHARACTERS:
            return passed
        items = result.get("items") if isinstance(result, dict) else result
        if not isinstance(items, list):
            raise RefusedError(f"the answer has {total:,} characters, too many; ask about a smaller range")
        kept, room = [], MOST_CHARACTERS
        for item in items:
            room -= _size(item)
            if room < 0:
                break
            kept.append(item)
        capped = Gap(
            "capped", f"capped at {len(kept):,} of {len(items):,}, more than {MOST_CHARACTERS:,} characters in all"
        )
        shorter = {**result, "items": kept} if isinstance(result, dict) else kept
        return replace(passed, result=shorter, gaps=[*passed.gaps, capped])

    async def _word(self, backend: Backend, params: Json | None) -> str:
        """The identifier that a request is about, for a text search in files that a server does not read."""
        query = (params or {}).get("query")
        if isinstance(query, str):
            return next(iter(re.findall(r"\w+", query)[::-1]), "")
        point, home = asked_point(params, self._base), home_document(params)
        if point is None or home is None:
            name = ((params or {}).get("item") or {}).get("name")
            return name if isinstance(name, str) and name.isidentifier() else ""
        text = await backend.documents.open(uri_path(home))
        try:
            span = text.identifier_at(point)
        except CallerError:
            return ""  # sending the request reports what is wrong with it
        return text.slice(span) if span else ""


def _own_gaps(sent: Sent, backend: Backend) -> list[Gap]:
    gaps = [*sent.gaps, *dropped(sent.dropped)]
    if sent.unread:
        text = (
            f"characters counted in {backend.encoding.unit} units in {count(len(sent.unread), 'file')} that cannot be "
            f"read ({first_few(sent.unread)})"
        )
        gaps.append(Gap("dropped", text))
    return gaps


def _fits(value: Any) -> bool:
    """Whether `value` certainly has at most `MOST_CHARACTERS` characters: a quick check of bytes."""
    try:
        return len(msgspec.json.encode(value)) <= MOST_CHARACTERS
    except (TypeError, ValueError):  # only an exact check can tell
        return False


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def allowed_methods(backend: Backend, added: Sequence[str]) -> tuple[str, ...]:
    """The methods that may be sent to `backend`: the read-only ones of its adapter, and those added by the user."""
    rules = backend.plugin.adapter.passthrough
    return tuple(dict.fromkeys((*rules.methods, *rules.extensions, *added)))


def check_method(method: str, allowed: Sequence[str], flag: str = "--allow-method") -> None:
    """Refuse a method that is not allowed.

    Raises:
        CallerError: `method` is not in `allowed`; the message says what to do instead.
    """
    if method in allowed:
        return
    if not re.fullmatch(r"[$\w]+(/[\w.$]+)*", method):
        raise CallerError(f"method: {method[:80]!r} is not an LSP method name such as textDocument/hover.")
    added = f" A person can add it by starting lsp-mcp with {flag} {method}." if "/" in method else ""
    if tool := _TOOL_FOR.get(method):
        raise CallerError(f"{method} is not an allowed method; use {tool}.{added}")
    same = [one for one in allowed if one.rpartition("/")[2] == method]
    if close := same or difflib.get_close_matches(method, allowed, n=1):
        raise CallerError(f"{method} is not an allowed method; did you mean {close[0]}?{added}")
    raise CallerError(f"{method} is not an allowed method; available: {', '.join(allowed)}.{added}")
