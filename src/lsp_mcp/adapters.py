"""What is true of one named language server, as checked data: `Adapter`, read from `adapters/lsp/*.toml`.

No code in this program names a language server; each field below says where it is used.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, cast, get_args

import msgspec

from lsp_mcp.data import data_folder
from lsp_mcp.errors import ConfigError, RefusedError
from lsp_mcp.text import CodeUnit, PositionEncoding


class _Data(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, dict=True):
    """A table of an adapter file: unknown keys and wrong types are errors that name the key."""


class Language(_Data, frozen=True):
    """A language that the server answers for."""

    id: str  # LSP's `languageId`
    name: str  # for people
    scheme: str  # of its anchors
    extensions: tuple[str, ...]  # with the dot
    keywords: frozenset[str] = frozenset()  # words that are no identifiers


class Requirement(_Data, frozen=True):
    """A program that the server itself needs."""

    command: tuple[str, ...]  # prints its version
    get: str  # how a person gets it


class Workspace(_Data, frozen=True):
    """What lies in a workspace of this server."""

    root_markers: tuple[str, ...] = ()
    ignored_folders: tuple[str, ...] = (".git",)  # names of folders that are not watched
    dependency_folder_names: tuple[str, ...] = ()  # folders of dependencies' sources: read, never written
    dependency_folders_command: tuple[str, ...] = ()  # prints one readable folder a line


class Projects(_Data, frozen=True):
    """How a workspace falls into projects (Go modules, packages …) that the server loads one by one."""

    marker: str  # the file name that makes its folder a project
    name_pattern: str  # its first group is the project's name in the marker file
    joined_by: str = ""  # the file that joins projects into one; it names their folders
    join_hint: str = ""  # the command that makes it; {folders} are the projects' folders
    implied: tuple[str, ...] = ()  # names of projects that every other one uses without naming them
    ignored_folders: tuple[str, ...] = ()  # name patterns of folders that hold no project
    check_command: tuple[str, ...] = ()  # run in the project's folder: fails with a reason if it cannot be loaded
    excluded_command: tuple[str, ...] = ()  # given folders: prints the source files in them that the build leaves out
    open_to_load: bool = False  # the server knows a project only while one of its files is open


class Changes(_Data, frozen=True):
    """What the server doesn't do by itself when it is told that source files were created or changed."""

    load_request: str = ""  # asked about each such file, so that the server loads the package that it is now in
    load_most: int = 0  # of more files at once than this, the workspace folder is taken away and given again


class Positions(_Data, frozen=True):
    """How the server counts."""

    offers: tuple[CodeUnit, ...] = ("utf-32", "utf-8", "utf-16")  # sent as `positionEncodings`, best first
    lone_cr_ends_line: bool = True


class Ready(_Data, frozen=True):
    """The signal that the server knows the whole workspace."""

    progress_title: str = ""  # of the `$/progress` that must have begun and ended; empty: ready when initialized


class Symbols(_Data, frozen=True):
    """What the server's symbols look like."""

    member_pattern: str = ""  # groups `owner` and `member`: a symbol named so belongs to its sibling `owner`
    workspace_symbol_cap: int | None = None  # the most results of one workspace/symbol, None: no cap


class Settings(_Data, frozen=True):
    """The answer to `workspace/configuration`."""

    section: str = ""
    values: dict[str, Any] = {}


class Install(_Data, frozen=True):
    """How `lsp-mcp install` gets the server. {version} and {folder} are filled in."""

    version: str
    command: tuple[str, ...]
    env: dict[str, str] = {}


class Adapter(_Data, frozen=True):
    """All that this program knows of one language server."""

    name: str
    title: str
    command: tuple[str, ...]
    languages: tuple[Language, ...]
    version_command: tuple[str, ...] = ()
    extra_paths: tuple[str, ...] = ()
    requires: tuple[Requirement, ...] = ()
    workspace: Workspace = Workspace()
    projects: Projects | None = None
    changes: Changes = Changes()
    positions: Positions = Positions()
    ready: Ready = Ready()
    symbols: Symbols = Symbols()
    settings: Settings = Settings()
    initialization_options: dict[str, Any] = {}
    install: Install | None = None

    def language_of(self, path: Path) -> Language | None:
        """The language of `path` by its extension, None when this server doesn't answer for it."""
        return self._by_extension.get(path.suffix.lower()) or self._by_extension.get(path.suffix)

    def encoding(self, unit: str) -> PositionEncoding:
        """How the server counts once it has agreed on `unit` (LSP 3.17, `PositionEncodingKind`).

        Raises:
            RefusedError: it counts in something that it was not offered.
        """
        if unit not in get_args(CodeUnit):
            raise RefusedError(f"{self.name} counts positions in {unit!r}; it was offered {self.positions.offers}")
        return PositionEncoding(cast("CodeUnit", unit), self.positions.lone_cr_ends_line)

    @cached_property
    def extensions(self) -> tuple[str, ...]:
        """Every extension that the server answers for."""
        return tuple(self._by_extension)

    @cached_property
    def _by_extension(self) -> dict[str, Language]:
        return {extension: language for language in self.languages for extension in language.extensions}


Kind = Literal["lsp"]


def adapter_names(kind: Kind = "lsp") -> list[str]:
    """The names of all shipped adapters, sorted."""
    return sorted(path.stem for path in (data_folder("adapters") / kind).glob("*.toml"))


@cache
def load_adapter(name: str) -> Adapter:
    """The shipped adapter `name`.

    Raises:
        ConfigError: there is none of that name, or its file is wrong.
    """
    path = data_folder("adapters") / "lsp" / f"{name}.toml"
    if name not in adapter_names():
        raise ConfigError(f"there is no backend {name!r}; there is: {', '.join(adapter_names())}")
    return read_adapter(path)


def read_adapter(path: Path) -> Adapter:
    """The adapter in the file `path`.

    Raises:
        ConfigError: the file is no TOML, or a key is unknown, missing or of the wrong type; the message names it.
    """
    try:
        adapter = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Adapter)
        for pattern in (
            adapter.symbols.member_pattern,
            adapter.projects.name_pattern if adapter.projects else "",
        ):
            re.compile(pattern)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError, re.error) as error:
        raise ConfigError(f"the adapter {path.name} cannot be used: {error}") from None
    return adapter
