"""The debugger for a program, and its place on this machine."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lsp_mcp.adapters import shipped_adapters
from lsp_mcp.dap.adapter import DebugAdapter, debuggers, filled
from lsp_mcp.dap.process import SOCKET
from lsp_mcp.errors import CallerError, LspMcpError, MissingProgramError
from lsp_mcp.programs import installed_folder, installed_program

_MARKED = 64 * 1024  # bytes at the start of a compiled program in which its language leaves its mark
_INTERPRETER_TIMEOUT = 5.0  # seconds for an interpreter to say where a package is
_MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe")  # of compiled programs


def find_debugger(adapter: DebugAdapter, root: Path) -> tuple[str, ...]:
    """The command that starts it, with full paths.

    Searched in our own folder, among Python packages next to this program and of the interpreters that the workspace
    uses, on PATH, and in the adapter's extra places. Runs those interpreters: call it in a thread.

    Raises:
        MissingProgramError: it is in none of them; the message says how to get it.
    """
    how = f"lsp-mcp install {adapter.name}" if adapter.install else f"install {adapter.title} and put it on PATH"
    values: dict[str, str] = {"python": sys.executable, "socket": SOCKET}  # the path of that is made at each start
    if any("{script}" in word for word in adapter.command):
        script = _script(adapter, root)
        if script is None:
            raise MissingProgramError(f"{adapter.name} is not installed. To get it: {how}")
        values |= {"script": str(script), "packages": str(script.parent.parent)}
        return _with_program(tuple(filled(list(adapter.command), values)), adapter, how)
    own = installed_folder(adapter)
    if own and (there := installed_program(adapter, own)):
        return (str(there), *adapter.command[1:])
    return _with_program(adapter.command, adapter, how)


def found_program(adapter: DebugAdapter, root: Path) -> Path:
    """The adapter itself: its script, or its program. Raises as `find_debugger`."""
    command = find_debugger(adapter, root)
    script = _script(adapter, root) if any("{script}" in word for word in adapter.command) else None
    return script or Path(command[0])


def _with_program(command: tuple[str, ...], adapter: DebugAdapter, how: str) -> tuple[str, ...]:
    places = [os.environ.get("PATH", os.defpath)]
    places += [place for one in adapter.extra_paths if "$" not in (place := os.path.expandvars(Path(one).expanduser()))]
    found = next((path for place in places if (path := shutil.which(command[0], path=place))), None)
    if found is None:
        raise MissingProgramError(f"{command[0]} is not installed. To get it: {how}")
    return (found, *command[1:])


def _script(adapter: DebugAdapter, root: Path) -> Path | None:
    own = installed_folder(adapter)
    if own and (there := installed_program(adapter, own)):
        return there
    package, _, inside = adapter.package_program.partition("/")
    if not package:
        return None
    spec = importlib.util.find_spec(package)
    folders = [Path(place) for place in spec.submodule_search_locations or ()] if spec else []
    asked = (_package_of(adapter, program, root) for program in _interpreters(adapter, root))
    places = (folder / inside for folder in itertools.chain(folders, filter(None, asked)))
    return next((place for place in places if place.exists()), None)


def _package_of(adapter: DebugAdapter, program: str, root: Path) -> Path | None:
    """The folder of the adapter's package among those of the interpreter `program`; None if it has none.

    Asked in `root`, because a version manager (pyenv) starts a different one in each folder.
    """
    command = filled(list(adapter.package_command), {"interpreter": program})
    try:
        done = subprocess.run(
            command,
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_INTERPRETER_TIMEOUT,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    folder = done.stdout.strip()
    return Path(folder) if done.returncode == 0 and folder else None


def interpreter(adapter: DebugAdapter, root: Path) -> str | None:
    """The program that runs programs in the workspace; None to leave that to the adapter."""
    return next(_interpreters(adapter, root), None)


def _interpreters(adapter: DebugAdapter, root: Path) -> Iterator[str]:
    for template in adapter.interpreters:
        place = os.path.expandvars(template.replace("{root}", str(root)))
        if "$" not in place and (found := shutil.which(place)):
            yield found


def fitting(program: Path, name: str, root: Path) -> DebugAdapter:
    """The debugger for `program`, which callers call `name`: a source file, a folder of sources, a compiled program.

    Raises:
        CallerError: nothing can debug it.
        MissingProgramError: the debugger is not installed.
    """
    able = [adapter for adapter in debuggers() if _fits(adapter, program)]
    able.sort(key=lambda adapter: not is_marked(adapter, program))
    if not able:
        if _is_source(program):
            raise CallerError(
                f"{name} is source code of a compiled language: build it with -g -O0, and pass the program."
            )
        if program.is_file() and not os.access(program, os.X_OK):
            raise CallerError(f"{name} is neither a source file that a debugger here can run nor executable.")
        known = "; ".join(f"{one.name}: {_what(one)}" for one in debuggers())
        raise CallerError(f"no debugger for {name}; available: {known}.")
    problems = []
    for adapter in able:
        try:
            find_debugger(adapter, root)
        except LspMcpError as error:
            problems.append(error)
            continue
        return adapter
    raise problems[0]


def _fits(adapter: DebugAdapter, program: Path) -> bool:
    if program.is_dir():
        return any(next(program.glob(pattern), None) is not None for pattern in adapter.folder_files)
    if program.suffix.lower() in adapter.extensions:
        return True
    return (adapter.executables and is_compiled(program)) or is_marked(adapter, program)


def is_marked(adapter: DebugAdapter, program: Path) -> bool:
    """Whether it is a compiled program of the language that the adapter is made for."""
    if not adapter.executable_marks or not is_compiled(program):
        return False
    with program.open("rb") as file:
        start = file.read(_MARKED)
    return any(mark.encode("latin-1") in start for mark in adapter.executable_marks)


def is_compiled(program: Path) -> bool:
    """Whether it is a compiled program."""
    try:
        if not stat.S_ISREG(program.stat().st_mode) or not os.access(program, os.X_OK):
            return False
        with program.open("rb") as file:
            return file.read(4) in _MAGIC
    except OSError:
        return False


def _is_source(program: Path) -> bool:
    return any(adapter.language_of(program) is not None for adapter in shipped_adapters())


def _what(adapter: DebugAdapter) -> str:
    kinds = [*adapter.extensions, *(["compiled programs"] if adapter.executables else [])]
    return ", ".join(kinds) or "by configuration"
