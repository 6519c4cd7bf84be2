"""What a server finds, the words find as well: each use of each symbol of the two sample projects is such a place."""

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fakes.bounded import bounded
from lsp_mcp.adapters import load_adapter
from lsp_mcp.disk.feed import FeedHub
from lsp_mcp.disk.files import Files
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.lsp.session import Session, SessionOptions
from lsp_mcp.programs import find_command
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.uris import path_uri, uri_path
from lsp_mcp.words.visibility import Role, Symbol
from lsp_mcp.workspace import Workspace

FIXTURES = Path(__file__).parent.parent / "fixtures"
TYPES, MEMBERS = (5, 10, 11, 23), (6, 7, 8, 9, 22)  # LSP 3.17, `SymbolKind`


def outlined(symbols: Iterable[Any], owner: Any = None) -> Iterable[tuple[Any, Any]]:
    """Each symbol of an outline, and the one that it is in."""
    for symbol in symbols:
        yield symbol, owner
        yield from outlined(symbol.get("children") or (), symbol)


def role_of(symbol: Any, owner: Any) -> Role:
    if symbol["kind"] in MEMBERS or (owner and owner["kind"] in TYPES):
        return "member"
    return "type" if symbol["kind"] in TYPES else "value"


@pytest.mark.parametrize(("server", "folder"), [("gopls", "go"), ("clangd", "cpp")])
@bounded
async def test_every_use_that_a_server_knows_is_a_word_in_code_that_can_see_the_symbol(
    tmp_path: Path, server: str, folder: str
) -> None:
    adapter = load_adapter(server)
    try:
        find_command(adapter)
    except MissingProgramError as error:
        pytest.skip(f"{server}: {error}")
    root = Path(shutil.copytree(FIXTURES / folder, tmp_path / "root")).resolve()
    sources = sorted(path for path in root.rglob("*") if path.is_file() and adapter.language_of(path))
    if server == "clangd":
        flags = {".c": "-Iinclude", ".cpp": "-std=c++20 -Iinclude"}
        compiled = [path for path in sources if path.suffix in flags]
        commands = [
            {"directory": str(root), "file": str(path), "command": f"cc {flags[path.suffix]} -c {path}"}
            for path in compiled
        ]
        (root / "compile_commands.json").write_text(json.dumps(commands), "utf-8")
    hub = FeedHub(root, [])
    session = Session(plugin_of(adapter), Workspace(root), Files(), hub.feed(), SessionOptions())
    asked = excluded = 0

    async def ask(method: str, path: Path, position: Any = None, **more: Any) -> Any:
        params = {"textDocument": {"uri": path_uri(path)}, "position": position, **more}
        return await session.request(f"textDocument/{method}", {k: v for k, v in params.items() if v}) or []

    async def report(*_: object) -> None:
        pass

    def places(locations: Any) -> set[tuple[Path, int, int]]:
        starts = [(uri_path(one["uri"]), one["range"]["start"]) for one in locations]
        return {(path, start["line"], start["character"]) for path, start in starts}

    try:
        session.begin()
        await session.ready(report)
        for path in sources:
            await session.sync()
            await session.documents.open(path)
            for symbol, owner in outlined(await ask("documentSymbol", path)):
                start = symbol["selectionRange"]["start"]
                text = await session.documents.text(path)
                name = text.slice(text.range_span(symbol["selectionRange"], session.encoding))
                uses = places(await ask("references", path, start, context={"includeDeclaration": True}))
                defined = places(await ask("definition", path, start)) | {(path, start["line"], start["character"])}
                declared = tuple(sorted({one[0] for one in defined}))
                words = re.findall(r"\w+", owner["name"]) if owner else [""]
                having = (await session.words.files_with(name)).files
                shown = Symbol(name, declared, role_of(symbol, owner), words[-1])
                seeing = await session.words.that_can_see(having, shown)
                excluded += len(having) - len(seeing)
                for file, line, character in uses:
                    if not file.is_relative_to(root):
                        continue
                    there = await session.documents.text(file)
                    point = there.position_point({"line": line, "character": character}, session.encoding)
                    if not there.content.startswith(name, there.point_offset(point)):
                        continue  # spelled otherwise: by a macro, or not at all
                    asked += 1
                    if file not in seeing:
                        # A server counts what is called by way of an interface; that is another symbol's name.
                        position = {"line": line, "character": character}
                        assert not defined & places(await ask("definition", file, position)), (name, file)
                    found = await session.words.occurrences(file, there, name)
                    assert point in [span.start for span in found], (name, file, point)
    finally:
        await session.close()
        hub.close()
    assert asked > 100
    assert excluded > 0
