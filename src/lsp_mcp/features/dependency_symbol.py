"""Definitions by name in the sources of dependencies, from their text and documentSymbol: `dependency_symbols`.

A server's own search of them is either not there, or crowds out the workspace: gopls 0.24 gives 100 symbols in all.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.features.document_symbol import document_symbols
from lsp_mcp.features.symbols import Symbol
from lsp_mcp.features.workspace_symbol import is_named

_MOST_FILES = 400  # whose outlines are asked for


async def dependency_symbols(backend: Backend, files: Iterable[Path], name: str) -> list[Symbol]:
    """The symbols called `name` in `files`, with the name of their package before their own, in the order of files.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    folder, _, last = name.rpartition("/")
    words = re.findall(r"\w+", last)
    if not words:
        return []
    having = await asyncio.to_thread(_having, list(files), words[-1].encode())
    found = []
    for path in having[:_MOST_FILES]:
        try:
            outline = await document_symbols(backend, path, opened=False)
        except (PathError, RefusedError):
            continue  # gone since it was listed, or no file of this server's
        package = path.parent.name.partition("@")[0]
        if not folder or _is_below(path, folder):
            found += [symbol for symbol in _walk(outline, package) if is_named(symbol.name, last)]
    return found


def _having(files: list[Path], word: bytes) -> list[Path]:
    whole = re.compile(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)")
    return [path for path in files if word in (content := content_or_nothing(path)) and whole.search(content)]


def _walk(symbols: Iterable[Symbol], owner: str) -> Iterator[Symbol]:
    for symbol in symbols:
        last = symbol.name.rpartition(").")[2] if ")." in symbol.name else symbol.name
        whole = f"{owner}.{last}"
        yield replace(symbol, name=whole)
        yield from _walk(symbol.children, whole)


def _is_below(path: Path, folder: str) -> bool:
    plain = re.sub(r"@[^/]*", "", path.parent.parent.as_posix())
    return plain == folder or plain.endswith(f"/{folder}")
