"""Definitions by name in the sources of dependencies, from their text and documentSymbol: `dependency_symbols`.

A server's own search in them is missing, or crowds out the workspace: gopls 0.24 returns 100 symbols in total.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.package_clause import package_clause
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.requests.workspace_symbol import is_named
from lsp_mcp.servers.plugin import Plugin

_MOST_FILES = 400  # whose outlines are requested


async def dependency_symbols(backend: Backend, files: Iterable[Path], name: str) -> list[Symbol]:
    """The symbols called `name` in `files`, prefixed with their package, in the order of files.

    The package is named by its clause or its folder; the part of `name` before the last slash must end its folder's
    path.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    above, _, last = name.rpartition("/")
    words = re.findall(r"\w+", last)
    having = await asyncio.to_thread(_having, backend.plugin, list(files), words) if words else []
    found = []
    for one in [one for one in having if one.is_below(above)][:_MOST_FILES]:
        for symbol in await _symbols(backend, one.path):
            names = (f"{package}.{symbol.name}" for package in one.packages)
            if spelled := next((name for name in names if is_named(name, last)), None):
                found.append(replace(symbol, name=spelled))
    return found


async def symbols_of_package(backend: Backend, files: Iterable[Path], name: str) -> list[Symbol]:
    """The symbols in those of `files` whose package matches the first part of `name`."""
    package, _, rest = name.rpartition("/")[2].partition(".")
    words = re.findall(r"\w+", package)
    having = await asyncio.to_thread(_having, backend.plugin, list(files), words) if words and rest else []
    ours = [one for one in having if package in one.packages][:_MOST_FILES]
    return [
        replace(symbol, name=f"{package}.{symbol.name}") for one in ours for symbol in await _symbols(backend, one.path)
    ]


class _File(Struct, frozen=True):
    """A file, the import path of its `folder`, and the name of its package."""

    path: Path
    folder: str
    packages: tuple[str, ...]

    def is_below(self, above: str) -> bool:
        parent = self.folder.rpartition("/")[0]
        return not above or parent == above or parent.endswith(f"/{above}")


def _having(plugin: Plugin, files: list[Path], words: list[str]) -> list[_File]:
    """Those of `files` that contain the last of `words` as a word, and the others there or in their path."""
    *others, last = words
    whole = re.compile(rb"(?<!\w)" + re.escape(last.encode()) + rb"(?!\w)")
    having, folders = [], dict[Path, str]()
    for path in files:
        content = content_or_nothing(path)
        if last.encode() not in content or not whole.search(content):
            continue
        if path.parent not in folders:
            folders[path.parent] = _import_path(plugin, path.parent)
        folder = folders[path.parent]
        if all(word in folder or word.encode() in content for word in others):
            clause = package_clause(plugin, path, content.decode("utf-8", "replace"))
            called = folder.rpartition("/")[2]
            having.append(_File(path, folder, (clause["name"], called) if clause else (called,)))
    return having


async def _symbols(backend: Backend, path: Path) -> list[Symbol]:
    try:
        return list(_walk(await document_symbols(backend, path, opened=False), ""))
    except (PathError, RefusedError):
        return []  # gone since it was listed, or not a file of this server


def _import_path(plugin: Plugin, folder: Path) -> str:
    """The path by which `folder` is imported: without the version in its name, with its capital letters."""
    path, rules, packages = folder.as_posix(), plugin.visibility, plugin.renaming.packages
    if rules and rules.version_mark and rules.version_mark in path:
        path = re.sub(rf"{re.escape(rules.version_mark)}[^/]*", "", path)
    elif packages:  # the folder may have another name
        for above in (folder, *folder.parents):
            content = content_or_nothing(above / packages.module_file).decode("utf-8", "replace")
            if found := re.search(packages.module_pattern, content, re.M):
                return f"{found['path']}/{folder.relative_to(above).as_posix()}".removesuffix("/.")
    if rules and rules.capital_mark:
        path = re.sub(rf"{re.escape(rules.capital_mark)}([a-z])", lambda found: found[1].upper(), path)
    return path


def _walk(symbols: Iterable[Symbol], owner: str) -> Iterator[Symbol]:
    for symbol in symbols:
        last = symbol.name.rpartition(").")[2] if ")." in symbol.name else symbol.name
        whole = f"{owner}.{last}" if owner else last
        yield replace(symbol, name=whole)
        yield from _walk(symbol.children, whole)
