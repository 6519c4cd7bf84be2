"""The language server that knows syntax only: `run`. It answers by words in code, and proves no identity of symbols."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from lsp_mcp import __version__
from lsp_mcp.adapters import read_adapter
from lsp_mcp.data import data_folder
from lsp_mcp.errors import LspMcpError
from lsp_mcp.protocol.lsp import (
    Position,
)
from lsp_mcp.syntax.definitions import Definition, errors
from lsp_mcp.syntax_server.sources import Source, Sources
from lsp_mcp.text import CodeUnit, PositionEncoding, Span, Text
from lsp_mcp.uris import path_uri, uri_path

if TYPE_CHECKING:
    from pygls.server import ServerErrors

_AtPlace = lsp.DefinitionParams | lsp.ReferenceParams | lsp.PrepareRenameParams
_KINDS = {
    "class": lsp.SymbolKind.Class,
    "struct": lsp.SymbolKind.Struct,
    "interface": lsp.SymbolKind.Interface,
    "enum": lsp.SymbolKind.Enum,
    "enum_member": lsp.SymbolKind.EnumMember,
    "module": lsp.SymbolKind.Module,
    "constructor": lsp.SymbolKind.Constructor,
    "method": lsp.SymbolKind.Method,
    "function": lsp.SymbolKind.Function,
    "macro": lsp.SymbolKind.Function,
    "field": lsp.SymbolKind.Field,
    "constant": lsp.SymbolKind.Constant,
    "variable": lsp.SymbolKind.Variable,
    "type": lsp.SymbolKind.Class,
}
_MOST_SYMBOLS = 1_000
_SEPARATORS = re.compile(r"::|[.:#/]")  # of a qualified name, in any language


def run() -> None:
    """Serve on stdin and stdout until the client ends it."""
    _server().start_io()


class _Failed(JsonRpcException):
    """A question that cannot be answered: the message says why."""

    CODE = -32803  # LSP 3.17, `RequestFailed`
    MESSAGE = "request failed"


class SyntaxServer(LanguageServer):
    """The server, with the sources of its workspace once it is initialized."""

    sources: Sources
    encoding: PositionEncoding

    def prepare(self, params: lsp.InitializeParams) -> None:
        """Know the workspace; nothing is read before a question needs it.

        `initializationOptions.files` limits it to files of these kinds, see `file_kinds`.
        """
        adapter = read_adapter(data_folder("adapters") / "lsp" / "syntax.toml")
        options = params.initialization_options
        only = options.get("files") if isinstance(options, dict) else getattr(options, "files", None)
        languages = {kind: one.id for kind, one in adapter.by_kind.items() if not only or kind in only}
        folders = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        roots = [uri_path(uri) for uri in folders if uri]
        unit = self.workspace.position_encoding
        self.encoding = PositionEncoding(cast("CodeUnit", str(getattr(unit, "value", unit))))
        self.sources = Sources(roots, languages, adapter.workspace.ignored_folders, self.shown)

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """Tell the client what failed outside of a request; pygls would give only the kind of error."""
        super().report_server_error(Exception(getattr(error, "message", None) or str(error)), source)

    def shown(self, path: Path) -> Text | None:
        """The text of the open document `path`."""
        document = self.workspace.text_documents.get(path_uri(path))
        return Text(document.source) if document else None

    def range(self, text: Text, start: int, end: int) -> lsp.Range:
        """The range between two offsets."""
        first, last = (text.offset_position(offset, self.encoding) for offset in (start, end))
        return lsp.Range(lsp.Position(**first), lsp.Position(**last))

    def location(self, source: Source, start: int, end: int) -> lsp.Location:
        """The place between two offsets."""
        return lsp.Location(path_uri(source.path), self.range(source.text, start, end))

    def asked(self, params: _AtPlace) -> tuple[Source, int, Span] | None:
        """The word at a place in code: its source, the offset and its span."""
        source = self.sources.source(uri_path(params.text_document.uri))
        position: Position = {"line": params.position.line, "character": params.position.character}
        offset = source.text.position_offset(position, self.encoding)
        span = source.text.identifier_at(source.text.offset_point(offset))
        return (source, offset, span) if span and source.is_code(source.text.point_offset(span.start)) else None

    def answers(self, method: str, options: Any = None) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Register a handler; what it cannot answer becomes an error of the protocol with the reason."""

        def register(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
            @wraps(handler)
            async def answer(params: Any) -> Any:
                try:
                    return await handler(params)
                except LspMcpError as error:
                    raise _Failed(str(error)) from None

            self.feature(method, options)(answer)
            return handler

        return register


def _server() -> SyntaxServer:
    server = SyntaxServer("lsp-mcp syntax-server", __version__, lsp.TextDocumentSyncKind.Full)
    _follow_texts(server)
    _answer_about_names(server)
    _answer_about_places(server)
    return server


def _follow_texts(server: SyntaxServer) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.prepare(params)

    @server.feature(lsp.INITIALIZED)
    def initialized(_: lsp.InitializedParams) -> None:
        watched = server.client_capabilities.workspace and server.client_capabilities.workspace.did_change_watched_files
        if watched and watched.dynamic_registration:
            options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher("**/*")])
            one = lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(lsp.RegistrationParams([one]))
            server.sources.is_told = True

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.sources.changed([uri_path(change.uri) for change in params.changes])

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.sources.changed([uri_path(params.text_document.uri)])

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def diagnose(params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        server.sources.changed([uri_path(uri)])
        try:
            source = server.sources.source(uri_path(uri))
        except LspMcpError:
            return
        found = await asyncio.to_thread(lambda: errors(source.parsed()))
        if (document := server.workspace.text_documents.get(uri)) is None or document.version != version:
            return  # the next change has its own
        problems = [
            lsp.Diagnostic(
                server.range(source.text, start, end), message, severity=lsp.DiagnosticSeverity.Error, source="syntax"
            )
            for start, end, message in found
        ]
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, problems, version))


def _answer_about_names(server: SyntaxServer) -> None:
    @server.answers(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def outline(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        source = server.sources.source(uri_path(params.text_document.uri))
        found = await asyncio.to_thread(server.sources.definitions, source)
        symbols = [_symbol(server, source, one) for one in found]
        for one, symbol in zip(found, symbols, strict=True):
            if one.above >= 0:
                symbols[one.above].children = [*(symbols[one.above].children or ()), symbol]
        return [symbol for one, symbol in zip(found, symbols, strict=True) if one.above < 0]

    @server.answers(lsp.WORKSPACE_SYMBOL)
    async def find_by_name(params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
        *scopes, name = _SEPARATORS.split(params.query)
        query = name.casefold()
        paths = await server.sources.having(name, part=True)

        def find() -> list[lsp.SymbolInformation]:
            found = [(s, one) for s, one in server.sources.defined(paths) if query in one.name.casefold()]
            if scopes:
                around = [(server.sources.container(s, one), (s, one)) for s, one in found if one.name == name]
                found = [one for names, one in around if names and _may_be_in(names, scopes)]
                # What is inside nothing may be in a package of that name, unless something is known to be there.
                found = found or [one for names, one in around if not names]
            found.sort(key=lambda item: item[1].name.casefold() != query)
            return [
                lsp.SymbolInformation(
                    server.location(source, one.name_start, one.name_end),
                    ".".join([*scopes, one.name]),
                    _KINDS[one.kind],
                    container_name=None if scopes else ".".join(server.sources.container(source, one)) or None,
                )
                for source, one in found[:_MOST_SYMBOLS]
            ]

        return await asyncio.to_thread(find)


def _may_be_in(container: Sequence[str], scopes: Sequence[str]) -> bool:
    """Whether a definition inside those of `container` may be in `scopes`, the first of which may be packages."""
    most = min(len(container), len(scopes))
    return [*container][len(container) - most :] == [*scopes][len(scopes) - most :]


def _answer_about_places(server: SyntaxServer) -> None:
    @server.answers(lsp.TEXT_DOCUMENT_DEFINITION)
    async def define(params: lsp.DefinitionParams) -> list[lsp.Location]:
        if (there := server.asked(params)) is None:
            return []
        source, offset, span = there
        word = source.text.slice(span)
        paths = await server.sources.having(word)

        def find() -> list[lsp.Location]:
            found = list(server.sources.named(word, paths))
            own = [(s, d) for s, d in found if s.path == source.path and d.name_start <= offset <= d.name_end]
            return [server.location(source, one.name_start, one.name_end) for source, one in own or found]

        return await asyncio.to_thread(find)

    @server.answers(lsp.TEXT_DOCUMENT_REFERENCES)
    async def refer(params: lsp.ReferenceParams) -> list[lsp.Location]:
        if (there := server.asked(params)) is None:
            return []
        source, _, span = there
        word = source.text.slice(span)
        paths = await server.sources.having(word)

        def find() -> list[lsp.Location]:
            without: set[tuple[Path, int]] = set()
            if not params.context.include_declaration:
                without = {(s.path, one.name_start) for s, one in server.sources.named(word, paths)}
            return [
                server.location(one, start, end)
                for one in server.sources.read(paths)
                for start, end in server.sources.occurrences(word, one)
                if (one.path, start) not in without
            ]

        return await asyncio.to_thread(find)

    @server.answers(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        there = server.asked(params)
        return server.range(there[0].text, *map(there[0].text.point_offset, there[2])) if there else None

    @server.answers(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        context = lsp.ReferenceContext(include_declaration=True)
        places = await refer(lsp.ReferenceParams(context, params.text_document, params.position))
        changes: dict[str, list[lsp.TextEdit]] = {}
        for place in places:
            changes.setdefault(place.uri, []).append(lsp.TextEdit(place.range, params.new_name))
        return lsp.WorkspaceEdit(changes=changes) if changes else None


def _symbol(server: SyntaxServer, source: Source, one: Definition) -> lsp.DocumentSymbol:
    whole = server.range(source.text, one.start, one.end)
    name = server.range(source.text, one.name_start, one.name_end)
    return lsp.DocumentSymbol(one.name, _KINDS[one.kind], whole, name)
