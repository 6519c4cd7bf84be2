"""Where language servers and debuggers lie: on PATH, where their own installers put them, or in our folder."""

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
    """What is found, installed and looked at: a language server or a debugger, as its adapter describes it."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def title(self) -> str:
        """What it is."""

    @property
    def command(self) -> tuple[str, ...]:
        """The program and its arguments."""

    @property
    def version_command(self) -> tuple[str, ...]:
        """Prints its version; empty: nothing does."""

    @property
    def extra_paths(self) -> tuple[str, ...]:
        """Folders beside those of PATH."""

    @property
    def package_program(self) -> str:
        """Where the program lies if it came as a Python package: PACKAGE/…"""

    @property
    def requires(self) -> tuple[Requirement, ...]:
        """The programs that it needs itself."""

    @property
    def install(self) -> Install | None:
        """How it is got; None if only its users can."""


def servers_folder() -> Path:
    """The folder that `lsp-mcp install` puts language servers in."""
    return Path(os.environ.get("LSP_MCP_SERVERS") or user_data_path("lsp-mcp") / "servers")


def installed_folder(adapter: Installable) -> Path | None:
    """The folder that `lsp-mcp install` puts this server's pinned version in; None if it can't install it."""
    if adapter.install is None:
        return None
    return servers_folder() / f"{adapter.name}-{adapter.install.version}"


def find_command(adapter: Installable) -> tuple[str, ...]:
    """The adapter's command with the full path of its program.

    Looked for in this order: the pinned version in our own folder, a Python package installed beside this program,
    PATH, the adapter's extra places. A version that the user chose otherwise is named with a flag (`--gopls-path`).

    Raises:
        MissingProgramError: it is in none of them.
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
    """The server's program in `folder`, where `lsp-mcp install` put it; None if it isn't there."""
    if adapter.install and adapter.install.program:
        return path if (path := folder / adapter.install.program).exists() else None
    found = (shutil.which(adapter.command[0], path=place) for place in _places_in(folder, adapter))
    return next((Path(path) for path in found if path), None)


def version_words(adapter: Installable, program: Path) -> list[str]:
    """The command that prints the version of `program`; empty if there is none.

    What is no program by itself names {python}, which runs it, and {packages}, the folder of Python packages it is in.
    """
    if not adapter.version_command:
        return []
    if not adapter.version_command[0].startswith("{"):
        return [str(program), *adapter.version_command[1:]]
    values = {"{program}": str(program), "{python}": sys.executable, "{packages}": str(program.parent.parent)}
    return [values.get(word, word) for word in adapter.version_command]


def _places_in(folder: Path, adapter: Installable) -> list[str]:
    """Where the program may lie in a folder that it was installed into; first where it lies as a Python package."""
    return [*([str((folder / adapter.package_program).parent)] if adapter.package_program else []), str(folder)]


def _package_places(adapter: Installable) -> list[str]:
    """Where it lies as a package of this Python."""
    package, _, program = adapter.package_program.partition("/")
    spec = importlib.util.find_spec(package) if package else None
    return [str((Path(place) / program).parent) for place in spec.submodule_search_locations or ()] if spec else []
