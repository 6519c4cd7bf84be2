"""The toolset `clangd`: the vocabulary of docs/contracts/clangd.md, for the server that speaks clangd's extensions.

The names of tools and arguments are the published ones. Answers are the published objects as JSON; a further
fields `status` and `gaps` are present only if the answer is incomplete or its reader should know something.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal

from msgspec.structs import replace
from pydantic import Field, WithJsonSchema

from lsp_mcp.backend import Backend, Json, Scope
from lsp_mcp.errors import CallerError, UnavailableError
from lsp_mcp.gaps import Gap, news
from lsp_mcp.requests.syntax_tree import cut_tree
from lsp_mcp.toolsets.context import ToolContext, Toolset
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.passing import MOST_MS, PassedThrough, PassThrough, Position, Range, check_method
from lsp_mcp.toolsets.tool import UNLISTED, Call, tool

# docs/contracts/clangd.md.
METHODS = (
    *("textDocument/hover", "textDocument/definition", "textDocument/declaration", "textDocument/typeDefinition"),
    *("textDocument/implementation", "textDocument/references", "textDocument/documentSymbol", "workspace/symbol"),
    *("textDocument/signatureHelp", "textDocument/switchSourceHeader", "textDocument/ast"),
    *("textDocument/typeHierarchy", "typeHierarchy/resolve"),
)
_MOST_NODES = 100  # of a syntax tree, by default
_MOST_FAILED = 5  # files listed with their first error


FileUri = Annotated[str, Field(description="URI or path")]
Depth = Annotated[int, Field(ge=0, le=50, description="Levels to resolve"), UNLISTED]
# As short as possible in the list of tools; both are validated in full.
ShortPosition = Annotated[Position, WithJsonSchema({"type": "object"})]
ShortRange = Annotated[Range, WithJsonSchema({"type": "object"})]


class _Tools(Toolset):
    """Asks the backend that speaks clangd's extensions."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._sessions = context.sessions
        self._passing = PassThrough(context.sessions, context.settings.base)

    @property
    def _backend(self) -> Backend:
        for backend in self._sessions.backends:
            if "clangd" in backend.plugin.adapter.toolsets:
                return backend
        raise UnavailableError("no clangd runs here; open a C or C++ file in Neovim, or add --backend clangd")

    async def _send(
        self,
        call: Call,
        method: str,
        params: Json | Callable[[], Awaitable[Json]] | None,
        timeout_ms: int | None = None,
    ) -> PassedThrough:
        return await self._passing.send(call, self._backend, method, params, timeout_ms=timeout_ms)


class ClangdTools(_Tools):
    """The six tools that are offered by default."""

    @tool(title="clangd status", read_only=True)
    async def lm_clangd_status(self, call: Call) -> str:
        """Get the state of clangd and its index."""
        # There is no editor extension here: extensionInstalled says that the clangd program was found, extensionActive
        # that its process runs, apiAvailable and clientAvailable that it is initialized and answers. workspaceTrusted:
        # the user started this on the workspace. autoStartOnInvoke: the next call starts a clangd that is not there.
        # filesIndexed counts headers too; filesLeftOut are sources that the compilation database does not lead to.
        backend = self._backend
        trouble = []
        try:
            await backend.sync()
        except UnavailableError as error:
            trouble.append(Gap("server_error", str(error)))
        state = backend.state()
        running = state in ("running", "indexing")
        gaps = [*trouble, *await backend.gaps(Scope())]
        indexing = next((gap.text for gap in gaps if gap.kind == "indexing"), "indexing")
        facts = await backend.coverage.facts()
        answer: Json = {
            "clangdMcpEnabled": True,
            "extensionInstalled": state != "missing",
            "extensionActive": running or state == "starting",
            "apiAvailable": running,
            "clientAvailable": running,
            "clientState": indexing if state == "indexing" else state,
            "clangdEnableSetting": True,
            "workspaceTrusted": True,
            "autoStartOnInvoke": True,
            "requestTimeoutMs": round(facts.request_timeout * 1000),
            "passthroughEnabled": True,
            "clangdVersion": facts.version or None,
            "clangdPath": facts.command[0] if facts.command else None,
            "compilationDatabase": str(facts.database) if facts.database else None,
            "filesCompiled": facts.compiled,
            "filesIndexed": facts.indexed,
            "indexChanged": _time(facts.index_changed),
            "filesFailed": len(facts.failed),
            "firstFailed": {
                self._sessions.workspace.display_path(path): reason
                for path, reason in sorted(facts.failed.items())[:_MOST_FAILED]
            },
            "filesLeftOut": facts.left_out,
            "memoryBytes": facts.memory,
            "allowedPassthroughMethods": list(self._allowed),
        }
        return _published(
            answer,
            PassedThrough(
                None,
                gaps,
                partial(self._sessions.reported.take, call.client.key),
                self._sessions.workspace.display_path,
            ),
        )

    @tool(title="Switch source/header", read_only=True)
    async def lm_clangd_switchSourceHeader(self, call: Call, uri: FileUri) -> str:
        """Find the header of a source file, or the source file of a header."""
        uri = await self._passing.uri(uri)
        passed = await self._send(call, "textDocument/switchSourceHeader", {"uri": uri})
        # clangd's documentation says that a missing partner is an empty string, version 22 returns null.
        return _published({"uri": uri, "sourceUri": passed.result or None, "found": bool(passed.result)}, passed)

    @tool(title="Syntax tree", read_only=True)
    async def lm_clangd_ast(
        self,
        call: Call,
        uri: FileUri,
        range: Annotated[ShortRange, Field(description="{start, end}: {line, character} from 1")],
        maxDepth: Annotated[
            int | None, Field(ge=0, description="Deepest level below the root; default: all"), UNLISTED
        ] = None,
        maxNodes: Annotated[
            int, Field(ge=1, description="Most nodes; leftOut counts the others"), UNLISTED
        ] = _MOST_NODES,
        includeArcana: Annotated[bool, Field(description="Add clang's own dump of each node"), UNLISTED] = False,
    ) -> str:
        """Get clang's syntax tree of a range."""
        uri, sent = await self._passing.uri(uri), range.model_dump()

        async def params() -> Json:
            # No node contains all of a file; without a range clangd returns the whole unit.
            whole = sent == await self._passing.whole(self._backend, uri)
            return {"textDocument": {"uri": uri}, **({} if whole else {"range": sent})}

        passed = await self._send(call, "textDocument/ast", params)
        answer: Json = {"uri": uri, "range": sent, "ast": passed.result}
        if not passed.result:
            none = news("resolved", "no node covers that range: it has several declarations in it, or none")
            passed = replace(passed, gaps=[*passed.gaps, none])
        else:
            cut = cut_tree(passed.result, depth=maxDepth, nodes=maxNodes, with_arcana=includeArcana)
            answer["ast"] = cut.tree
            if cut.left_out:
                answer["leftOut"] = cut.left_out
        return _published(answer, passed)

    @tool(title="Type hierarchy", read_only=True)
    async def lm_clangd_typeHierarchy(
        self,
        call: Call,
        uri: FileUri,
        position: Annotated[ShortPosition, Field(description="{line, character} from 1")],
        resolve: Depth = 5,
        direction: Annotated[Literal[0, 1, 2], Field(description="0 children, 1 parents, 2 both")] = 2,
    ) -> str:
        """Get the supertypes and subtypes of a type."""
        uri, at = await self._passing.uri(uri), position.model_dump()
        params = {"textDocument": {"uri": uri}, "position": at, "resolve": resolve, "direction": direction}
        passed = await self._send(call, "textDocument/typeHierarchy", params)
        answer = {"uri": uri, "position": at, "resolve": resolve, "direction": direction, "item": passed.result}
        return _published(answer, passed)

    @tool(title="More type hierarchy", read_only=True)
    async def lm_clangd_typeHierarchyResolve(
        self,
        call: Call,
        item: Annotated[dict[str, Any], Field(description="Unchanged item of lm_clangd_typeHierarchy")],
        resolve: Depth = 1,
        direction: Annotated[Literal[0, 1], Field(description="0 children, 1 parents"), UNLISTED] = 0,
    ) -> str:
        """Get more levels of a type hierarchy."""
        params = {"item": item, "resolve": resolve, "direction": direction}
        checked = await self._passing.checked("typeHierarchy/resolve", params)
        _check_item(item)
        passed = await self._send(call, "typeHierarchy/resolve", checked)
        return _published({"resolve": resolve, "direction": direction, "item": passed.result}, passed)

    @tool(title="LSP request", read_only=True, passes=True)
    async def lm_clangd_lspRequest(
        self,
        call: Call,
        method: str,
        params: Annotated[dict[str, Any] | None, Field(description="Positions from 1, in characters")] = None,
        timeoutMs: Annotated[
            int | None, Field(ge=1, le=MOST_MS, description="Longest wait, milliseconds"), UNLISTED
        ] = None,
    ) -> str:
        """Send a request listed by lm_clangd_status."""
        check_method(method, self._allowed)
        checked = await self._passing.checked(method, params)
        if method == "typeHierarchy/resolve":
            _check_item((checked or {}).get("item"))
        passed = self._passing.fitted(await self._send(call, method, checked, timeoutMs))
        return _published({"method": method, "result": passed.result}, passed)

    @property
    def _allowed(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*METHODS, *self._settings.allowed_methods)))


class ClangdMoreTools(_Tools):
    """The two tools that the document calls pruned."""

    @tool(title="clangd memory usage", read_only=True)
    async def lm_clangd_memoryUsage(
        self, call: Call, maxDepth: Annotated[int, Field(ge=0, description="Deepest level of components")] = 3
    ) -> str:
        """Get clangd's memory usage in bytes by component, each with `_total` and `_self`."""
        passed = await self._send(call, "$/memoryUsage", None)
        return _published({"memoryUsage": _parts(passed.result, maxDepth)}, passed)

    @tool(title="Inlay hints of a file", read_only=True)
    async def lm_clangd_inlayHints(
        self,
        call: Call,
        uri: FileUri,
        range: Annotated[Range | None, Field(description="From 1, in characters; default: the whole file")] = None,
    ) -> str:
        """Get the inlay hints of a file: parameter names and deduced types."""
        uri = await self._passing.uri(uri)
        sent = range.model_dump() if range else {}

        async def params() -> Json:
            nonlocal sent
            sent = range.model_dump() if range else await self._passing.whole(self._backend, uri)
            return {"textDocument": {"uri": uri}, "range": sent}

        passed = self._passing.fitted(await self._send(call, "textDocument/inlayHint", params))
        return _published({"uri": uri, "range": sent, "hints": passed.result or []}, passed)


def _time(seconds: float | None) -> str | None:
    """ISO 8601, in UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _parts(usage: Json, depth: int) -> Json:
    """`usage` without its deeper parts; each part's `_total` includes them."""
    parts = {key: _parts(part, depth - 1) for key, part in usage.items() if isinstance(part, dict) and depth}
    return {**{key: size for key, size in usage.items() if not isinstance(size, dict)}, **parts}


def _check_item(item: Any) -> None:
    """Refuse an item for which clangd would return nothing without searching: it identifies types by this id.

    Raises:
        CallerError: the item has none.
    """
    data = item.get("data") if isinstance(item, dict) else None
    if not isinstance(data, dict) or not isinstance(data.get("symbolID"), str):
        raise CallerError(
            "item: it has no data.symbolID; pass an item of lm_clangd_typeHierarchy whole, with its `data`."
        )


def _published(answer: Json, passed: PassedThrough) -> str:
    """The published object; `status` and `gaps` are added only if there is something to report."""
    return as_json({**answer, **(passed.fields if passed.gaps else {})})
