"""A small, well-behaved language server for words in text files, built with pygls: not every server is gopls.

`= NAME` at the start of a line is a section, `: NAME` in it an entry; every other NAME is a use of one of them.
Run as `word_server.py FOLDER`; with `--no-names` a search by name finds nothing, with `--no-uses` none of uses.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

FOLDER = Path(sys.argv[1])
WORD = re.compile(r"\w+")
DEFINITION = re.compile(r"^([=:]) (\w+)$")

server = LanguageServer("words", "1")


def lines(uri: str) -> list[str]:
    return list(server.workspace.get_text_document(uri).lines)


def uris() -> Iterator[str]:
    for path in sorted(FOLDER.rglob("*.words")):
        yield path.as_uri()


def stretch(uri: str, line: int, start: int, end: int) -> lsp.Range:
    """A stretch of one line, from code points to what was agreed on."""
    there = lsp.Range(lsp.Position(line, start), lsp.Position(line, end))
    return server.workspace.position_codec.range_to_client_units(lines(uri), there)


def words(name: str) -> Iterator[lsp.Location]:
    for uri in uris():
        for number, line in enumerate(lines(uri)):
            for match in WORD.finditer(line):
                if match[0] == name:
                    yield lsp.Location(uri, stretch(uri, number, *match.span()))


def definitions(uri: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(lines(uri)):
        if match := DEFINITION.match(line.rstrip("\r\n")):
            yield number, match[1], match[2]


def word_at(uri: str, position: lsp.Position) -> str:
    there = server.workspace.position_codec.position_from_client_units(lines(uri), position)
    for match in WORD.finditer(lines(uri)[there.line]):
        if match.start() <= there.character <= match.end():
            return match[0]
    raise JsonRpcInvalidParams(message="no word there")


@server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
@server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
def nothing_is_wrong(params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams) -> None:
    document = params.text_document
    told = lsp.PublishDiagnosticsParams(uri=document.uri, diagnostics=[], version=document.version)
    server.text_document_publish_diagnostics(told)


@server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
def document_symbol(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    uri = params.text_document.uri
    top: list[lsp.DocumentSymbol] = []
    for line, sign, name in definitions(uri):
        whole, own = stretch(uri, line, 0, 2 + len(name)), stretch(uri, line, 2, 2 + len(name))
        kind = lsp.SymbolKind.Class if sign == "=" else lsp.SymbolKind.Field
        symbol = lsp.DocumentSymbol(name=name, kind=kind, range=whole, selection_range=own, children=[])
        if sign == "=" or not top:
            top.append(symbol)
        else:
            top[-1].children = [*(top[-1].children or ()), symbol]
        top[-1].range = lsp.Range(top[-1].range.start, whole.end)
    return top


@server.feature(lsp.WORKSPACE_SYMBOL)
def workspace_symbol(params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
    if "--no-names" in sys.argv:
        return []
    return [
        lsp.SymbolInformation(
            location=lsp.Location(uri, stretch(uri, line, 2, 2 + len(name))),
            name=name,
            kind=lsp.SymbolKind.Class if sign == "=" else lsp.SymbolKind.Field,
        )
        for uri in uris()
        for line, sign, name in definitions(uri)
        if params.query.lower() in name.lower()
    ]


@server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
    return [] if "--no-uses" in sys.argv else list(words(word_at(params.text_document.uri, params.position)))


@server.feature(lsp.TEXT_DOCUMENT_RENAME)
def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
    changes: dict[str, list[lsp.TextEdit]] = {}
    for place in words(word_at(params.text_document.uri, params.position)):
        changes.setdefault(place.uri, []).append(lsp.TextEdit(place.range, params.new_name))
    return lsp.WorkspaceEdit(changes=changes)


@server.feature(
    lsp.WORKSPACE_WILL_RENAME_FILES,
    lsp.FileOperationRegistrationOptions([lsp.FileOperationFilter(lsp.FileOperationPattern("**/*.words"), "file")]),
)
def will_rename_files(params: lsp.RenameFilesParams) -> lsp.WorkspaceEdit:
    """A word that is the name of a file follows it."""
    changes: dict[str, list[lsp.TextEdit]] = {}
    for file in params.files:
        old, new = (Path(uri).stem for uri in (file.old_uri, file.new_uri))
        for place in words(old):
            changes.setdefault(place.uri, []).append(lsp.TextEdit(place.range, new))
    return lsp.WorkspaceEdit(changes=changes)


if __name__ == "__main__":
    server.start_io()
