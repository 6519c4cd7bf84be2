"""`lsp-mcp install`: install a language server, at the version given by its adapter, into a private folder.

It is built in a temporary folder next to it, tested, and renamed at the end, so that a server is always complete or
absent. Several processes may install at once; the next one undoes what a killed one left.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import json
import os
import secrets
import shlex
import shutil
import signal
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from lsp_mcp.adapters import Install, adapter_names, load_adapter
from lsp_mcp.cli.help import console
from lsp_mcp.dap.adapter import debugger_names, load_debugger
from lsp_mcp.door.lock import lock_file
from lsp_mcp.errors import CallerError, ConfigError, MissingProgramError, SilentError, UnavailableError, unknown
from lsp_mcp.programs import Installable, find_command, installed_folder, installed_program, remote_build, version_words
from lsp_mcp.wire.process import Child, run

_LONGEST = 1800.0  # seconds for one installation
_TRY_TIMEOUT = 30.0  # seconds for the new program to print its version
_PATIENCE = 2.0  # seconds for an interrupted command to clean up
_LAST_LINES = 12  # of what a failed command said
_LINE_LENGTH = 500  # characters kept of each
_NEWS = 5.0  # seconds for which a line that it prints is shown
_INSTALLING = ".installing"  # ends the name of the folder of a running installation, which has these files:
_LOCK, _NEW, _OLD = "lock", "new", "old"

Show = Callable[[str], None]
"""Called with each line that the command prints."""


@dataclass(frozen=True)
class Installed:
    """An installed server."""

    name: str
    version: str
    program: Path
    seconds: float | None  # that it took, None when it was there already

    @property
    def sentence(self) -> str:
        """For people."""
        took = "" if self.seconds is None else f" ({self.seconds:.0f} s)"
        return f"{self.name} {self.version} is installed in {self.program.parent}{took}"


def installables() -> list[Installable]:
    """The language servers and debuggers that lsp-mcp can install."""
    every: list[Installable] = [
        *map(load_adapter, adapter_names()),
        *(load_debugger(name) for name in debugger_names()),
    ]
    return [adapter for adapter in every if adapter.install]


def list_servers(*, as_json: bool) -> None:
    """Print what can be installed, and what already is."""
    found = []
    for adapter in installables():
        if adapter.install and (folder := installed_folder(adapter)):
            there = installed_program(adapter, folder)
            found.append((adapter.name, adapter.install.version, adapter.title, str(there) if there else None))
    if as_json:
        keys = ("name", "version", "title", "program")
        click.echo(json.dumps([dict(zip(keys, row, strict=True)) for row in found], indent=2))
        return
    width = max(len(f"{name} {version}") for name, version, *_ in found)
    for name, version, title, program in found:
        state = "installed" if program else _elsewhere(name)
        click.echo(f"{f'{name} {version}':{width}}  {title}: {state}")
    click.echo("\nInstall one:  lsp-mcp install NAME", err=True)


def install_servers(names: Sequence[str], *, force: bool, remote: bool = False, as_json: bool) -> None:
    """Install the servers `names` one after the other; installed ones are skipped, unless `force` is given.

    `remote`: those of their builds that can use a remote index.

    Progress goes to stderr, the outcome to stdout. An interrupted installation changes nothing.

    Raises:
        CallerError: there is no such server, or lsp-mcp cannot install it.
        MissingProgramError: the program that installs it is missing; the message says how to get it.
        UnavailableError: the installation failed; the message ends with the last lines of its output.
    """
    installs = [_installable(name, remote=remote) for name in names]
    done = []
    for adapter, how in installs:
        folder = installed_folder(adapter)
        assert folder
        there = None if force else installed_program(adapter, folder)
        there_already = there and Installed(adapter.name, how.version, there, None)
        one = there_already or _interruptible(adapter, how, folder)
        done.append(one)
        if not as_json:
            click.echo(one.sentence)
    if as_json:
        shown = [{"name": i.name, "version": i.version, "program": str(i.program), "seconds": i.seconds} for i in done]
        click.echo(json.dumps(shown, indent=2))


def _elsewhere(name: str) -> str:
    """The state of what lsp-mcp has not installed itself."""
    if name in adapter_names():
        with contextlib.suppress(MissingProgramError):
            return f"not needed, {find_command(load_adapter(name))[0]} is used"
    return "not installed"


def _installable(name: str, *, remote: bool) -> tuple[Installable, Install]:
    if name not in (*adapter_names(), *debugger_names()):
        raise ConfigError(unknown("language server or debugger", name, [one.name for one in installables()]))
    adapter: Installable = load_debugger(name) if name in debugger_names() else load_adapter(name)
    if remote:
        build = remote_build(load_adapter(name)) if name in adapter_names() else None
        if build is None or build.install is None:
            raise CallerError(f"--remote: there is no build of {name} for --remote-index")
        return build, build.install
    if adapter.install is None:
        raise CallerError(f"lsp-mcp cannot install {name}; install {adapter.title} yourself and put it on PATH")
    return adapter, adapter.install


def _interruptible(adapter: Installable, how: Install, folder: Path) -> Installed:
    try:
        return asyncio.run(_install(adapter, how, folder))
    except (KeyboardInterrupt, asyncio.CancelledError):
        click.echo(f"interrupted; {adapter.name} is unchanged", err=True)
        sys.exit(130)


async def _install(adapter: Installable, how: Install, folder: Path) -> Installed:
    """Install into `folder`, replacing its content."""
    begun = time.monotonic()
    _stop_when_told()
    with _workshop(folder) as workshop:
        command = [_fill(word, how, workshop / _NEW) for word in how.command]
        env = {key: _fill(value, how, workshop / _NEW) for key, value in how.env.items()}
        _check_program(adapter, command[0])
        with _showing(f"{adapter.name} {how.version}", command) as show:
            await _run(adapter, command, env, workshop / _NEW, show)
            await _try(adapter, workshop / _NEW)
        _swap(workshop, folder)
    program = installed_program(adapter, folder)
    assert program
    return Installed(adapter.name, how.version, program, round(time.monotonic() - begun, 1))


def _stop_when_told() -> None:
    """Treat SIGTERM and a closed terminal as interrupts, so that an unfinished installation is removed."""
    task = asyncio.current_task()
    assert task
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def _fill(word: str, how: Install, folder: Path) -> str:
    return word.replace("{version}", how.version).replace("{folder}", str(folder))


def _check_program(adapter: Installable, program: str) -> None:
    if shutil.which(program):
        return
    get = next((need.get for need in adapter.requires if need.command[0] == program), f"put {program} on PATH")
    raise MissingProgramError(f"{adapter.name} is installed with {program}, which is missing. To get it, {get}")


async def _run(adapter: Installable, command: Sequence[str], env: dict[str, str], folder: Path, show: Show) -> None:
    """Run the installation command in `folder` to its end."""
    # Through a shell only to get stdout and stderr in one stream, in order.
    child = Child(["/bin/sh", "-c", 'exec "$@" 2>&1', "sh", *command], cwd=folder, env=env)
    last: deque[str] = deque(maxlen=_LAST_LINES)
    try:
        await child.attach()
        child.writer.close()
        try:
            async with asyncio.timeout(_LONGEST):
                async for line in _lines(child.reader):
                    last.append(line)
                    show(line)
                await child.exited.wait()
        except TimeoutError:
            raise SilentError(
                f"{adapter.name} was not installed: {shlex.join(command)} was still running after "
                f"{_LONGEST / 60:.0f} minutes{_quoted(last)}"
            ) from None
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGINT)  # many installers remove their temporary files only on this one
        await child.end(_PATIENCE)
        raise
    finally:
        child.kill()
    if child.returncode:
        raise UnavailableError(
            f"{adapter.name} was not installed: {shlex.join(command)} {child.last_words()}{_quoted(last)}"
        )


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[str]:
    """The lines of `reader`, including those that end with a carriage return, as progress bars do."""
    rest = b""
    while chunk := await reader.read(2**16):
        *lines, rest = (rest + chunk).replace(b"\r", b"\n").split(b"\n")
        rest = rest[-_LINE_LENGTH:]
        for line in lines:
            if text := line.decode("utf-8", "replace").strip():
                yield text[:_LINE_LENGTH]
    if text := rest.decode("utf-8", "replace").strip():
        yield text


async def _try(adapter: Installable, folder: Path) -> None:
    """Check that the program exists and prints its version."""
    program = installed_program(adapter, folder)
    if program is None:
        made = (adapter.install and adapter.install.program) or adapter.command[0]
        raise UnavailableError(f"{adapter.name} was not installed: the command created no {made} in {folder}")
    if command := version_words(adapter, program):
        status, output = await run(command, cwd=folder, timeout=_TRY_TIMEOUT)
        if status:
            last = _quoted(output.split("\n")[-_LAST_LINES:])
            raise UnavailableError(
                f"{adapter.name} was not installed: the new program fails with exit status {status}{last}"
            )


@contextlib.contextmanager
def _workshop(folder: Path) -> Iterator[Path]:
    """A new folder next to `folder` for one installation: its process locks it, and removes it at the end."""
    servers = folder.parent
    try:
        servers.mkdir(parents=True, exist_ok=True)
        for one in servers.glob(f".*{_INSTALLING}"):
            _tidy(one)
        workshop, lock = _new_workshop(folder)
    except OSError as error:
        raise ConfigError(
            f"{servers} cannot be written: {error.strerror}; name another folder with the variable LSP_MCP_SERVERS"
        ) from None
    try:
        yield workshop
    finally:
        os.close(lock)
        _tidy(workshop)


def _new_workshop(folder: Path) -> tuple[Path, int]:
    """The folder, and a descriptor that holds its lock. Raises OSError."""
    while True:
        # Not named by process id: those repeat, and a container that shares the folder has its own.
        workshop = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}{_INSTALLING}")
        workshop.mkdir()
        with contextlib.suppress(FileNotFoundError, BlockingIOError):  # another process has taken it for a leftover
            if lock := lock_file(str(workshop / _LOCK), fcntl.LOCK_EX | fcntl.LOCK_NB):
                (workshop / _NEW).mkdir()
                return workshop, lock


def _tidy(workshop: Path) -> None:
    """Remove an installation's folder, unless it is running; what it was replacing is put back. Raises OSError."""
    try:
        lock = lock_file(str(workshop / _LOCK), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (FileNotFoundError, BlockingIOError):
        return
    if lock is None:
        return
    old = workshop / _OLD
    folder = workshop.with_name(workshop.name[1:].removesuffix(_INSTALLING).rpartition(".")[0])
    if old.exists() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(workshop, ignore_errors=True)
    os.close(lock)


def _swap(workshop: Path, folder: Path) -> None:
    """Replace `folder` with what is in `workshop`."""
    try:
        with contextlib.suppress(FileNotFoundError):
            folder.rename(workshop / _OLD)
        (workshop / _NEW).rename(folder)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):  # else another process has just installed it, too
            raise UnavailableError(f"{folder} cannot be written: {error.strerror}; it is unchanged") from None


def _quoted(lines: Sequence[str] | deque[str]) -> str:
    return "".join(f"\n  | {line}" for line in lines)


@contextlib.contextmanager
def _showing(title: str, command: Sequence[str]) -> Any:
    """Shows progress on stderr: one updating line on a terminal, every line elsewhere."""
    if not sys.stderr.isatty():
        click.echo(f"installing {title}: {shlex.join(command)}", err=True)
        yield lambda line: click.echo(f"  {line}", err=True)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("installing {task.description}", markup=False),
        TimeElapsedColumn(),
        _OutputColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True, expand=True) as progress:
        task = progress.add_task(title, total=None, line=shlex.join(command), at=time.monotonic())
        yield lambda text: progress.update(task, line=text, at=time.monotonic())


class _OutputColumn(ProgressColumn):
    """The last line that the command printed, while it is recent."""

    def __init__(self) -> None:
        super().__init__(table_column=Column(no_wrap=True, ratio=1))

    def render(self, task: Task) -> Text:
        """See `ProgressColumn`."""
        old = time.monotonic() - task.fields["at"] > _NEWS
        return Text("working …" if old else task.fields["line"], style="dim", overflow="ellipsis")
