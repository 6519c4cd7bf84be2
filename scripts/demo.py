"""`make demo`: a real MCP client asks the real server about a small project and a large one. See `main`."""

from __future__ import annotations

import asyncio
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import compile_commands
import msgspec
from demo_screen import SHOWN, Asker, Screen, shown
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from rich.text import Text

from lsp_mcp.adapters import Adapter, load_adapter
from lsp_mcp.errors import LspMcpError
from lsp_mcp.programs import find_command

_TOP = Path(__file__).resolve().parent.parent
_EXAMPLES = Path(__file__).with_name("demo.toml")
_PROGRAM = Path(sys.executable).with_name("lsp-mcp")
_LOAD_TIMEOUT = "300"  # seconds: on a machine that never ran the server, it first reads everything there is
_SYMBOL = re.compile(r"^\d+:(\d+)(?:-\d+)? (?:function|struct|class|interface)(?: (\w+))?(?:\| (.*))?$", re.MULTILINE)
_ANCHOR = re.compile(r"^\w+://\S+#\d+:\d+", re.MULTILINE)


class DemoError(Exception):
    """Why the demo is not possible; a message for a person."""


class Spot(msgspec.Struct, forbid_unknown_fields=True):
    """Where a text first stands in a file of a project."""

    file: str
    at: str = ""


class Large(msgspec.Struct, forbid_unknown_fields=True):
    """A large project that is there already, and what is asked about it."""

    title: str
    folder: str
    file: str
    name: str
    new_name: str
    callers: Spot
    type: Spot
    root_command: list[str] = []


class Tool(msgspec.Struct, forbid_unknown_fields=True):
    """A tool that there is for one backend only."""

    name: str
    arguments: dict[str, Any] = {}
    place: Spot | None = None


class Example(msgspec.Struct, forbid_unknown_fields=True):
    """What the demo asks about with one backend; `demo.toml` says what each field is."""

    fixture: str
    marker: str
    callers: Spot
    type: Spot
    large: Large
    name: str = ""
    tools: list[Tool] = []


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--backend", default="gopls", show_default=True, help="The language server, nvim or board.")
@click.option(
    "--project",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A project of yours instead of the small one. It is copied first, and stays as it is.",
)
def main(backend: str, project: Path | None) -> None:
    """Call each of lsp-mcp's tools, and show what a model would get.

    The exit status is 1 if an answer is an error. An incomplete answer says what it lacks.
    """
    screen = Screen()
    try:
        other = {"nvim": _through_neovim, "board": _on_the_board}.get(backend)
        if other and project:
            raise DemoError("--project is for the demo of a language server")
        asyncio.run(other(screen) if other else _demo(screen, backend, project))
    except (DemoError, LspMcpError, MCPError) as error:
        screen.console.print(Text(f"demo: {error}", "red"), soft_wrap=True)
        sys.exit(1)
    sys.exit(1 if screen.errors else 0)


async def _demo(screen: Screen, backend: str, project: Path | None) -> None:
    example = _example(backend)
    adapter = load_adapter(backend)
    find_command(adapter)  # a message now rather than an error of every answer
    with tempfile.TemporaryDirectory(prefix="lsp-mcp-demo-") as name:
        folder = Path(name).resolve()
        os.environ["LSP_MCP_CACHE"] = str(folder / "cache")  # nothing of the demo stays on this machine
        original = project.resolve() if project else _fixture(example)
        copy = folder / original.name
        shutil.copytree(original, copy, ignore=shutil.ignore_patterns(".git"))
        if backend == "clangd":
            _bring_database("compile_commands.json", original, copy)
        await _small(screen, adapter, original, copy, None if project else example)
        if root := _large_root(example.large):
            await _large(screen, adapter, example.large, root)
        else:
            screen.wrapped(f"There is no {example.large.folder} to show more on; `make demo` says why.", "yellow")
    _set_up(screen)
    screen.sum_up()


async def _through_neovim(screen: Screen) -> None:
    from demo_nvim import demo  # it also needs what only the tests need

    await demo(screen)


async def _on_the_board(screen: Screen) -> None:
    from demo_board import demo  # it needs what is optional

    await demo(screen)


async def _small(screen: Screen, adapter: Adapter, original: Path, root: Path, example: Example | None) -> None:
    """All tools on a copy of a small project, those that need a place in it only of `example`; the rename is done."""
    sources = [file for file in sorted(root.rglob("*")) if adapter.language_of(file) and file.is_file()]
    if not sources:
        raise DemoError(f"there is no file in {original} that {adapter.name} answers for")
    shown_root = original.relative_to(_TOP) if original.is_relative_to(_TOP) else original
    screen.title(f"A small project: a copy of {shown_root}, {len(sources)} files")
    async with _connected(screen, adapter.name, root) as asker:
        largest = max(sources, key=lambda file: ("test" not in file.name, file.stat().st_size))
        outline = await asker.ask("list_symbols_in_file", file_path=largest.relative_to(root).as_posix())
        name = (example.name if example else "") or _most_used(functions_and_types(outline), sources)
        found = await asker.ask("find_symbol_definitions_by_name", symbol_name=name)
        anchor = _first_anchor(found, name)
        await asker.ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
        if example:
            await _hierarchies(asker, adapter, root, example.callers, example.type)
            await _tools_of_its_own(asker, root, example.tools)
        await asker.ask("rename_symbol_by_anchor", symbol_anchor=anchor, new_name=f"{name}Renamed")
    screen.say("  What that changed on disk:", "bold")
    screen.lines(_diff(original, root, sources), 3 * SHOWN, _diff_style)


async def _large(screen: Screen, adapter: Adapter, large: Large, root: Path) -> None:
    """All tools that there are for every server on a large project; nothing is written."""
    screen.title(f"A large project: {large.title}, {root}")
    async with _connected(screen, adapter.name, root) as asker:
        await asker.ask("list_symbols_in_file", file_path=large.file)
        found = await asker.ask("find_symbol_definitions_by_name", symbol_name=large.name)
        anchor = _first_anchor(found, large.name)
        await asker.ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
        await _hierarchies(asker, adapter, root, large.callers, large.type)
        await asker.ask("rename_symbol_by_anchor", symbol_anchor=anchor, new_name=large.new_name, apply=False)


async def _hierarchies(asker: Asker, adapter: Adapter, root: Path, function: Spot, type_: Spot) -> None:
    """Who calls a function, and the types above and below a type."""
    await asker.ask("find_callers_by_anchor", symbol_anchor=_anchor(adapter, root, function), depth=2)
    await asker.ask("find_type_hierarchy_by_anchor", symbol_anchor=_anchor(adapter, root, type_))


async def _tools_of_its_own(asker: Asker, root: Path, tools: Iterable[Tool]) -> None:
    """The further tools of this server, as far as lsp-mcp offers them."""
    offered = {tool.name for tool in (await asker.client.list_tools()).tools}
    for tool in tools:
        if tool.name in offered:
            await asker.ask(tool.name, **_filled(tool.arguments, _words(root, tool.place) if tool.place else {}))


def _set_up(screen: Screen) -> None:
    """The entry for Claude Code's configuration, from the program's own command."""
    screen.title("In Claude Code")
    command = [str(_PROGRAM), "setup", "claude-code"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise DemoError(f"lsp-mcp setup claude-code failed: {done.stdout.strip()}")
    # To be pasted: not cut, not wrapped.
    screen.console.print(Text(done.stdout.rstrip()), soft_wrap=True)


@asynccontextmanager
async def _connected(screen: Screen, backend: str, root: Path) -> AsyncIterator[Asker]:
    """lsp-mcp on `root`, as Claude Code would start it, from its start to its end."""
    options = ["--backend", backend, "--workspace-root", str(root), "--format", "compact", "--log-level", "error"]
    timeouts = ["--ready-timeout", _LOAD_TIMEOUT, "--request-timeout", _LOAD_TIMEOUT]
    alone = {**os.environ, "LSP_MCP_SHARED": "0"}  # a daemon would outlive the demo's project
    server = StdioServerParameters(command=str(_PROGRAM), args=[*options, *timeouts], env=alone)
    failure: Exception | None = None
    start = perf_counter()
    async with Client(server) as client:
        screen.say(f"  connected in {shown(perf_counter() - start)}\n", "dim")
        try:
            yield Asker(screen, client)
        except Exception as error:  # noqa: BLE001 (raised below: in here the SDK would wrap it into groups)
            failure = error
    if failure:
        raise failure


# --- what to ask about -----------------------------------------------------------------------------


def _example(backend: str) -> Example:
    examples = msgspec.toml.decode(_EXAMPLES.read_bytes(), type=dict[str, Example])
    if backend not in examples:
        raise DemoError(f"no demo for {backend}; available: {', '.join(examples)}")
    return examples[backend]


def _fixture(example: Example) -> Path:
    """The small project: the folder nearest to the top of the fixtures that is one."""
    folder = _TOP / "tests" / "fixtures" / example.fixture
    markers = sorted(folder.rglob(example.marker), key=lambda marker: (len(marker.parts), marker))
    if not markers:
        raise DemoError(f"there is no project in {folder}")
    return markers[0].parent


def _bring_database(name: str, original: Path, copy: Path) -> None:
    """Make the compilation database of `copy`: that of `original` with its paths changed, or a plain one."""
    found = list(copy.rglob(name))
    for database in found:
        database.write_text(database.read_text("utf-8").replace(str(original), str(copy)), "utf-8")
    if not found:
        compile_commands.write(copy)


def _large_root(large: Large) -> Path | None:
    """The folder of the large project; None if it could not be got on this machine."""
    if not large.root_command:
        root = _TOP / large.folder
        return root if root.is_dir() else None
    try:
        printed = subprocess.run(large.root_command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise DemoError(f"`{' '.join(large.root_command)}` does not work; run: make tools") from None
    return Path(printed.strip()).resolve() / large.folder


def _anchor(adapter: Adapter, root: Path, spot: Spot) -> str:
    language = adapter.language_of(root / spot.file)
    assert language
    start = _words(root, spot)["$start"]
    return f"{language.scheme}://{spot.file}#{start['line']}:{start['character']}"


def _words(root: Path, spot: Spot) -> dict[str, Any]:
    """What $file, $start and $end stand for."""
    before, found, _ = (root / spot.file).read_text("utf-8").partition(spot.at) if spot.at else ("", "", "")
    if spot.at and not found:
        raise DemoError(f"{spot.at!r} is not in {root / spot.file}")
    return {"$file": spot.file, "$start": _position_after(before), "$end": _position_after(before + found)}


def _position_after(text: str) -> dict[str, int]:
    *lines, last = text.split("\n")
    return {"line": len(lines) + 1, "character": len(last) + 1}


def _filled(value: Any, words: dict[str, Any]) -> Any:
    """`value` with the words in it replaced, at any depth."""
    if isinstance(value, dict):
        return {key: _filled(one, words) for key, one in value.items()}
    return words.get(value, value) if isinstance(value, str) else value


def functions_and_types(outline: str) -> list[str]:
    """The names of functions and types in an answer of `list_symbols_in_file` in compact form."""
    named = (name or code[int(column) - 1 :] for column, name, code in _SYMBOL.findall(outline))  # the code may show it
    return [word[0] for one in named if (word := re.match(r"\w+", one))]


def _most_used(names: list[str], sources: Iterable[Path]) -> str:
    """The name that stands most often in the sources: its references have something to show."""
    if not names:
        raise DemoError("the outline has no function and no type to ask about")
    words = Counter(word for file in sources for word in re.findall(r"\w+", file.read_text("utf-8", "replace")))
    return max(names, key=lambda name: words[name])


def _first_anchor(answer: str, name: str) -> str:
    found = _ANCHOR.search(answer)
    if not found:
        raise DemoError(f"the definition of {name} was not found")
    return found[0]


# --- what was changed ------------------------------------------------------------------------------


def _diff(original: Path, changed: Path, files: Iterable[Path]) -> Iterator[str]:
    """The differences between two copies of a project, as `diff -u` shows them."""
    for file in files:
        name = file.relative_to(changed).as_posix()
        before, after = ((folder / name).read_text("utf-8").split("\n") for folder in (original, changed))
        yield from difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", n=0, lineterm="")


def _diff_style(line: str) -> str:
    if line.startswith(("+++", "---")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")


if __name__ == "__main__":
    main()
