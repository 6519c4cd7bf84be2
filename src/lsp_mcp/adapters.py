"""What is true of one named language server, as checked data: `Adapter`, read from `adapters/lsp/*.toml`.

The user's own folder has more of them. No code in this program names a language server; each field below says where
it is used.
"""

from __future__ import annotations

import fnmatch
import re
import tomllib
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, cast, get_args

import msgspec
import platformdirs
from msgspec.structs import astuple

from lsp_mcp.data import data_folder
from lsp_mcp.errors import ConfigError, RefusedError, unknown
from lsp_mcp.text import CodeUnit, PositionEncoding


class Data(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, dict=True):
    """A table of an adapter file: unknown keys and wrong types are errors that name the key."""


class Lexing(Data, frozen=True):
    """What is not code in a text, as patterns of Python's `re` with MULTILINE and named groups."""

    comment: str
    string: str  # and whatever else holds words that name nothing
    naming: str = ""  # comments in which words do name symbols
    macro: str = ""  # a definition of a macro; the group `macro` is its name
    # A directive of conditional compilation, by its group: `never`, what follows is compiled in no configuration;
    # `begin` another condition, `branch` the other case, `end`.
    conditional: str = ""
    # What stands right before a word, and right behind one, that is surely used there and not declared.
    before_use: str = ""
    after_use: str = ""


class Language(Data, frozen=True):
    """A language that the server answers for."""

    id: str  # LSP's `languageId`
    name: str  # for people
    scheme: str  # of its anchors
    extensions: tuple[str, ...]  # with the dot
    keywords: frozenset[str] = frozenset()  # words that cannot be identifiers
    name_prefixes: str = ""  # characters that servers take for the beginning of a name: an anchor may stand on one
    line_comment: str = ""  # what begins a comment that ends with its line
    block_comment: tuple[str, ...] = ()  # what begins and what ends one that may have several lines
    lead_pattern: str = ""  # what may stand before the range of a symbol and is part of its declaration; ends there
    blocks: Literal["braces", "indented"] = "braces"  # what a body is: a block in braces, or what is indented
    lexing: Lexing | None = None


class Requirement(Data, frozen=True):
    """A program that the server itself needs."""

    command: tuple[str, ...]  # prints its version
    get: str  # how a person gets it


class Workspace(Data, frozen=True):
    """What a workspace of this server contains."""

    root_markers: tuple[str, ...] = ()  # files that make a folder a workspace of this server: it is then chosen
    ignored_folders: tuple[str, ...] = (".git",)  # names of folders that are not watched
    generated_pattern: str = ""  # paths of sources that build tools make for their own use: nobody asks about them
    dependency_folder_names: tuple[str, ...] = ()  # folders of dependencies' sources: read, never written
    dependency_folders_command: tuple[str, ...] = ()  # prints one readable folder a line
    dependency_files_command: tuple[str, ...] = ()  # prints the source files that the workspace depends on, one a line


class Visibility(Data, frozen=True):
    """Which files can mean a symbol of another one, where the files of a folder share names and others import it.

    Patterns of Python's `re`; more may match than what they are for, never less.
    """

    import_pattern: str  # an import declaration with its strings; {comment} and {string} are those of `Lexing`
    library_pattern: str  # a path that leads to nothing in a workspace, unless there is a project that it begins with
    after_imports_pattern: str = "(?!)"  # where no import can follow any more
    import_name_pattern: str = ""  # one import of a declaration; groups `path`, {string}, and `alias`, its name
    library_name_pattern: str = ""  # of the path of a library's import: group `name`, what it is surely called
    private_files: str = ""  # names of files whose declarations and imports are nobody's else
    type_pattern: str = ""  # with {name}, in the text that declares it: it may be a type, whatever a server says it is
    private_names: str = ""  # names that only the files of the same folder can use
    naming_words: tuple[str, ...] = ()  # a file with one of these can use any name
    version_mark: str = ""  # a folder of dependencies has a package as PATH, this, VERSION
    capital_mark: str = ""  # stands there before a letter that is a capital


class Join(Data, frozen=True):
    """How projects that nobody joined are joined for the server alone: by a file elsewhere, which a variable names."""

    variable: str  # of the environment: the path of the file; where the user has set it, that counts
    setting: str  # of the server: variables for the programs that it runs
    file: str  # the file's name
    text: str  # with {version} and {entries}
    entry: str  # with {folder}
    version_pattern: str  # group 1 is the version that a marker file wants; the newest counts
    version_default: str
    check_command: tuple[str, ...]  # given `FOLDER/...` of each: says whether they load together
    check_problem: str = ""  # in what it prints: they don't
    lock_files: tuple[str, ...] = ()  # files beside the marker that say what of others a project takes
    decided_by: dict[str, str] = {}  # variables that, if they match a pattern, speak against it
    decided_by_files: tuple[str, ...] = ()  # files in a project that do


class Projects(Data, frozen=True):
    """How a workspace falls into projects (Go modules, packages …) that the server loads one by one."""

    marker: str  # the file name that makes its folder a project
    name_pattern: str  # its first group is the project's name in the marker file
    joined_by: str = ""  # the file that joins projects into one; it names their folders
    join_hint: str = ""  # the command that makes it; {folders} are the projects' folders
    join_more_hint: str = ""  # the same where there is such a file already
    join: Join | None = None
    alias_pattern: str = ""  # groups `name` and `folder`: in either file, one name more for the project in a folder
    implied: tuple[str, ...] = ()  # names of projects that every other one uses without naming them
    ignored_folders: tuple[str, ...] = ()  # name patterns of folders that hold no project
    # Run in the project's folder: fails with a reason if it cannot be loaded. {folder}: one with sources in it.
    check_command: tuple[str, ...] = ()
    # Given folders, prints `FOLDER<tab>ERROR` for packages that cannot be loaded; of these errors, those that match
    # `import_problem` make answers incomplete. Run where what `import_pattern` finds in a file has changed.
    import_command: tuple[str, ...] = ()
    import_pattern: str = ""
    import_problem: str = ""
    excluded_command: tuple[str, ...] = ()  # given folders: prints the source files in them that the build leaves out
    # The server takes in a left-out file for its own system once it is open; if not even then, it refuses questions
    # about it with this. Empty: it takes in none.
    left_out_refusal: str = ""
    left_out_pattern: str = (
        ""  # where a file says when it is built; `left_out_tag` finds what a user must ask for, in that
    )
    left_out_tag: str = ""
    left_out_hint: str = ""  # how to ask for `{tags}`
    open_to_load: bool = False  # the server knows a project only while one of its files is open

    def ignores(self, file: Path, root: Path) -> bool:
        """Whether `file` is in a folder below `root` that holds no project."""
        if not file.is_relative_to(root):
            return False
        folders = file.relative_to(root).parts[:-1]
        return any(fnmatch.fnmatchcase(folder, pattern) for folder in folders for pattern in self.ignored_folders)


class Compilation(Data, frozen=True):
    """The compilation database of a server that indexes what is in it, and where that server keeps its index.

    Such a server reads a file that changed, and what includes it, again only when it is opened.
    """

    database: str  # its file name
    folders: tuple[str, ...]  # where builds put it: globs below the root or a folder above it, the best first
    own_folders: tuple[str, ...]  # where the server looks by itself: in each folder above a file
    argument: str  # makes the server take the one in {folder}
    index_folder: str  # in the folder of the database
    shard_pattern: str  # the name of a file of the index: group 1 is the name of the source file that it is about
    include_pattern: str  # a line that includes a file: group 1 is how it is spelled
    how_to_get: str  # for people
    library_folders: tuple[str, ...] = ()  # where headers lie that lead to none of a workspace: globs, absolute
    library_pattern: str = "(?!)"  # such headers by how they are spelled, wherever they lie
    flags: str = ""  # a file of flags, one a line, that counts for every file where there is no database
    compiled_extensions: tuple[str, ...] = ()  # of those files: what is not only included
    config_files: tuple[str, ...] = ()  # names of files that say how it compiles files
    include_options: tuple[str, ...] = ()  # of a compiler: the file named next is included first
    added_flags: tuple[str, ...] = ()  # of a compiler, for each file; those that the build has win


class Changes(Data, frozen=True):
    """What the server doesn't do by itself when it is told that source files were created or changed."""

    load_request: str = ""  # asked about each such file, so that the server loads the package that it is now in
    load_most: int = 0  # if more files than this change at once, everything is loaded again
    settle_request: str = ""  # asked then, so that the server loads what depends on those packages too
    settle_params: dict[str, Any] = {}
    goes_by_mtime: bool = False  # of a file that is not open, a text with the old one's time is not read


class Documents(Data, frozen=True):
    """How the server is told of open documents, where the specification leaves it open or is not enough."""

    change_fields: dict[str, Any] = {}  # sent with each `didChange`, in addition to what LSP has
    tell_saved: bool = True  # `didSave` follows each `didChange`
    close_when_read: bool = False  # `didClose` only after diagnostics of the last version have come
    reread_fields: dict[str, Any] = {}  # of a `didChange` that makes it read what is included again; none: reopened
    outlines_closed: bool = False  # it answers about the outline of a document that is not open, too
    reread_times: int = 1  # such changes in a row, each after the answer to the one before, until one is fresh


class InactiveRegions(Data, frozen=True):
    """How the server says what the preprocessor leaves out of an open document."""

    method: str = ""  # of the notification: `textDocument`, and `regions` as ranges; empty: it doesn't
    capability: tuple[str, ...] = ()  # the client's that asks for it: keys, the outermost first


class Positions(Data, frozen=True):
    """How the server counts."""

    offers: tuple[CodeUnit, ...] = ("utf-32", "utf-8", "utf-16")  # sent as `positionEncodings`, best first
    lone_cr_ends_line: bool = True


class Ready(Data, frozen=True):
    """The signal that the server knows the whole workspace."""

    progress_title: str = ""  # of the `$/progress` that must have begun and ended; empty: ready when initialized
    incomplete_pattern: str = ""  # on stderr: group 1 is a file that it could not index whole
    unusable_pattern: str = ""  # on stderr: group 1 is a file that it could not begin to index, for its flags
    unusable_hint: str = ""  # how a person fixes that
    harmless_errors: str = ""  # codes of errors that hide nothing in the file, as a pattern


class Diagnostics(Data, frozen=True):
    """How the server says what is wrong."""

    command: str = ""  # makes it look at files again: by itself it takes its time where others changed
    command_field: str = ""  # of that command's argument: the URIs of the files
    command_covers: Literal["file", "workspace"] = "file"  # what it has published diagnostics of when it answers
    clears_closed: bool = False  # of a document that is closed it says, without a version, that nothing is wrong
    elsewhere_pattern: str = ""  # of messages about another file, which the related information names
    # Before the text of a compiled file, it makes the server look at all that is included as closely as at the text.
    whole_prefix: str = ""
    whole_unless: str = ""  # a text that this is found in cannot begin so
    stopped_code: str = ""  # of the error that says that there are more, of which it tells nothing
    syntax_source: str = ""  # the `source` of errors that hide from it what stands behind them
    syntax_command: tuple[str, ...] = ()  # given files, it says on stderr which of them have such errors, sooner


class Symbols(Data, frozen=True):
    """What the server's symbols look like."""

    member_pattern: str = ""  # groups `owner` and `member`: a symbol named so belongs to its sibling `owner`
    workspace_symbol_cap: int | None = None  # the most results of one workspace/symbol, None: no cap
    narrow_query: str = ""  # a query for the symbols whose names end with {name}, and for few others
    knows_libraries: bool = False  # workspace/symbol gives those of the system's libraries too
    kinds: dict[str, str] = {}  # what it means by a kind of symbol, by LSP's name of that kind
    names_in_text: tuple[str, ...] = ()  # kinds that a call hierarchy gives another name than the text has there
    # What stands right behind the name of a type that is generic, and whose members' uses it counts by instance.
    generic_pattern: str = ""
    implementation_goes_up: bool = False  # of what is in no interface it gives the interfaces' own types or methods
    scope_separator: str = ""  # a symbol's name is `containerName`, this and `name`; empty: `name` is the whole name


class Packages(Data, frozen=True):
    """How folders are packages: a server that renames a package by its clause moves its folder."""

    clause_pattern: str  # in text without comments; the group `name` is the package's
    module_file: str  # of the folder that all packages' paths begin at
    module_pattern: str  # in that file; the group `path` is the module's


class Rename(Data, frozen=True):
    """What the server does not see when it renames."""

    check: bool = False  # it misses uses and clashes: its edits are compared with the references and names there are
    # Patterns of names that belong to a symbol called {name}, of {owner} if it is a member; the group `name` is that
    # part. What has such a name in the same folder is renamed along.
    followers: tuple[str, ...] = ()
    known_by_name: dict[str, str] = {}  # a member's name and detail → what knows it by that, for people
    names_no_files: bool = False  # no code names a file, so that within its folder it may be called anything
    packages: Packages | None = None


class Hierarchy(Data, frozen=True):
    """How the text says which type is based on which, for a server whose index loses that."""

    class_pattern: str  # groups: `name` of a type with bases, and `bases`, in text without comments and strings
    maker_pattern: str = ""  # what may make a type of its `arguments`: a macro
    alias_patterns: tuple[str, ...] = ()  # groups: another `name` for a `type`
    id_field: str = ""  # of an item's `data`: the server's own word for the symbol


class BuiltAction(Data, frozen=True):
    """A refactoring that the server does by a command, but offers only to clients that can ask a person.

    In `arguments` and `answers` a string {location} is the LSP `Location` of what the caller points at, and {NAME} the
    option of that name; of the options in `files` the URI of that file is meant.
    """

    title: str
    kind: str
    command: str
    arguments: tuple[Any, ...] = ()
    answers: dict[str, str] = {}  # by the ids of the questions that the server would ask
    files: tuple[str, ...] = ()
    needs: str = ""  # a pattern of the code of the line that it is offered on; empty: it is never listed


class Actions(Data, frozen=True):
    """The server's code actions, as far as a caller may have them done."""

    commands: tuple[str, ...] = ()  # those that only ask for edits: all that is ever executed
    hidden: tuple[str, ...] = ()  # kinds of actions that change no source: they show something to a person
    invented: dict[str, str] = {}  # by kind, a pattern of the name that the server makes up for what it extracts
    built: tuple[BuiltAction, ...] = ()
    style_files: tuple[str, ...] = ()  # one of them says how code is formatted; without any of them nobody formats it


class Tests(Data, frozen=True):
    """What runs functions that nobody calls, and how tests are run. Patterns of Python's `re`."""

    file_pattern: str = ""  # names of files with tests
    function_pattern: str = ""  # names of test functions, as a call hierarchy gives them
    name_pattern: str = ""  # of a test's whole name; its groups are what its runner calls it, joined by `.`
    run: str = ""  # runs some: {folder} of the files below their project, {names} joined by `names_joined`
    run_all: str = ""  # runs all of {folders}, those of one project
    names_joined: str = "|"
    # The line of a declaration that is used though nothing names it: a program's entry, what a base's callers call.
    implicit_pattern: str = ""


class WordCheck(Data, frozen=True):
    """How the answers of the server are compared with the text. See `features.word_check`."""

    request: str = "textDocument/definition"  # tells what a place means, without guessing
    location_fields: tuple[str, ...] = ()  # of an element of the answer: its `Location`s; empty: it is one itself
    id_field: str = ""  # of such an element: what is the same for the same symbol, whatever file it is asked in
    alias_field: str = ""  # of such an element: matches `alias_pattern` if it is only another name for the others
    alias_pattern: str = ""
    # `alias_field` matches it if only what includes its declaration can mean the symbol: there is no other of the same.
    internal_pattern: str = ""
    # Of such an element: the name of the symbol. A server that gives another one than the word at the place has misread
    # the code there, unless the word is one of the language that stands for a symbol.
    name_field: str = ""
    standing_for: frozenset[str] = frozenset()
    by_folder: bool = False  # one open file of a folder is enough to ask about all files in it
    # What stands right before a word that a value or scope has: the group `operator`, and `operand` if that is a name.
    member_pattern: str = ""
    member_operators: frozenset[str] = frozenset()  # those behind which nothing but members stands
    kind_pattern: str = ""  # what stands right before a word of a name space of its own
    parameter_pattern: str = ""  # what stands right before a parameter of the declaration whose name comes next
    grouped: bool = False  # the references of a method are those of all methods that it must be called like
    # Where it has read a file it misses nothing: for an answer that changes nothing, not each place is asked about.
    exact: bool = False


class Settings(Data, frozen=True):
    """The answer to `workspace/configuration`."""

    section: str = ""
    values: dict[str, Any] = {}


# What can be asked without changing anything (LSP 3.17, the requests of a client).
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
    """The methods that a caller may send as they are."""

    methods: tuple[str, ...] = _READ_ONLY
    extensions: tuple[str, ...] = ()  # methods of the server's own, in addition


class Install(Data, frozen=True):
    """How `lsp-mcp install` gets the server. {version} and {folder} are filled in."""

    version: str
    command: tuple[str, ...]
    env: dict[str, str] = {}
    program: str = ""  # its path in {folder}, if it is not at the top under its own name


class Adapter(Data, frozen=True):
    """Everything that is special about one language server."""

    name: str  # of the backend, as in `--backend NAME`; the same as that of the file
    title: str  # for people
    command: tuple[str, ...]  # starts the server, which speaks LSP on stdin and stdout
    languages: tuple[Language, ...]
    version_command: tuple[str, ...] = ()  # prints the version; the first word is replaced by the program found
    extra_paths: tuple[str, ...] = ()  # folders to look in after PATH; ~ and ${VARIABLE} are expanded
    package_program: str = ""  # its path if it was installed as a Python package: PACKAGE/…
    requires: tuple[Requirement, ...] = ()
    workspace: Workspace = Workspace()
    projects: Projects | None = None
    visibility: Visibility | None = None
    compilation: Compilation | None = None
    changes: Changes = Changes()
    documents: Documents = Documents()
    inactive_regions: InactiveRegions = InactiveRegions()
    positions: Positions = Positions()
    ready: Ready = Ready()
    diagnostics: Diagnostics = Diagnostics()
    symbols: Symbols = Symbols()
    rename: Rename = Rename()
    hierarchy: Hierarchy | None = None
    actions: Actions = Actions()
    tests: Tests = Tests()
    word_check: WordCheck = WordCheck()
    settings: Settings = Settings()
    passthrough: Passthrough = Passthrough()
    toolsets: tuple[str, ...] = ()  # tools that only this server has, by their names in `TOOLSETS`
    capabilities: dict[str, Any] = {}  # client capabilities to announce, in addition to the usual ones
    initialization_options: dict[str, Any] = {}  # sent with `initialize`
    install: Install | None = None

    def is_generated(self, path: str | Path) -> bool:
        """Whether a build tool has made `path` for its own use."""
        return bool(self._generated and self._generated.search(str(path)))

    @property
    def finds_all_names(self) -> bool:
        """Whether a search by name gives all names: it is known of servers whose projects or compiled files are."""
        return bool(self.projects or self.compilation)

    @property
    def pulls_diagnostics(self) -> bool:
        """Whether the server is asked what is wrong with a document: where nothing better is known of it."""
        return not self.diagnostics.command and not self.compilation

    def language_of(self, path: Path) -> Language | None:
        """The language of `path` by its extension, None when this server doesn't answer for it."""
        return self._by_extension.get(path.suffix) or self._by_extension.get(path.suffix.lower())

    def encoding(self, unit: str) -> PositionEncoding:
        """How the server counts once it has agreed on `unit` (LSP 3.17, `PositionEncodingKind`).

        Raises:
            RefusedError: it counts in something that it was not offered.
        """
        if unit not in get_args(CodeUnit):
            raise RefusedError(f"{self.name} counts positions in {unit!r}; it was offered {self.positions.offers}")
        return PositionEncoding(cast("CodeUnit", unit), self.positions.lone_cr_ends_line)

    @cached_property
    def _generated(self) -> re.Pattern[str] | None:
        return re.compile(self.workspace.generated_pattern) if self.workspace.generated_pattern else None

    @cached_property
    def extensions(self) -> tuple[str, ...]:
        """Every extension that the server answers for."""
        return tuple(self._by_extension)

    @cached_property
    def _by_extension(self) -> dict[str, Language]:
        return {extension: language for language in self.languages for extension in language.extensions}


Kind = Literal["lsp", "dap"]
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_TAKEN = ("nvim", "dap")  # backends without an adapter


def adapter_names(kind: Kind = "lsp") -> list[str]:
    """The names of all adapters, shipped ones and the user's own, sorted."""
    return sorted(adapter_files(kind))


def user_folder() -> Path:
    """The folder of the user's own adapters, `$XDG_CONFIG_HOME/lsp-mcp/adapters`; it need not exist.

    There is none in a workspace: a repository must never say which programs run.
    """
    return platformdirs.user_config_path("lsp-mcp") / "adapters"


def adapter_files(kind: Kind) -> dict[str, Path]:
    """The adapter files by name; one of the user's takes the place of a shipped one."""
    shipped = (data_folder("adapters") / kind).glob("*.toml")
    own = (user_folder() if kind == "lsp" else user_folder() / kind).glob("*.toml")
    return {path.stem: path for path in (*shipped, *own) if _NAME.fullmatch(path.stem) and path.stem not in _TAKEN}


@cache
def load_adapter(name: str) -> Adapter:
    """The adapter `name`.

    Raises:
        ConfigError: there is none of that name, or its file is wrong.
    """
    files = adapter_files("lsp")
    if name not in files:
        told = unknown("backend", name, sorted(files))
        raise ConfigError(f"{told}. Another language server needs a file {user_folder() / 'NAME.toml'}")
    adapter = read_adapter(files[name])
    if adapter.name != name:
        raise ConfigError(f"the adapter {files[name]} cannot be used: its name is {adapter.name!r}, not {name!r}")
    return adapter


@cache
def shipped_adapters() -> tuple[Adapter, ...]:
    """All adapters, by name; raises as `load_adapter`."""
    return tuple(map(load_adapter, adapter_names()))


def read_adapter(path: Path) -> Adapter:
    """The adapter in the file `path`.

    Raises:
        ConfigError: the file is not TOML, or a key is unknown, missing or of the wrong type; the message names it.
    """
    try:
        adapter = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Adapter)
        for pattern in (
            *(language.lead_pattern for language in adapter.languages),
            adapter.symbols.member_pattern,
            adapter.symbols.generic_pattern,
            adapter.projects.name_pattern if adapter.projects else "",
            adapter.projects.alias_pattern if adapter.projects else "",
            *((v.library_pattern, v.private_files, v.private_names) if (v := adapter.visibility) else ()),
            adapter.projects.import_pattern if adapter.projects else "",
            adapter.projects.left_out_refusal if adapter.projects else "",
            *((j.version_pattern, j.check_problem) if adapter.projects and (j := adapter.projects.join) else ()),
            adapter.projects.import_problem if adapter.projects else "",
            adapter.compilation.include_pattern if adapter.compilation else "",
            adapter.compilation.shard_pattern if adapter.compilation else "",
            adapter.workspace.generated_pattern,
            adapter.compilation.library_pattern if adapter.compilation else "",
            adapter.ready.incomplete_pattern,
            adapter.ready.unusable_pattern,
            adapter.ready.harmless_errors,
            *(pattern for language in adapter.languages if language.lexing for pattern in astuple(language.lexing)),
            *((h.class_pattern, h.maker_pattern, *h.alias_patterns) if (h := adapter.hierarchy) else ()),
        ):
            re.compile(pattern)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError, re.error) as error:
        raise ConfigError(f"the adapter {path} cannot be used: {error}") from None
    return adapter
