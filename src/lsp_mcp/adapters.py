"""The facts about one language server, as checked data: `Adapter`, read from `adapters/lsp/*.toml`.

Users can add adapters in a folder of their own. A field is what a person would set; what only one server needs is code
in `servers`, which an adapter cannot name.
"""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, cast, get_args

import msgspec
import platformdirs

from lsp_mcp.data import data_folder
from lsp_mcp.errors import ConfigError, RefusedError, unknown
from lsp_mcp.text import CodeUnit, PositionEncoding


class Data(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, dict=True):
    """A table of an adapter file: unknown keys and wrong types are errors that name the key."""


class Lexing(Data, frozen=True):
    """Which parts of a text are not code: patterns for Python's `re` with MULTILINE and named groups."""

    comment: str
    string: str  # string literals, and anything else whose words name no symbol
    naming: str = ""  # comments whose words do name symbols
    macro: str = ""  # a macro definition; the group `macro` is its name, `parameters` what is in its parentheses
    # A directive of conditional compilation, by its group: `never` (the code after it is compiled in no configuration),
    # `begin` (any other condition), `branch` (the other case) and `end`.
    conditional: str = ""
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
    keywords: frozenset[str] = frozenset()  # reserved words, which cannot be identifiers
    name_prefixes: str = ""  # characters that servers count as part of a name, so an anchor may point at one
    line_comment: str = ""  # starts a line comment
    block_comment: tuple[str, ...] = ()  # starts and ends a block comment
    lead_pattern: str = ""  # part of a declaration that precedes the symbol's range; the match ends at the range
    blocks: Literal["braces", "indented"] = "braces"  # how a body is delimited: braces or indentation
    lexing: Lexing | None = None
    kinds_spelled: bool = False  # `WordCheck.kind_pattern` matches before each use of what is declared like that
    generator_pattern: str = ""  # the beginning of a source that a generator will write again


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


class Visibility(Data, frozen=True):
    """Which files can refer to a symbol declared elsewhere, in languages where a folder is a package to import.

    Patterns for Python's `re`. They may match too much, but never too little.
    """

    import_pattern: str  # an import declaration with its strings; {comment} and {string} come from `Lexing`
    library_pattern: str  # an import path outside the workspace, unless a project's name is a prefix of it
    after_imports_pattern: str = "(?!)"  # the point after which no import can follow
    import_name_pattern: str = ""  # one import of a declaration; groups: `path` ({string}) and `alias`, its name
    library_name_pattern: str = ""  # in a library's import path: the group `name` is the package's name for certain
    private_files: str = ""  # names of files whose declarations and imports no other file can use
    type_pattern: str = ""  # matches a declaration of {name} that may be a type, whatever kind the server reports
    private_names: str = ""  # names that are visible only within their folder
    naming_words: tuple[str, ...] = ()  # a file with one of these words can refer to any name
    version_mark: str = ""  # what separates PATH and VERSION in a dependency's folder name
    capital_mark: str = ""  # precedes a capital letter in such a folder name


class Companion(Data, frozen=True):
    """A document in the workspace root that exists only for the server, opened before one that needs it."""

    file: str  # its name, with a {number} and the {suffix} of the other document
    language: str  # its language identifier
    suffix_pattern: str  # the part of the other's name, without its extension, that is the suffix
    line_pattern: str  # each line of the other's text that it has, too; without these and a suffix, none is needed


class Join(Data, frozen=True):
    """How to join separate projects for the server alone: a private file outside the workspace, named by a variable."""

    variable: str  # environment variable with the file's path; a value set by the user takes precedence
    file: str  # the file's name
    text: str  # the file's text, with {version} and {entries}
    entry: str  # one entry, with {folder}
    version_pattern: str  # group 1 is the version that a marker file requires; the newest is used
    version_default: str
    check_command: tuple[str, ...]  # given `FOLDER/...` for each project: tells whether they load together
    check_problem: str = ""  # output of that command that means they do not
    lock_files: tuple[str, ...] = ()  # files beside the marker that pin a project's dependencies
    decided_by: dict[str, str] = {}  # environment variables whose value, if it matches the pattern, rules joining out
    decided_by_files: tuple[str, ...] = ()  # files or folders of a project that rule joining out
    companion: Companion | None = None  # what documents need while projects are joined by the variable


class Projects(Data, frozen=True):
    """How a workspace divides into projects (Go modules, packages …) that the server loads one by one."""

    marker: str  # the file that makes its folder a project
    name_pattern: str  # in the marker file: group 1 is the project's name
    joined_by: str = ""  # the file that joins projects into one workspace; it lists their folders
    join_hint: str = ""  # the command that creates that file; {folders} are the projects' folders
    join_more_hint: str = ""  # the command that adds projects to an existing one
    join: Join | None = None
    alias_pattern: str = ""  # in either file: another `name` for the project in `folder` (named groups)
    implied: tuple[str, ...] = ()  # projects that all others use without declaring it
    ignored_folders: tuple[str, ...] = ()  # name patterns of folders that contain no projects
    # Run in the project's folder; fails with a reason if the project cannot be loaded. {folder}: one with sources.
    check_command: tuple[str, ...] = ()
    # Given folders, prints `FOLDER<tab>ERROR` for packages that cannot be loaded; errors that match `import_problem`
    # make answers incomplete. Run when a file's matches of `import_pattern` have changed.
    import_command: tuple[str, ...] = ()
    import_pattern: str = ""
    import_problem: str = ""
    excluded_command: tuple[str, ...] = ()  # given folders: prints their source files that the build excludes
    # Run in the project's folder: prints all by which the build decides that, apart from files, so that it can be kept.
    # What matches `excluded_unkept` in what it prints makes the build depend on something else as well.
    excluded_settings_command: tuple[str, ...] = ()
    excluded_unkept: str = ""
    # The server's error for an excluded file that it cannot load even when the file is open. Empty: it loads none.
    left_out_refusal: str = ""
    left_out_pattern: str = ""  # a file's build constraint
    left_out_tag: str = ""  # in that constraint: what a user must set to include the file
    left_out_hint: str = ""  # how to set `{tags}`
    open_to_load: bool = False  # the server loads a project only while one of its files is open

    def ignores(self, file: Path, root: Path) -> bool:
        """Whether `file` is in a folder below `root` that holds no project."""
        if not file.is_relative_to(root):
            return False
        folders = file.relative_to(root).parts[:-1]
        return any(fnmatch.fnmatchcase(folder, pattern) for folder in folders for pattern in self.ignored_folders)


class Compilation(Data, frozen=True):
    """The compilation database of a server that indexes the files listed there, and where it keeps that index.

    Such a server reads a changed file, and the files that include it, again only when it is opened.
    """

    database: str  # the database's file name
    folders: tuple[str, ...]  # where builds put it: globs below the root or a folder above it, in order of preference
    own_folders: tuple[str, ...]  # where the server looks by itself, in each folder above a file
    argument: str  # makes the server use the database in {folder}
    index_folder: str  # the index, relative to the database's folder
    shard_pattern: str  # the name of an index file: group 1 is the name of its source file
    include_pattern: str  # an include line: group 1 is the path as written
    how_to_get: str  # how to create the database, for people
    library_folders: tuple[str, ...] = ()  # absolute globs of system headers, which never include workspace files
    library_pattern: str = "(?!)"  # such headers by the path as written, wherever they are
    index_version: int = 0  # of its form, if `servers/clangd/compilation/index_file.py` can read it; 0: it is not read
    flags: str = ""  # a file of compiler flags, one per line, used for every file if there is no database
    compiled_extensions: tuple[str, ...] = ()  # which files are compiled in that case, rather than only included
    config_files: tuple[str, ...] = ()  # names of the server's own files about compile flags
    user_files: tuple[str, ...] = ()  # the user's such files: absolute paths, with ~ and $VARIABLE
    variables: tuple[str, ...] = ()  # environment variables that the compiler reads
    folder_option_pattern: str = ""  # compiler options whose argument is a folder of headers
    include_options: tuple[str, ...] = ()  # compiler options whose argument is a file to include first
    added_flags: tuple[str, ...] = ()  # compiler flags added for each file; flags of the build take precedence

    def compiles(self, path: Path) -> bool:
        """Whether `path` is compiled by itself rather than only included, judged by its name."""
        return path.suffix in self.compiled_extensions


class Changes(Data, frozen=True):
    """What must be done for the server when files were created or changed, because it does not do it by itself."""

    load_request: str = ""  # sent about each such file: makes the server load the file's package
    load_command_field: str = ""  # if that is a command: the field of its argument with the file's URI
    load_most: int = 0  # if more files than this change at once, everything is reloaded
    # Pattern of its error for a file that the server has read before it was told of it, and so has overlooked. The file
    # is shown empty, then with its text, and the request is repeated.
    overlooked_refusal: str = ""
    settle_request: str = ""  # sent afterwards: makes the server load the packages that depend on those
    settle_params: dict[str, Any] = {}
    goes_by_mtime: bool = False  # the server misses a change to a closed file that keeps its modification time


class Documents(Data, frozen=True):
    """How to synchronize open documents with the server, where the LSP specification is open or not enough."""

    change_fields: dict[str, Any] = {}  # extra fields of each `didChange`
    tell_saved: bool = True  # send `didSave` after each `didChange`
    close_when_read: bool = False  # send `didClose` only after diagnostics of the last version have arrived
    reread_fields: dict[str, Any] = {}  # of a `didChange` that makes it read includes again; empty: reopen instead
    outlines_closed: bool = False  # `documentSymbol` works for documents that are not open
    reread_times: int = 1  # how many such changes to send, each after the reply to the previous one


class InactiveRegions(Data, frozen=True):
    """How the server reports which parts of an open document the preprocessor skips."""

    method: str = ""  # the notification, with `textDocument` and `regions` (ranges); empty: it sends none
    capability: tuple[str, ...] = ()  # key path of the client capability that enables it


class Positions(Data, frozen=True):
    """How the server counts lines and characters."""

    offers: tuple[CodeUnit, ...] = ("utf-32", "utf-8", "utf-16")  # sent as `positionEncodings`, best first
    lone_cr_ends_line: bool = True


class Ready(Data, frozen=True):
    """The signal that the server has loaded the whole workspace."""

    progress_title: str = ""  # the `$/progress` that must have started and ended; empty: ready once initialized
    # The notification with `quiescent`, whether the server has loaded the workspace, and `health`, instead of that.
    status_notification: str = ""
    incomplete_pattern: str = ""  # on stderr: group 1 is a file that was indexed only in part
    unusable_pattern: str = ""  # on stderr: group 1 is a file that was not indexed because of its compile flags
    unusable_hint: str = ""  # how to fix that
    harmless_errors: str = ""  # pattern of error codes that hide nothing in the file
    # Pattern of the message of a problem, in whatever file, that means that nothing could be loaded; `reason` says why.
    failure_pattern: str = ""

    @property
    def work(self) -> str:
        """The title of the work that ends when the server is ready; empty if it never says so."""
        return self.progress_title or ("loading the workspace" if self.status_notification else "")


class Missed(Data, frozen=True):
    """An error that the language's own build reports and the server does not."""

    files: str  # pattern of the paths of files that can have it
    pattern: str  # in the text without comments and strings; the group `at` is the place
    message: str  # with the groups of that pattern: {at}


class Diagnostics(Data, frozen=True):
    """How the server reports problems."""

    command: str = ""  # makes it diagnose files now; by itself it delays files that others affect
    command_field: str = ""  # the field of that command's argument for the files' URIs
    command_covers: Literal["file", "workspace"] = "file"  # what has been diagnosed when the command returns
    clears_closed: bool = False  # closing a document publishes empty diagnostics without a version
    elsewhere_pattern: str = ""  # messages about another file, which the related information names
    # Put before the text of a compiled file, it makes the server diagnose included files as fully as the file itself.
    whole_prefix: str = ""
    whole_unless: str = ""  # texts that cannot be prefixed so
    stopped_code: str = ""  # code of the error that means that further errors were not reported
    outdated_code: str = ""  # code of the error that means that all were found with an old text of another file
    syntax_source: str = ""  # the `source` of errors that hide the code after them from the server
    syntax_command: tuple[str, ...] = ()  # given files, prints those with such errors on stderr, faster
    missed: tuple[Missed, ...] = ()  # errors found in the text, since only the build reports them


class Symbols(Data, frozen=True):
    """The form of the server's symbols."""

    member_pattern: str = ""  # groups `owner` and `member`: a symbol with such a name belongs to its sibling `owner`
    workspace_symbol_cap: int | None = None  # the most results of one workspace/symbol; None: no cap
    narrow_query: str = ""  # a query for symbols whose names end with {name}, with few other results
    knows_libraries: bool = False  # workspace/symbol includes symbols of system libraries
    kinds: dict[str, str] = {}  # the actual kind of symbols, by the LSP kind that the server reports
    names_in_text: tuple[str, ...] = ()  # kinds whose name in a call hierarchy differs from the one in the text
    # Text directly after the name of a generic type, for a server that finds its members' uses per instance.
    generic_pattern: str = ""
    implementation_goes_up: bool = False  # for concrete types and methods, implementation returns their interfaces
    qualifier_mark: str = ""  # ends what qualifies a name, if the places of the server's answers include that
    scope_separator: str = ""  # joins `containerName` and `name` into the full name; empty: `name` is the full name
    # workspace/symbol does not have all types inside functions, and their members; "names-first": nor those of types
    # without a name. Says how the code declares them: C's `int size;`, or Go's `size int`.
    omits_local_types: Literal["", "types-first", "names-first"] = ""
    # What the server's hover on a type says of its member {name} that another type, the group `owner`, declares; a
    # group `package` is empty exactly if that type is in the same folder.
    promoted_patterns: tuple[str, ...] = ()


class Packages(Data, frozen=True):
    """How folders map to packages, for a server that moves the folder when its package clause is renamed."""

    clause_pattern: str  # the package clause, in text without comments; group `name`
    module_file: str  # the file in the folder where package paths begin
    module_pattern: str  # in that file; the group `path` is the module's path


class Follower(Data, frozen=True):
    """Symbols named after a symbol {name}, such as examples: they are renamed with it."""

    query: str  # the server's search for them
    # Their names; the group `name` is that part, and `owner`, for members only, the name of the type that has {name}.
    pattern: str


class Rename(Data, frozen=True):
    """What the server overlooks when it renames."""

    check: bool = False  # it misses uses and clashes, so its edits are compared with references and existing names
    followers: tuple[Follower, ...] = ()
    # Refused at uses of the field that embeds a type, which are renamed with the type.
    embedded_refusal: str = ""
    known_by_name: dict[str, str] = {}  # a member's name and detail → what relies on that name, for people
    names_no_files: bool = False  # code never refers to files, so a file can be renamed freely within its folder
    packages: Packages | None = None


class Hierarchy(Data, frozen=True):
    """How to read inheritance from the text, for a server whose index loses it."""

    class_pattern: str  # groups: `name` of a type, and its `bases`, in text without comments and strings
    parameters_pattern: str = ""  # before the name of a type: the `parameters` that its bases may be
    maker_pattern: str = ""  # a macro call that may declare a type from its `arguments`
    macro_use_pattern: str = ""  # a use of a `macro`, which may base a type on one of its `arguments`
    alias_patterns: tuple[str, ...] = ()  # groups: another `name` for a `type`
    id_field: str = ""  # in an item's `data`: the server's identifier for the symbol
    bases_field: str = ""  # in an item's `data`: the `data` of the types directly above, those without an item too


class BuiltAction(Data, frozen=True):
    """A refactoring that the server supports as a command, but offers only to clients that can prompt a person.

    In `arguments` and `answers` the string {location} becomes the LSP `Location` of the caller's target, and {NAME}
    the option of that name (as the URI of a file, if it is listed in `files`).
    """

    title: str
    kind: str
    command: str
    arguments: tuple[Any, ...] = ()
    answers: dict[str, str] = {}  # answers to the server's prompts, by their ids
    files: tuple[str, ...] = ()
    needs: str = ""  # offered on lines whose code matches this pattern; empty: never listed


class Actions(Data, frozen=True):
    """The server's code actions, as far as callers may run them."""

    commands: tuple[str, ...] = ()  # commands that only produce edits; no others are executed
    hidden: tuple[str, ...] = ()  # kinds of actions that do not change sources, but show something in an editor
    invented: dict[str, str] = {}  # by kind: a pattern of the name that the server gives to extracted code
    built: tuple[BuiltAction, ...] = ()
    style_files: tuple[str, ...] = ()  # files that define the code style; without one, code is not formatted


class Tests(Data, frozen=True):
    """How tests are recognized and run, and which other functions run without a caller. Patterns for Python's `re`."""

    file_pattern: str = ""  # names of test files
    function_pattern: str = ""  # names of test functions, as in a call hierarchy
    name_pattern: str = ""  # a test's full name; its groups, joined by `.`, are the runner's name for it
    run: str = ""  # runs some tests: {folder} is relative to the project, {names} are joined by `names_joined`
    run_all: str = ""  # runs all tests in {folders} of one project
    names_joined: str = "|"
    # The line of a declaration that is used without being named: an entry point, or an override called by its base.
    implicit_pattern: str = ""


class WordCheck(Data, frozen=True):
    """How the server's answers are verified against the text. See `evidence.word_check`."""

    request: str = "textDocument/definition"  # resolves the symbol at a place, without guessing
    location_fields: tuple[str, ...] = ()  # fields of a result that are `Location`s; empty: the result is one itself
    id_field: str = ""  # field of a result that identifies the symbol, the same in every file
    alias_field: str = ""  # field of a result that matches `alias_pattern` if the result is an alias of the others
    alias_pattern: str = ""
    # Matches `alias_field` if only files that include the declaration can mean the symbol: there is no other one.
    internal_pattern: str = ""
    shared_id_pattern: str = ""  # in `alias_field`: of a symbol whose identifier other symbols have, too
    # Field of a result with the symbol's name. If it differs from the word at the place, the server has misread the
    # code there, unless the word is a keyword that stands for a symbol (`standing_for`).
    name_field: str = ""
    # There is no such field: the name is what the text has where a result points. For a server that answers about
    # something near if it does not know what is asked about.
    named_by_text: bool = False
    standing_for: frozenset[str] = frozenset()
    by_folder: bool = False  # one open file of a folder is enough to ask about all its files
    # Text directly before a member of a value or scope: the group `operator`, and `operand` if that is a name.
    member_pattern: str = ""
    member_operators: frozenset[str] = frozenset()  # operators that members follow
    qualifier_pattern: str = ""  # what follows a name that only qualifies the member (`p->Base::f()`)
    returned_pattern: str = ""  # what precedes the type that a function returns, if an operator for members may
    kind_pattern: str = ""  # text directly before a word of a separate name space
    # What a file has in which the server may list a call as a use of several overloads.
    template_pattern: str = ""
    # Words that begin longer names, with a pattern for the rest of such a name: names with another rest are others.
    longer_names: dict[str, str] = {}
    parameter_pattern: str = ""  # text directly before a parameter of the declaration whose name comes next
    own_parameter_pattern: str = ""  # all text from the name of a type to one of its parameters
    # Text directly before a member of the type `parameter`, a group, of which the server knows nothing where the text
    # has `type_parameter_pattern` with that name as {name}.
    dependent_pattern: str = ""
    type_parameter_pattern: str = ""
    grouped: bool = False  # the references of a method include those of all methods that must share its name
    # It misses nothing in files that it has read, so read-only answers are not verified place by place.
    exact: bool = False


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
    searched_by_name: bool = True  # it has symbols that people look for by name, in the whole workspace
    extra_paths: tuple[str, ...] = ()  # folders to search after PATH; ~ and ${VARIABLE} are expanded
    package_program: str = ""  # the program's path if it was installed as a Python package: PACKAGE/…
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
    toolsets: tuple[str, ...] = ()  # toolsets for this server only, by their names in `TOOLSETS`
    capabilities: dict[str, Any] = {}  # client capabilities to announce, in addition to the usual ones
    initialization_options: dict[str, Any] = {}  # sent with `initialize`
    install: Install | None = None

    def is_generated(self, path: str | Path) -> bool:
        """Whether a build tool generated `path` for its own use."""
        return bool(self._generated and self._generated.search(str(path)))

    @property
    def pulls_diagnostics(self) -> bool:
        """Whether to request the diagnostics of documents from the server, because nothing better is known about it."""
        return not self.diagnostics.command and not self.compilation

    def language_of(self, path: Path) -> Language | None:
        """The language of `path` by its extension; None if this server does not support it."""
        return self._by_extension.get(path.suffix) or self._by_extension.get(path.suffix.lower())

    def supports(self, extension: str) -> bool:
        """Whether the server supports files with `extension`."""
        return extension in self._by_extension or extension.lower() in self._by_extension

    def language_name(self, extension: str) -> str:
        """The display name of the language of files with `extension`, which it supports."""
        return (self._by_extension.get(extension) or self._by_extension[extension.lower()]).name

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
            raise RefusedError(f"{self.name} counts positions in {unit!r}; it was offered {self.positions.offers}")
        return PositionEncoding(cast("CodeUnit", unit), self.positions.lone_cr_ends_line)

    @cached_property
    def _generated(self) -> re.Pattern[str] | None:
        return re.compile(self.workspace.generated_pattern) if self.workspace.generated_pattern else None

    @cached_property
    def extensions(self) -> tuple[str, ...]:
        """Every file extension that the server supports."""
        return tuple(self._by_extension)

    @cached_property
    def _by_extension(self) -> dict[str, Language]:
        return {extension: language for language in self.languages for extension in language.extensions}


Kind = Literal["lsp", "dap"]
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_TAKEN = ("nvim", "dap")  # backends without an adapter


def adapter_names(kind: Kind = "lsp") -> list[str]:
    """The names of all adapters, both shipped and the user's own, sorted."""
    return sorted(adapter_files(kind))


def user_folder() -> Path:
    """The folder of the user's own adapters, `$XDG_CONFIG_HOME/lsp-mcp/adapters`; it need not exist.

    Adapters in a workspace are never read: a repository must not decide which programs run.
    """
    return platformdirs.user_config_path("lsp-mcp") / "adapters"


def adapter_files(kind: Kind) -> dict[str, Path]:
    """The adapter files by name; a user's file replaces a shipped one of the same name."""
    shipped = (data_folder("adapters") / kind).glob("*.toml")
    own = (user_folder() if kind == "lsp" else user_folder() / kind).glob("*.toml")
    return {path.stem: path for path in (*shipped, *own) if _NAME.fullmatch(path.stem) and path.stem not in _TAKEN}


@cache
def load_adapter(name: str) -> Adapter:
    """The adapter `name`.

    Raises:
        ConfigError: no adapter has that name, or its file is invalid.
    """
    files = adapter_files("lsp")
    if name not in files:
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
    """All adapters, sorted by name. Raises the errors of `load_adapter`."""
    return tuple(map(load_adapter, adapter_names()))


# The keys of what is a pattern for Python's `re`.
_PATTERN_KEYS = re.compile(
    r"_patterns?\b|\.pattern$|\.lexing\.|missed\[\d+\]\.files$|private_(?:files|names)$|harmless_errors$"
    r"|(?:left_out|overlooked|embedded)_refusal$|(?:check|import)_problem$|longer_names\.|invented\.|decided_by\."
)


def read_adapter(path: Path) -> Adapter:
    """The adapter in the file `path`.

    Raises:
        ConfigError: the file is not TOML, or a key is unknown, missing or of the wrong type; the message names it.
    """
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Adapter)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise ConfigError(f"the adapter {path} cannot be used: {error}") from None


def check_patterns(adapter: Adapter, path: Path) -> None:
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
