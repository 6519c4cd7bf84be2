"""Where language servers and debuggers are: on PATH, where their own installers put them, or in our folder."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Protocol

from platformdirs import user_data_path

from lsp_mcp.adapters import Install, Requirement
from lsp_mcp.errors import MissingProgramError


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


def find_command(adapter: Installable) -> tuple[str, ...]:
    """The adapter's command with the full path of its program.

    Searched in this order: the pinned version in our own folder, a Python package installed next to this program,
    PATH, the adapter's extra folders. Users choose any other version with a flag (`--gopls-path`).

    Raises:
        MissingProgramError: it was not found.
    """
    program, *arguments = adapter.command
    own = installed_folder(adapter)
    extra = [os.path.expandvars(Path(place).expanduser()) for place in adapter.extra_paths]
    places = [
        *(_places_in(own, adapter) if own else []),
        *_package_places(adapter),
        os.environ.get("PATH", os.defpath),
        *(p for p in extra if "$" not in p),
    ]
    found = next((path for place in places if (path := shutil.which(program, path=place))), None)
    if found is None:
        raise MissingProgramError(f"{program} is not installed (looked on PATH and in {own or servers_folder()})")
    return (found, *arguments)


def installed_program(adapter: Installable, folder: Path) -> Path | None:
    """The server's program in `folder`, where `lsp-mcp install` put it; None if it does not exist."""
    if adapter.install and adapter.install.program:
        return path if (path := folder / adapter.install.program).exists() else None
    found = (shutil.which(adapter.command[0], path=place) for place in _places_in(folder, adapter))
    return next((Path(path) for path in found if path), None)


def version_words(adapter: Installable, program: Path) -> list[str]:
    """The command that prints the version of `program`; empty if there is none.

    A Python module names {python}, which runs it, and {packages}, the folder of Python packages that contains it.
    """
    if not adapter.version_command:
        return []
    if not adapter.version_command[0].startswith("{"):
        return [str(program), *adapter.version_command[1:]]
    values = {"{program}": str(program), "{python}": sys.executable, "{packages}": str(program.parent.parent)}
    return [values.get(word, word) for word in adapter.version_command]


def _places_in(folder: Path, adapter: Installable) -> list[str]:
    """Possible paths of the program in its installation folder; that of a Python package comes first."""
    return [*([str((folder / adapter.package_program).parent)] if adapter.package_program else []), str(folder)]


def _package_places(adapter: Installable) -> list[str]:
    """Its path as a package of this Python."""
    package, _, program = adapter.package_program.partition("/")
    spec = importlib.util.find_spec(package) if package else None
    return [str((Path(place) / program).parent) for place in spec.submodule_search_locations or ()] if spec else []
