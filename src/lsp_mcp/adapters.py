"""The facts about one language server, as checked data: `Adapter`, read from `adapters/lsp/*.toml`.

Users can add adapters in a folder of their own. A field is what a person would set; what only one server needs is code
in `servers`, which an adapter cannot name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Container, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, cast, get_args

import msgspec
import platformdirs
from msgspec.structs import replace

from lsp_mcp.data import data_folder
from lsp_mcp.errors import ConfigError, RefusedError, unknown
from lsp_mcp.file_kinds import SCRIPT, kind_of
from lsp_mcp.text import CodeUnit, PositionEncoding


class Data(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, dict=True):
    """A table of an adapter file: unknown keys and wrong types are errors that name the key."""


class Lexing(Data, frozen=True):
    """Which parts of a text are not code: patterns for Python's `re` with MULTILINE and named groups."""

    comment: str = "(?!)"
    string: str = "(?!)"  # string literals, and anything else whose words name no symbol
    naming: str = ""  # comments and strings whose words may name symbols
    # Text directly before (or after) a word that proves that the word is used there, not declared.
    before_use: str = ""
    after_use: str = ""
    # Text around a word, which is written as \0, that proves the same where nothing but a definition counts.
    around_use: str = ""


class Language(Data, frozen=True):
    """A language that the server supports."""

    id: str  # LSP's `languageId`
    name: str  # display name
    scheme: str  # the scheme of its anchors
    extensions: tuple[str, ...]  # file extensions, with the dot
    # Whole names of files: `Makefile`, and with any extension: `Dockerfile.*`.
    file_names: tuple[str, ...] = ()
    # Programs that run scripts without an extension, as their first line names them, without a version: `bash`.
    interpreters: tuple[str, ...] = ()
    keywords: frozenset[str] = frozenset()  # reserved words, which cannot be identifiers
    name_prefixes: str = ""  # characters that servers count as part of a name, so an anchor may point at one
    line_comment: str = ""  # starts a line comment
    block_comment: tuple[str, ...] = ()  # starts and ends a block comment
    lead_pattern: str = ""  # part of a declaration that precedes the symbol's range; the match ends at the range
    blocks: Literal["braces", "indented"] = "braces"  # how a body is delimited: braces or indentation
    lexing: Lexing | None = None
    kinds_spelled: bool = False  # `WordCheck.kind_pattern` matches before each use of what is declared like that
    generator_pattern: str = ""  # the beginning of a source that a generator will write again

    @property
    def kinds(self) -> tuple[str, ...]:
        """What its files are told by, see `file_kinds`."""
        return (*self.extensions, *self.file_names, *(f"{SCRIPT}{program}" for program in self.interpreters))

    def without(self, kinds: Container[str]) -> Language:
        """This language without files of these `kinds`."""
        return replace(
            self,
            extensions=tuple(one for one in self.extensions if one not in kinds),
            file_names=tuple(one for one in self.file_names if one not in kinds),
            interpreters=tuple(one for one in self.interpreters if f"{SCRIPT}{one}" not in kinds),
        )


class Requirement(Data, frozen=True):
    """A program that the server depends on."""

    command: tuple[str, ...]  # prints its version
    get: str  # how to install it
    trial_command: tuple[str, ...] = ()  # run in the workspace root, fails with the reason why the program cannot work


class Workspace(Data, frozen=True):
    """The layout of a workspace for this server."""

    root_markers: tuple[str, ...] = ()  # files that mark a workspace root; the server is chosen where one exists
    # Names of folders that are not watched; NAME/FILE: only those with that file in them.
    ignored_folders: tuple[str, ...] = (".git",)
    generated_pattern: str = ""  # paths of sources that build tools generate for their own use; left out of answers
    dependency_folder_names: tuple[str, ...] = ()  # folders with dependencies' sources: read-only
    dependency_folders_command: tuple[str, ...] = ()  # prints folders that may be read, one per line
    dependency_files_command: tuple[str, ...] = ()  # prints the workspace's dependency source files, one per line


class Positions(Data, frozen=True):
    """How the server counts lines and characters."""

    offers: tuple[CodeUnit, ...] = ("utf-32", "utf-8", "utf-16")  # sent as `positionEncodings`, best first
    lone_cr_ends_line: bool = True


class Ready(Data, frozen=True):
    """The signal that the server has loaded the whole workspace."""

    progress_title: str = ""  # the `$/progress` that must have started and ended; empty: ready once initialized
    # The notification with `quiescent`, whether the server has loaded the workspace, and `health`, instead of that.
    status_notification: str = ""
    log_pattern: str = ""  # the line of its log that says so, instead of those

    @property
    def work(self) -> str:
        """The title of the work that ends when the server is ready; empty if it never says so."""
        return self.progress_title or ("loading the workspace" if self.status_notification or self.log_pattern else "")


class Rename(Data, frozen=True):
    """What the server overlooks when it renames."""

    check: bool = False  # it misses uses and clashes, so its edits are compared with references and existing names


class Actions(Data, frozen=True):
    """The server's code actions, as far as callers may run them."""

    commands: tuple[str, ...] = ()  # commands that only produce edits; no others are executed
    hidden: tuple[str, ...] = ()  # kinds of actions that do not change sources, but show something in an editor
    style_files: tuple[str, ...] = ()  # files that define the code style; without one, code is not formatted


class Tests(Data, frozen=True):
    """How tests are recognized and run, and which other functions run without a caller. Patterns for Python's `re`."""

    file_pattern: str = ""  # paths of test files, from the workspace root
    function_pattern: str = ""  # names of test functions, as in a call hierarchy
    attribute_pattern: str = ""  # a line before a function that makes it a test
    region_pattern: str = ""  # a line before a declaration that exists for tests only, with all that is in it
    name_pattern: str = ""  # a test's full name; its groups, joined by `.`, are the runner's name for it
    run: str = ""  # runs some tests: {folder} is relative to the project, {names} are joined by `names_joined`
    run_all: str = ""  # runs all tests in {folders} of one project
    names_joined: str = "|"
    # The line of a declaration that is used without being named: an entry point, or an override called by its base.
    implicit_pattern: str = ""

    def has(self, path: Path, root: Path) -> bool:
        """Whether `path`, in the workspace `root`, is a test file."""
        inside = path.relative_to(root) if path.is_relative_to(root) else path
        return bool(self.file_pattern and re.search(self.file_pattern, inside.as_posix()))


class Settings(Data, frozen=True):
    """The answer to `workspace/configuration`."""

    section: str = ""  # of `values`; empty: they begin with the names of sections
    values: dict[str, Any] = {}
    # By a setting's full name, with dots: paths below the workspace root. It is set to the first one that exists.
    first_of: dict[str, tuple[str, ...]] = {}
    env_setting: str = ""  # the setting that holds environment variables for the programs that the server runs
    program_env: dict[str, str] = {}  # such variables, also for programs that we run; the user's own take precedence


# The read-only requests of LSP 3.17.
_READ_ONLY = (
    *("textDocument/hover", "textDocument/definition", "textDocument/declaration", "textDocument/typeDefinition"),
    *("textDocument/implementation", "textDocument/references", "textDocument/documentSymbol", "workspace/symbol"),
    *("textDocument/signatureHelp", "textDocument/documentHighlight", "textDocument/documentLink"),
    *("textDocument/foldingRange", "textDocument/selectionRange", "textDocument/inlayHint", "textDocument/codeLens"),
    *("textDocument/prepareCallHierarchy", "callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"),
    *("textDocument/prepareTypeHierarchy", "typeHierarchy/supertypes", "typeHierarchy/subtypes"),
    *("textDocument/prepareRename", "textDocument/completion", "textDocument/semanticTokens/range"),
    *("textDocument/linkedEditingRange", "textDocument/moniker", "textDocument/documentColor"),
)


class Passthrough(Data, frozen=True):
    """The methods that callers may send unchanged."""

    methods: tuple[str, ...] = _READ_ONLY
    extensions: tuple[str, ...] = ()  # the server's own methods, in addition


class Indexer(Data, frozen=True):
    """The program that makes a SCIP index of a workspace for `lsp-mcp index build`."""

    command: tuple[str, ...]  # run in the workspace root; {output} is the file, {name} its package or else its own name
    get: str  # how to install it


class Install(Data, frozen=True):
    """How `lsp-mcp install` installs the server; {version} and {folder} are filled in."""

    version: str
    command: tuple[str, ...]
    env: dict[str, str] = {}
    program: str = ""  # the program's path in {folder}, if it is not at the top under its own name
    run: tuple[str, ...] = ()  # starts that {program}, if it does not run by itself


class Adapter(Data, frozen=True):
    """The facts about one language server."""

    name: str  # the backend's name, as in `--backend NAME`; must equal the file's name
    title: str  # display name
    command: tuple[str, ...]  # starts the server, which speaks LSP on stdin and stdout
    languages: tuple[Language, ...]
    # Prints the version. The first word is replaced by the program found, or by another program of its folder.
    version_command: tuple[str, ...] = ()
    oldest_version: str = ""  # an older program on PATH is not used
    untested: bool = False  # written from the server's documentation, and never run
    instead_of: str = ""  # the adapter for the same language that is chosen first
    is_fallback: bool = False  # it answers only for files that no other server on this machine supports
    searched_by_name: bool = True  # it has symbols that people look for by name, in the whole workspace
    one_file: bool = False  # it knows one file at a time, where names of other files may mean the same
    extra_paths: tuple[str, ...] = ()  # folders to search after PATH; ~ and ${VARIABLE} are expanded
    package_program: str = ""  # the program's path if it was installed as a Python package: PACKAGE/…
    requires: tuple[Requirement, ...] = ()
    workspace: Workspace = Workspace()
    positions: Positions = Positions()
    ready: Ready = Ready()
    rename: Rename = Rename()
    actions: Actions = Actions()
    tests: Tests = Tests()
    settings: Settings = Settings()
    passthrough: Passthrough = Passthrough()
    toolsets: tuple[str, ...] = ()  # toolsets for this server only, by their names in `TOOLSETS`
    capabilities: dict[str, Any] = {}  # client capabilities to announce, in addition to the usual ones
    initialization_options: dict[str, Any] = {}  # sent with `initialize`
    install: Install | None = None
    remote_install: Install | None = None  # of a build that can use a remote index: `lsp-mcp install NAME --remote`
    remote_index: str = ""  # HOST:PORT of a server's index of the project, see docs/cpp.md; --remote-index overrides it
    indexer: Indexer | None = None

    def is_generated(self, path: str | Path) -> bool:
        """Whether a build tool generated `path` for its own use."""
        return bool(self._generated and self._generated.search(str(path)))

    def owns(self, path: Path, root: Path) -> bool:
        """Whether `path` is a source of the workspace `root` itself, in a language of this server: of no dependency."""
        if not self.language_of(path) or not path.is_relative_to(root):
            return False
        return not set(self.workspace.dependency_folder_names).intersection(path.relative_to(root).parts)

    def language_of(self, path: Path | str) -> Language | None:
        """The language of `path`, see `file_kinds`; None if this server does not support it."""
        kind = kind_of(path, self.by_kind, reads=self._has_scripts)
        return self.by_kind[kind] if kind else None

    @property
    def language_names(self) -> list[str]:
        """The display names of its languages, each once."""
        return list(dict.fromkeys(language.name for language in self.languages))

    def encoding(self, unit: str) -> PositionEncoding:
        """The encoding for the negotiated `unit` (LSP 3.17, `PositionEncodingKind`).

        Raises:
            RefusedError: the server chose a unit that was not offered.
        """
        if unit not in get_args(CodeUnit):
            raise RefusedError(
                f"{self.name} chose the position encoding {unit!r}; offered were: {', '.join(self.positions.offers)}"
            )
        return PositionEncoding(cast("CodeUnit", unit), self.positions.lone_cr_ends_line)

    @cached_property
    def _generated(self) -> re.Pattern[str] | None:
        return re.compile(self.workspace.generated_pattern) if self.workspace.generated_pattern else None

    @cached_property
    def extensions(self) -> tuple[str, ...]:
        """Every file extension that the server supports."""
        return tuple(dict.fromkeys(extension for language in self.languages for extension in language.extensions))

    @cached_property
    def by_kind(self) -> dict[str, Language]:
        """The language of every kind of file that the server supports, see `file_kinds`."""
        return {kind: language for language in self.languages for kind in language.kinds}

    @cached_property
    def _has_scripts(self) -> bool:
        return any(language.interpreters for language in self.languages)


Kind = Literal["lsp", "dap"]
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_TAKEN = ("nvim", "dap")  # backends without an adapter


def adapter_names(kind: Kind = "lsp") -> list[str]:
    """The names of all adapters, both shipped and the user's own, sorted."""
    return sorted(adapter_files(kind))


def user_folder() -> Path:
    """The folder of the user's own adapters, `$XDG_CONFIG_HOME/lsp-mcp/adapters`; it need not exist."""
    return platformdirs.user_config_path("lsp-mcp") / "adapters"


_added: dict[str, tuple[Path, Adapter]] = {}  # by name: those of this process alone
_untrusted: dict[str, Path] = {}  # by name: those of the project that are not read


def add_adapter(path: Path, adapter: Adapter) -> None:
    """Use `adapter`, from the file `path`, in this process, instead of any other one of its name."""
    _added[adapter.name] = path, adapter
    load_adapter.cache_clear()
    shipped_adapters.cache_clear()


def leave_out(path: Path) -> None:
    """Remember that the adapter in `path` is not read until the user trusts it: an error about its name says so."""
    _untrusted[path.stem] = path


def is_added(adapter: Adapter) -> bool:
    """Whether `adapter` was added to this process: it goes before others for the same language."""
    return adapter.name in _added


def adapter_files(kind: Kind) -> dict[str, Path]:
    """The adapter files by name; a user's file replaces a shipped one of the same name."""
    shipped = (data_folder("adapters") / kind).glob("*.toml")
    own = (user_folder() if kind == "lsp" else user_folder() / kind).glob("*.toml")
    files = {path.stem: path for path in (*shipped, *own) if _NAME.fullmatch(path.stem) and path.stem not in _TAKEN}
    return files | ({name: path for name, (path, _) in _added.items()} if kind == "lsp" else {})


@cache
def load_adapter(name: str) -> Adapter:
    """The adapter `name`.

    Raises:
        ConfigError: no adapter has that name, or its file is invalid.
    """
    if name in _added:
        return _added[name][1]
    files = adapter_files("lsp")
    if name not in files:
        if name in _untrusted:
            raise ConfigError(f"{_untrusted[name]} is not read until you trust what it runs: lsp-mcp trust")
        message = unknown("backend", name, sorted(files))
        raise ConfigError(f"{message}. Another language server needs a file {user_folder() / 'NAME.toml'}")
    file = files[name]
    adapter = read_adapter(file)
    if adapter.name != name:
        raise ConfigError(f"the adapter {file} cannot be used: its name is {adapter.name!r}, not {name!r}")
    # A test checks the shipped ones; here it would be half of the time until a server is started.
    if not file.is_relative_to(data_folder("adapters")):
        check_patterns(adapter, file)
    return adapter


@cache
def shipped_adapters() -> tuple[Adapter, ...]:
    """All adapters of servers for certain languages, sorted by name. Raises the errors of `load_adapter`."""
    return tuple(adapter for adapter in map(load_adapter, adapter_names()) if not adapter.is_fallback)


# The keys of what is a pattern for Python's `re`, in adapters and in the traits of plug-ins.
_PATTERN_KEYS = re.compile(
    r"_patterns?\b|\.pattern$|\.lexing\.|private_(?:files|names)$|harmless_errors$|embedded_refusal$"
    r"|longer_names\.|invented\."
)


def read_adapter(path: Path) -> Adapter:
    """The adapter in the file `path`.

    Raises:
        ConfigError: the file is not TOML, or a key is unknown, missing or of the wrong type; the message names it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the adapter {path} cannot be used: {error}") from None
    return _parsed(text, path)


def _parsed(text: str, path: Path) -> Adapter:
    try:
        return msgspec.convert(tomllib.loads(text), Adapter)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        from lsp_mcp.adapter_errors import problem

        raise ConfigError(f"the adapter {path} cannot be used: {problem(text, error, Adapter)}") from None


def adapter_of(text: str, path: Path) -> Adapter:
    """The adapter in `text`, which is that of the file `path`, with its patterns checked.

    Raises:
        ConfigError: see `read_adapter`, and `check_patterns`; or its name is none for a backend.
    """
    adapter = _parsed(text, path)
    if not _NAME.fullmatch(adapter.name) or adapter.name in _TAKEN:
        raise ConfigError(f"the adapter {path} cannot be used: {adapter.name!r} is not a name for a backend")
    check_patterns(adapter, path)
    return adapter


def check_patterns(adapter: Data, path: Path) -> None:
    """Raises ConfigError if a pattern of `adapter`, from the file `path`, is none; the message names its key."""
    for key, pattern in _patterns(adapter):
        try:
            re.compile(pattern)
        except re.error as error:
            raise ConfigError(f"the adapter {path} cannot be used: {key} is not a pattern: {error}") from None


def _patterns(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """All patterns for Python's `re` in `value`, each with its key: `hierarchy.class_pattern`."""
    if isinstance(value, Data):
        for name in value.__struct_fields__:
            yield from _patterns(getattr(value, name), f"{key}.{name}".lstrip("."))
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _patterns(one, f"{key}.{name}")
    elif isinstance(value, tuple):
        for number, one in enumerate(value):
            yield from _patterns(one, f"{key}[{number}]")
    elif isinstance(value, str) and _PATTERN_KEYS.search(key):
        yield key, value
