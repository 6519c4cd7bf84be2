"""Where language servers and debuggers are: on PATH, where their own installers put them, or in our folder."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace
from platformdirs import user_data_path

from lsp_mcp.adapters import Adapter, Install, Requirement
from lsp_mcp.errors import MissingProgramError

PYTHON = "{python}"  # as the first word of a command: a module of this program
_VERSION_TIMEOUT = 2.0  # seconds for a program to print its version


class Installable(Protocol):
    """A program to find, install and check: a language server or a debugger, as its adapter describes it."""

    @property
    def name(self) -> str:
        """Its name for users."""

    @property
    def title(self) -> str:
        """Its display name."""

    @property
    def command(self) -> tuple[str, ...]:
        """The program and its arguments."""

    @property
    def version_command(self) -> tuple[str, ...]:
        """The command that prints its version; empty if there is none."""

    @property
    def extra_paths(self) -> tuple[str, ...]:
        """Folders to search in addition to PATH."""

    @property
    def package_program(self) -> str:
        """The program's path if it was installed as a Python package: PACKAGE/…"""

    @property
    def requires(self) -> tuple[Requirement, ...]:
        """The programs that it depends on."""

    @property
    def install(self) -> Install | None:
        """How to install it; None if lsp-mcp cannot."""


def servers_folder() -> Path:
    """The folder where `lsp-mcp install` puts language servers."""
    return Path(os.environ.get("LSP_MCP_SERVERS") or user_data_path("lsp-mcp") / "servers")


def installed_folder(adapter: Installable) -> Path | None:
    """The folder where `lsp-mcp install` puts this server's pinned version; None if it cannot install it."""
    if adapter.install is None:
        return None
    return servers_folder() / f"{adapter.name}-{adapter.install.version}"


def remote_build(adapter: Adapter) -> Adapter | None:
    """The adapter of the build that can use a remote index, with a folder of its own; None if there is none."""
    if adapter.remote_install is None:
        return None
    return replace(adapter, name=f"{adapter.name}-remote", install=adapter.remote_install)


def remote_program(adapter: Adapter) -> Path | None:
    """The program of that build, if `lsp-mcp install NAME --remote` has installed it."""
    build = remote_build(adapter)
    folder = build and installed_folder(build)
    return installed_program(build, folder) if build and folder else None


def find_command(adapter: Adapter) -> tuple[str, ...]:
    """The adapter's command with the full path of its program; see `find_program`.

    Raises:
        MissingProgramError: it was not found.
    """
    program, arguments, own = find_program(adapter), adapter.command[1:], installed_folder(adapter)
    if adapter.install and adapter.install.run and own and program.is_relative_to(own):
        words = (word.replace("{folder}", str(own)) for word in adapter.install.run)
        return (*(word.replace("{program}", str(program)) for word in words), *arguments)
    return (str(program), *arguments)


def find_program(adapter: Adapter) -> Path:
    """The server's program.

    Searched in this order: the pinned version in our own folder, a Python package installed next to this program,
    PATH, the adapter's extra folders. Users choose any other version with a flag (`--gopls-path`).

    Raises:
        MissingProgramError: it was not found, or is too old.
    """
    own = installed_folder(adapter)
    if own and (ours := installed_program(adapter, own)):
        return ours
    program = adapter.command[0]
    if program == PYTHON:
        return Path(sys.executable)
    extra = [os.path.expandvars(Path(place).expanduser()) for place in adapter.extra_paths]
    places = [*_package_places(adapter), os.environ.get("PATH", os.defpath), *(p for p in extra if "$" not in p)]
    found = [Path(path) for place in places if (path := shutil.which(program, path=place))]
    oldest = adapter.oldest_version
    usable = next((path for path in found if not _is_too_old(oldest, tuple(version_words(adapter, path)))), None)
    if usable is None:
        reason = f"is older than {oldest}" if found else "is not installed"
        where = found[0] if found else f"looked on PATH and in {own or servers_folder()}"
        raise MissingProgramError(f"{program} {reason} ({where})")
    return usable


def installed_program(adapter: Installable, folder: Path) -> Path | None:
    """The server's program in `folder`, where `lsp-mcp install` put it; None if it does not exist."""
    if adapter.install and adapter.install.program:
        return path if (path := folder / adapter.install.program).exists() else None
    found = (shutil.which(adapter.command[0], path=place) for place in _places_in(folder, adapter))
    return next((Path(path) for path in found if path), None)


def version_words(adapter: Installable, program: Path) -> list[str]:
    """The command that prints the version of `program`; empty if there is none.

    It names the server's program, or another one, which is searched beside it and then on PATH. A Python module
    names {python}, which runs it, and {packages}, the folder of Python packages that contains it.
    """
    if not adapter.version_command:
        return []
    first, *arguments = adapter.version_command
    if adapter.install and adapter.install.run and program.is_relative_to(installed_folder(adapter) or program):
        return []  # it does not run by itself
    if first == adapter.command[0]:
        return [str(program), *arguments]
    if not first.startswith("{"):
        beside = shutil.which(first, path=str(program.parent)) or shutil.which(first)
        return [beside, *arguments] if beside else []
    values = {"{program}": str(program), PYTHON: sys.executable, "{packages}": str(program.parent.parent)}
    return [values.get(word, word) for word in adapter.version_command]


@cache
def _is_too_old(oldest: str, command: tuple[str, ...]) -> bool:
    """Whether the program whose version `command` prints is older than `oldest`; asked once per process."""
    if not oldest or not command:
        return False
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_VERSION_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False  # starting it says what is wrong
    found = re.search(r"\d+(?:\.\d+)*", done.stdout)
    return found is not None and _numbers(found[0]) < _numbers(oldest)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _places_in(folder: Path, adapter: Installable) -> list[str]:
    """Possible paths of the program in its installation folder; that of a Python package comes first."""
    return [*([str((folder / adapter.package_program).parent)] if adapter.package_program else []), str(folder)]


def _package_places(adapter: Installable) -> list[str]:
    """Its path as a package of this Python."""
    package, _, program = adapter.package_program.partition("/")
    spec = importlib.util.find_spec(package) if package else None
    return [str((Path(place) / program).parent) for place in spec.submodule_search_locations or ()] if spec else []
