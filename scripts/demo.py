"""`make demo`: the real server, asked by a real MCP client, about a small project and a large one. See `main`."""

from __future__ import annotations

import asyncio
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import click
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from rich.console import Console
from rich.text import Text

from lsp_mcp.adapters import Adapter, load_adapter
from lsp_mcp.errors import LspMcpError
from lsp_mcp.lsp.programs import find_command

_TOP = Path(__file__).resolve().parent.parent
_PROGRAM = Path(sys.executable).with_name("lsp-mcp")
_SHOWN = 8  # lines of an answer that are printed
_QUIET = 1.0  # seconds before a wait is shown
_LOAD_TIMEOUT = "300"  # seconds: on a machine that never ran the server, it first reads everything there is
_SYMBOL = re.compile(r"^\d+:\d+ (?:function|struct|class|interface) (\w+)", re.MULTILINE)
_ANCHOR = re.compile(r"^\w+://\S+#\d+:\d+", re.MULTILINE)


class DemoError(Exception):
    """Why the demo cannot be shown; a message for a person."""


@dataclass(frozen=True)
class Library:
    """A large project that comes with the language's own tools, and what is asked about it."""

    title: str
    root_command: tuple[str, ...]  # prints the folder of the installation
    sources: str  # in that folder
    file: str
    name: str
    new_name: str


@dataclass(frozen=True)
class Example:
    """What the demo asks about with one backend."""

    fixture: str  # below tests/fixtures
    marker: str  # the file that makes a folder a project
    library: Library


EXAMPLES = {
    "gopls": Example(
        fixture="go",
        marker="go.mod",
        library=Library(
            title="the Go standard library",
            root_command=("go", "env", "GOROOT"),
            sources="src",
            file="bufio/scan.go",
            name="saferio.ReadData",
            new_name="ReadBytes",
        ),
    )
}


@dataclass
class Screen:
    """What is printed, at any width; without colour where nobody sees it."""

    console: Console = field(default_factory=lambda: Console(highlight=False))
    answers: int = 0
    failures: int = 0

    def say(self, text: str, style: str = "") -> None:
        """Print `text`, cut at the edge of the screen."""
        self.console.print(Text(text, style), no_wrap=True, overflow="ellipsis")

    def wrapped(self, text: str, style: str) -> None:
        """Print `text` whole, indented."""
        for line in textwrap.wrap(text, self.console.width - 2):
            self.say(f"  {line}", style)

    def title(self, text: str) -> None:
        """Print a headline."""
        self.say(f"\n{text}\n", "bold cyan")

    def lines(self, lines: Iterable[str], most: int, style: Any = None) -> None:
        """Print the first `most` lines, and how many there are besides; `style(line)` is a line's style."""
        every = list(lines)
        # One line alone is not worth hiding.
        shown = every if len(every) <= most + 1 else every[:most]
        for line in shown:
            self.say(f"    {line}", style(line) if style else "")
        if more := len(every) - len(shown):
            self.say(f"    … {more:,} more lines", "dim")

    @contextmanager
    def waiting(self, text: str) -> Iterator[Any]:
        """Show what is waited for, if it lasts over a second; yields an MCP progress callback."""
        status = self.console.status(f"{text} …")
        start = perf_counter()
        told = text

        async def progress(_done: float, _total: float | None, message: str | None) -> None:
            nonlocal told
            told = message or told

        async def tick() -> None:
            await asyncio.sleep(_QUIET)
            status.start()
            while True:
                status.update(f"{told} … {perf_counter() - start:.0f} s")
                await asyncio.sleep(_QUIET)

        ticking = asyncio.create_task(tick()) if self.console.is_terminal else None
        try:
            yield progress
        finally:
            if ticking:
                ticking.cancel()
            status.stop()


@dataclass
class Asker:
    """Asks one running server, and shows questions and answers."""

    screen: Screen
    client: Client

    async def ask(self, tool: str, **arguments: Any) -> str:
        """The text of the answer; an error or an incomplete answer is shown as such and counted."""
        words = " ".join(
            f"{key}={str(value).lower() if value in (True, False) else value}" for key, value in arguments.items()
        )
        self.screen.say(f"  {tool}", "bold")
        self.screen.say(f"    {words}", "dim")
        start = perf_counter()
        with self.screen.waiting(tool) as progress:
            result = await self.client.call_tool(tool, arguments, progress_callback=progress)
        seconds = perf_counter() - start
        text = "\n".join(block.text for block in result.content if block.type == "text")
        self._show(text, seconds, is_error=bool(result.is_error))
        return "" if result.is_error else text

    def _show(self, text: str, seconds: float, *, is_error: bool) -> None:
        message, _, rest = text.partition("\n")
        status, _, body = rest.partition("\n")
        complete = not is_error and status.startswith("status: complete")
        self.screen.answers += 1
        self.screen.failures += not complete
        self.screen.lines(body.split("\n") if body else [], _SHOWN)
        colour = "green" if complete else "yellow"
        if is_error:
            self.screen.wrapped(f"ERROR: {text}", "red")
        else:
            self.screen.wrapped(message, colour)
            self.screen.wrapped(status, colour)
        self.screen.say(f"  in {_shown(seconds)}\n", "dim")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--backend", default="gopls", show_default=True, help="The language server.")
@click.option(
    "--project",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A project of yours instead of the small one. It is copied first, and stays as it is.",
)
def main(backend: str, project: Path | None) -> None:
    """Ask lsp-mcp with each of its tools, and show what a model would get.

    The exit status is 1 if an answer is an error or incomplete.
    """
    screen = Screen()
    try:
        asyncio.run(_demo(screen, backend, project))
    except (DemoError, LspMcpError, MCPError) as error:
        screen.console.print(Text(f"demo: {error}", "red"), soft_wrap=True)
        sys.exit(1)
    sys.exit(1 if screen.failures else 0)


async def _demo(screen: Screen, backend: str, project: Path | None) -> None:
    example = EXAMPLES.get(backend)
    if example is None:
        raise DemoError(f"there is no demo for {backend}; there is one for: {', '.join(EXAMPLES)}")
    adapter = load_adapter(backend)
    find_command(adapter)  # a message now rather than an error of every answer
    with tempfile.TemporaryDirectory(prefix="lsp-mcp-demo-") as folder:
        original = project or _fixture(example)
        copy = Path(folder).resolve() / original.name
        shutil.copytree(original, copy, ignore=shutil.ignore_patterns(".git"))
        await _small(screen, adapter, original, copy)
    await _large(screen, backend, example.library)
    _set_up(screen)
    good = screen.answers - screen.failures
    screen.title(f"{good} of {screen.answers} answers are complete.")


async def _small(screen: Screen, adapter: Adapter, original: Path, root: Path) -> None:
    """All four tools on a copy of a small project; the rename is really done."""
    sources = [file for file in sorted(root.rglob("*")) if adapter.language_of(file) and file.is_file()]
    if not sources:
        raise DemoError(f"there is no file in {original} that {adapter.name} answers for")
    shown = original.relative_to(_TOP) if original.is_relative_to(_TOP) else original
    screen.title(f"A small project: a copy of {shown}, {len(sources)} files")
    async with _connected(screen, adapter.name, root) as asker:
        largest = max(sources, key=lambda file: ("test" not in file.name, file.stat().st_size))
        outline = await asker.ask("list_symbols_in_file", file_path=largest.relative_to(root).as_posix())
        name = _most_used(_SYMBOL.findall(outline), sources)
        found = await asker.ask("find_symbol_definitions_by_name", symbol_name=name)
        anchor = _first_anchor(found, name)
        await asker.ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
        await asker.ask("rename_symbol_by_anchor", symbol_anchor=anchor, new_name=f"{name}Renamed")
    screen.say("  What that changed on disk:", "bold")
    screen.lines(_diff(original, root, sources), 3 * _SHOWN, _diff_style)


async def _large(screen: Screen, backend: str, library: Library) -> None:
    """All four tools on a large project; nothing is written."""
    root = _library_root(library)
    screen.title(f"A large project: {library.title}, {root}")
    async with _connected(screen, backend, root) as asker:
        await asker.ask("list_symbols_in_file", file_path=library.file)
        found = await asker.ask("find_symbol_definitions_by_name", symbol_name=library.name)
        anchor = _first_anchor(found, library.name)
        await asker.ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
        await asker.ask("rename_symbol_by_anchor", symbol_anchor=anchor, new_name=library.new_name, apply=False)


def _set_up(screen: Screen) -> None:
    """What comes into Claude Code's configuration, by the program's own command."""
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
    server = StdioServerParameters(command=str(_PROGRAM), args=[*options, *timeouts], env=dict(os.environ))
    failure: Exception | None = None
    start = perf_counter()
    async with Client(server) as client:
        screen.say(f"  connected in {_shown(perf_counter() - start)}\n", "dim")
        try:
            yield Asker(screen, client)
        except Exception as error:  # noqa: BLE001 (raised below: in here the SDK would wrap it into groups)
            failure = error
    if failure:
        raise failure


def _shown(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


# --- what to ask about -----------------------------------------------------------------------------


def _fixture(example: Example) -> Path:
    """The small project: the folder nearest to the top of the fixtures that is one."""
    folder = _TOP / "tests" / "fixtures" / example.fixture
    markers = sorted(folder.rglob(example.marker), key=lambda marker: (len(marker.parts), marker))
    if not markers:
        raise DemoError(f"there is no project in {folder}")
    return markers[0].parent


def _library_root(library: Library) -> Path:
    try:
        printed = subprocess.run(library.root_command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise DemoError(f"`{' '.join(library.root_command)}` does not work; run: make tools") from None
    return Path(printed.strip()).resolve() / library.sources


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
