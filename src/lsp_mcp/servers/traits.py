"""Traits of single servers, as data for code that several servers share: the values are in `servers/NAME`.

Each belongs to a hook of `Plugin`. What only one server needs is code in its folder instead.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import field

from lsp_mcp.adapters import Data
from lsp_mcp.text import Text


class Documents(Data, frozen=True):
    """How to synchronize open documents with the server, where the LSP specification is open or not enough."""

    # Extra fields of each `didChange`.
    change_fields: dict[str, Any] = field(default_factory=dict)
    tell_saved: bool = True  # send `didSave` after each `didChange`
    close_when_read: bool = False  # send `didClose` only after diagnostics of the last version have arrived
    reread_fields: dict[str, Any] = field(
        default_factory=dict
    )  # of a `didChange` that makes it read includes again; empty: reopen instead
    # It answers before it has read the changes of closed files, which are opened therefore.
    reads_closed_later: bool = False
    outlines_closed: bool = False  # `documentSymbol` works for documents that are not open
    reread_times: int = 1  # how many such changes to send, each after the reply to the previous one


class InactiveRegions(Data, frozen=True):
    """How the server reports which parts of an open document the preprocessor skips."""

    method: str = ""  # the notification, with `textDocument` and `regions` (ranges); empty: it sends none
    capability: tuple[str, ...] = ()  # key path of the client capability that enables it


class Reports(Data, frozen=True):
    """How the server says, other than by diagnostics, what it could not load."""

    incomplete_pattern: str = ""  # on stderr: group 1 is a file that was indexed only in part
    unusable_pattern: str = ""  # on stderr: group 1 is a file that was not indexed because of its compile flags
    unusable_hint: str = ""  # how to fix that
    harmless_errors: str = ""  # pattern of error codes that hide nothing in the file
    hiding_warnings: str = "(?!)"  # pattern of the codes of others that are like errors in that
    # Pattern of the message of a problem, in whatever file, that means that nothing could be loaded; `reason` says why.
    failure_pattern: str = ""
    # What it says once it needs this request, without which it goes on with what it ran before.
    outdated_pattern: str = "(?!)"
    update_request: str = ""


class Diagnostics(Data, frozen=True):
    """How the server reports problems."""

    command: str = ""  # makes it diagnose files now; by itself it delays files that others affect
    command_field: str = ""  # the field of that command's argument for the files' URIs
    command_covers: Literal["file", "workspace"] = "file"  # what has been diagnosed when the command returns
    clears_closed: bool = False  # closing a document publishes empty diagnostics without a version
    elsewhere_pattern: str = ""  # messages about another file, which the related information names
    remark_pattern: str = (
        ""  # what ends a message without telling the problem: the same problem is told with and without
    )
    outdated_code: str = ""  # code of the error that means that all were found with an old text of another file
    guessed: str = ""  # pattern of the codes of errors at words that the server takes for another, declared one
    syntax_source: str = ""  # the `source` of errors that hide the code after them from the server
    other_build: str = ""  # what messages end with that are not about the server's own build
    load_error: str = ""  # matches messages about a file for which the server may not know those beside it
    # It gives the diagnostics of closed files on request, by what is on disk; "unchanged" for one that it never checks.
    closed_on_request: bool = False
    syntax_only: bool = False  # it knows errors of syntax, which no other file can cause


class LocalTypes(Data, frozen=True):
    """Types that a search by name does not know."""

    subject: str  # what answers call them
    # What is directly before and after a name that they may declare: files that only have others are not parsed for it.
    before_pattern: str
    after_pattern: str


class Symbols(Data, frozen=True):
    """The form of the server's symbols."""

    member_pattern: str = ""  # groups `owner` and `member`: a symbol with such a name belongs to its sibling `owner`
    workspace_symbol_cap: int | None = None  # the most results of one workspace/symbol; None: no cap
    omits_fields: bool = False  # workspace/symbol does not have the fields of types: outlines are read for them
    narrow_query: str = ""  # a query for symbols whose names end with {name}, with few other results
    knows_libraries: bool = False  # workspace/symbol includes symbols of system libraries
    kinds: dict[str, str] = field(
        default_factory=dict
    )  # the actual kind of symbols, by the LSP kind that the server reports
    names_in_text: tuple[str, ...] = ()  # kinds whose name in a call hierarchy differs from the one in the text
    # Text directly after the name of a generic type, for a server that finds its members' uses per instance.
    generic_pattern: str = ""
    implementation_goes_up: bool = False  # for concrete types and methods, implementation returns their interfaces
    qualifier_mark: str = ""  # ends what qualifies a name, if the places of the server's answers include that
    scope_separator: str = ""  # joins `containerName` and `name` into the full name; empty: `name` is the full name
    # Kinds of which several declarations of one name in one scope are one symbol, though the server lists each.
    merged_kinds: frozenset[str] = frozenset()
    merged_apart: str = ""  # matches before the name of one that is apart from those without
    # The kind of what the code of a macro declares where it is called, by the word before its name.
    macro_items: dict[str, str] = field(default_factory=dict)
    local_types: LocalTypes | None = None  # types that workspace/symbol does not have, or not all of their members
    # Text up to the name of a type to which the same declaration gives another one, by which it is used.
    tag_pattern: str = "(?!)"
    # The name of what holds members that others use by the interface that it implements.
    implementing_pattern: str = "(?!)"
    # The line of a field by which a type is embedded, whose members need no field's name; {name} is that name.
    embedded_pattern: str = ""
    # Text that ends with the name of a constant whose place in a list, like that of the next ones, gives the value;
    # `next_pattern` matches after the name if there is a next one.
    counted_pattern: str = ""
    next_pattern: str = ""
    # Text after the name of a type where a value of it may be made without the names of its fields.
    unkeyed_pattern: str = ""
    # What the server's hover on a type says of its member {name} that another type, the group `owner`, declares; a
    # group `package` is empty exactly if that type is in the same folder.
    promoted_patterns: tuple[str, ...] = ()


class Packages(Data, frozen=True):
    """How folders map to packages, for a server that moves the folder when its package clause is renamed."""

    clause_pattern: str  # the package clause, in text without comments; group `name`
    module_file: str  # the file in the folder where package paths begin
    module_pattern: str  # in that file; the group `path` is the module's path
    data_folder: str  # of a package, which has what its tests read
    clause: str = ""  # the package clause for {name}
    import_clause: str = ""  # imports what {spec} says
    qualified: str = ""  # another package's {name}
    standard_module: str = ""  # its packages are imported without its path
    interface: str = ""  # an interface {name} with {methods}, one a line
    path_pattern: str = ""  # names the package {path} outside of code and imports; the group `path` is that
    path_word: str = ""  # in each file with such a name


class Headers(Data, frozen=True):
    """How files include each other, for moving declarations between them."""

    include_pattern: str  # a line that includes a `header`, a group, spelled with its quotes
    include: str  # the line that includes {header}
    guard_pattern: str  # the beginning of a file that is included only once, with a condition around all of it
    condition_patterns: tuple[str, str]  # the lines that begin and end a part under a condition
    once: str  # begins a new header
    scope: str  # a namespace {name} with {code}; {space} is the space before its name if it has one
    shared_pattern: str  # in the header of a definition that several files may have
    # By language, what makes a function one of those; without it such a function cannot be in a header.
    shared: dict[str, str] = field(default_factory=dict)


class Follower(Data, frozen=True):
    """Symbols named after a symbol {name}, such as examples: they are renamed with it."""

    query: str  # the server's search for them
    # Their names; the group `name` is that part, and `owner`, for members only, the name of the type that has {name}.
    pattern: str


class Hovered(Data, frozen=True):
    """What a hover says of a name."""

    types: frozenset[str] = frozenset()  # what may be types in that of the value; none for what has no value
    holds_any: bool = False  # a value of any type may be in it
    is_collection: bool = False  # of such values
    package: str = ""  # that the function or method is in, if it is one of another package
    is_method: bool = False


class Mention(Data, frozen=True):
    """Places outside the code that the server reads where a symbol is called by its name: in files of other languages,
    or in comments.

    Patterns may contain {name}, the symbol's name, and {owner}, the name of its type.
    """

    what: str  # what such a place is, for people: `assembler`
    files: str  # names of such files
    pattern: str = r"\b(?P<name>{name})\b"  # a place; the group `name` is the name itself
    # What of the text counts, in which places are searched for. If there is a group `end`, a match without it does not.
    within: str = ""
    beside: bool = True  # only files in the folder of the declaration
    kinds: tuple[str, ...] = ()  # of the symbols; empty: all
    exported: bool = False  # only symbols that other packages can use
    declared: str = ""  # what the text of the file with the declaration must have
    is_sure: bool = False  # it means the symbol for certain, so it is renamed with it
    is_local: bool = False  # a symbol inside a function (`Renaming.function_pattern`); else none of these
    is_prose: bool = False  # only people read it: a rename that leaves it breaks nothing


class Examples(Data, frozen=True):
    """A file with the code that is in its comments at the end, where the server reads it.

    `segments` are where pieces of that code begin in the file and in `text`, and their lengths, in characters.
    """

    text: Text
    segments: tuple[tuple[int, int, int], ...]

    def shown(self, offset: int) -> int | None:
        """Where `text` has what the file has at `offset`; None if that is no such code."""
        found = (there + offset - start for start, there, length in self.segments if start <= offset < start + length)
        return next(found, None)


class Encoder(Data, frozen=True):
    """Code that reads and writes fields by their names; {name} is its own name."""

    call_pattern: str  # its calls
    value_pattern: str  # calls that take values, in files with the former
    words: tuple[str, ...] = ()  # words of such calls; empty: its own name
    tag_pattern: str = ""  # on the line of a field: another name, which it uses instead


class Serializing(Data, frozen=True):
    """Code that reads and writes the fields of a type by their names; `what` it is, for people.

    It concerns types with `declared` in their head, or in that of a type above (`syntax.type_heads`).
    """

    what: str
    declared: str
    calls: str = ""  # a file with the type's name has such a call; empty: it needs none
    named: str = ""  # text of the declaration up to the end of the field's line by which the field has another name


class Overriding(Data, frozen=True):
    """How members of related types are found, for a server that renames each of them alone."""

    through: str  # text directly before a member of the type whose code it is in
    declared: str  # in the code of a type: it has the member {name}
    sets_through: bool = False  # what is set with such text before it is the attribute of a related type, too
    private_mark: str = ""  # precedes the name of a member that no other type can have
    never: str = "(?!)"  # names of members that have nothing to do with those of other types, or must not be renamed


class Renaming(Data, frozen=True):
    """What the server overlooks when it renames."""

    followers: tuple[Follower, ...] = ()
    # Refused at uses of the field that embeds a type, which are renamed with the type.
    embedded_refusal: str = ""
    known_by_name: dict[str, str] = field(
        default_factory=dict
    )  # pattern of a member's name and detail → what relies on that name, for people
    literal_type_pattern: str = ""  # matches code up to the name of a method in a type without a name
    look_up_pattern: str = ""  # matches a text up to a name in a string, where it is looked up
    looks_up_all: bool = False  # not only members
    function_pattern: str = "(?!)"  # what a function begins with, if outlines list what is declared in it
    encoders: dict[str, Encoder] = field(default_factory=dict)
    serializing: tuple[Serializing, ...] = ()
    overriding: Overriding | None = None
    reading_pattern: str = "(?!)"  # a call that writes into what it gets
    harmless_pattern: str = "(?!)"  # the name of a function that adds nothing to a collection that it gets
    coding_pattern: str = "(?!)"  # names of functions by which many packages encode
    names_no_files: bool = False  # code never refers to files, so a file can be renamed freely within its folder
    packages: Packages | None = None
    taken_names: frozenset[str] = frozenset()  # each function has such a name for something else; members may have it
    # What it writes where an export passes a `name` on, so that importers keep the one that they are `given`. Empty:
    # it renames that everywhere, and asked at any use.
    passed_on: str = ""
    gives_at_imports: bool = False  # asked at an import of a name, it gives that another name there: `name as new_name`
    macro_flag: str = ""  # matches a command that makes {name} a macro
    # The `WordCheck.alias_field` of a type whose methods a linker takes for those of another type with its name, unless
    # the language has no methods.
    linked_type_pattern: str = ""
    program_start: str = ""  # the function that a program starts at, and has once
    # Matches a line of generated code that names the `file` and `line` that the next line was made from.
    line_directive: str = ""
    # Of which each file has one that gets something of another, if a type fits another by its members alone.
    importing_words: tuple[str, ...] = ()


class Hierarchy(Data, frozen=True):
    """How to read inheritance from the text, for a server whose index loses it."""

    override_pattern: str = "(?!)"  # what follows the name of a method that surely overrides another
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
    # Answers to the server's prompts, by their ids.
    answers: dict[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()  # options that name a symbol, for the server by its package's path
    needs: str = ""  # offered on lines whose code matches this pattern; empty: never listed


class Refactorings(Data, frozen=True):
    """What the server can refactor beyond the actions that it lists."""

    invented: dict[str, str] = field(
        default_factory=dict
    )  # by kind: a pattern of the name that the server gives to extracted code
    built: tuple[BuiltAction, ...] = ()


class Namesake(Data, frozen=True):
    """How a symbol is told apart from others with its id, which are defined in files that no program joins.

    It concerns symbols whose `WordCheck.alias_field` matches `id_pattern`. Others are where a file has
    `owner_pattern`, in which {owner} is that group of `id_pattern`, or where a place of the symbol has text with
    `before_pattern` and `after_pattern` around it.
    """

    id_pattern: str
    owner_pattern: str = ""
    before_pattern: str = ""
    after_pattern: str = ""
    is_declared_once: bool = False  # each declaration is a symbol of its own
    is_alone: bool = True  # the linker does not join those of several files


class Implied(Data, frozen=True):
    """Uses of a symbol without its name, which the server does not list: `what`, for people.

    Those of a symbol whose declaration has `pattern` from its name on, or whose `WordCheck.alias_field` matches
    `written`. They are there only if the file that declares it has all patterns of `beside`, the workspace one of
    `words`, a file that can see it text like `code`, and a compile command `flags`; each counts if it is not empty.
    """

    what: str
    pattern: str = ""
    written: str = ""
    beside: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    code: str = ""
    flags: str = ""


class WordCheck(Data, frozen=True):
    """How the server's answers are verified against the text. See `evidence.word_check`."""

    request: str = "textDocument/definition"  # resolves the symbol at a place, without guessing
    location_fields: tuple[str, ...] = ()  # fields of a result that are `Location`s; empty: the result is one itself
    expand_request: str = ""  # expands the call of a macro at a place, whose code it does not read by itself
    expansion_field: str = ""  # of its result
    id_field: str = ""  # field of a result that identifies the symbol, the same in every file
    alias_field: str = ""  # field of a result that matches `alias_pattern` if the result is an alias of the others
    alias_pattern: str = ""
    linked_pattern: str = ""  # matches `alias_field` of what a linker joins by the name that is group 1 alone
    # Matches `alias_field` if only files that include the declaration can mean the symbol: there is no other one.
    internal_pattern: str = ""
    shared_id_pattern: str = ""  # in `alias_field`: of a symbol whose identifier other symbols have, too
    definition_field: str = ""  # the one of `location_fields` that is the definition
    namesakes: tuple[Namesake, ...] = ()  # the first whose pattern matches counts
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
    # In `Symbol.written`: that it belongs to a template or to a specialization of one; and what tells these apart.
    of_template_pattern: str = ""
    of_any_pattern: str = ""  # that its arguments are not all given: there are several such types
    template_marks: str = ""
    # In `Symbol.written`: of a function that a call may find by the types of its arguments, in whatever scope it is.
    found_by_argument: str = ""
    # Words that begin longer names, with a pattern for the rest of such a name: names with another rest are others.
    longer_names: dict[str, str] = field(default_factory=dict)
    expansion_pattern: str = ""  # in a hover about the use of a macro: the group `code` is what it expands to
    parameter_pattern: str = ""  # text directly before a parameter of the declaration whose name comes next
    own_parameter_pattern: str = ""  # all text from the name of a type to one of its parameters
    header_pattern: str = ""  # all text from the keyword of a declaration to one of its parameters
    # Text directly before a member of the type `parameter`, a group, of which the server knows nothing where the text
    # has `type_parameter_pattern` with that name as {name}.
    dependent_pattern: str = ""
    type_parameter_pattern: str = ""
    # The explicit object of a function, with its `type` and `name`; and all `parameters` of a template, which may be
    # that type.
    explicit_object_pattern: str = ""
    type_parameters_pattern: str = "(?!)"
    # What depends on a template's arguments: a word with such text on the line before it; and what a file has in which
    # others may.
    type_dependent_pattern: str = "(?!)"
    generic_pattern: str = "(?!)"
    # Text directly before a name in a comment that is the name of what is declared in this folder at top level.
    directive_pattern: str = ""
    implied: tuple[Implied, ...] = ()
    unusable_pattern: str = ""  # a declaration from the name on, of what no code can use
    maker_words: tuple[
        str, ...
    ] = ()  # functions that call a constructor, which the server does not list at their calls
    grouped: bool = False  # the references of a method include those of all methods that must share its name
    # So do those of a member of an interface: the definition of a use may be what implements it.
    lists_implementations: bool = False
    # The text before a word in a macro's code if it ends a path that means the same wherever the macro is called, with
    # the group `path`; and what shows what {path} with {name} means: the first that a server knows counts, {number}
    # tells such apart.
    absolute_pattern: str = ""
    absolute_codes: tuple[str, ...] = ()
    # The text at a definition that does not spell the name: of what a macro makes there, which others may use.
    maker_pattern: str = "(?!)"
    # The text of a file that gives {name} to what has another one. Without it the name is from elsewhere, where others
    # may have it from, too; empty: only the file of a use has such a name.
    own_alias_pattern: str = ""
    # Its definition of a place may be one of several meanings: a use that its answer lacks is one only if the
    # references of that place lead back.
    leads_back: bool = False
    constructors: str = ""  # what they are called, to which it leads, too, where a class makes an object
    # How the names of two files end that are called alike and declare the same, the first for the second.
    twins: tuple[tuple[str, str], ...] = ()
    listed_keywords: frozenset[str] = frozenset()  # names that it lists where they are part of the syntax, too
    # The code of its diagnostics for what the build leaves out, where it guesses what words mean; and what a file with
    # such code has.
    inactive_code: str = ""
    condition_pattern: str = ""
    by_word: bool = False  # it answers with all places of a word in code, so there is nothing to compare
    # It misses nothing in files that it has read, so read-only answers are not verified place by place.
    exact: bool = False


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
    path_folders: tuple[str, ...] = ()  # what is below folders of these names may be imported by its path from there
