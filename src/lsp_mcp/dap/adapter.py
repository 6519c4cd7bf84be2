"""The facts about one debugger, as checked data: `DebugAdapter`, read from `adapters/dap/*.toml`.

No code in this program names a debugger. Templates of arguments contain `{name}`: a string that consists of one becomes
the value itself, and a key whose value is unknown is left out; see `filled`.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from lsp_mcp.adapters import Data, Install, Requirement, adapter_files, adapter_names
from lsp_mcp.errors import ConfigError, unknown

_EMPTY: Any = msgspec.field(default_factory=dict)
Break = Literal["uncaught", "raised", "user", "none"]


class TestRun(Data, frozen=True):
    """How one kind of command that runs tests is debugged instead."""

    pattern: str  # of the command; its groups are the values of the template
    launch: dict[str, Any]
    example: str = ""  # such a command, for callers
    own_folder: bool = False  # tests run in the folder of their sources, not where the command is given
    needs_program: bool = False


class NamedTest(Data, frozen=True):
    """How to find a test by its name alone."""

    files: tuple[str, ...]  # globs of files with tests
    pattern: str  # the line that declares it; {name}
    command: str  # that runs it: {file}, {folder}, {name}; matches a `TestRun`


class Note(Data, frozen=True):
    """Hints for the reader about a stop."""

    text: str  # in what is said of the stop
    note: str


class Exceptions(Data, frozen=True):
    """The exception filters for what callers request."""

    uncaught: tuple[str, ...] = ()
    raised: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    pass_over: str = ""  # of what is raised: a plain end of the program, at which nobody wants to stop


class Exits(Data, frozen=True):
    """How to recognise a program's end."""

    code_pattern: str = ""  # in output: its exit code, for an adapter that sends no `exited`
    signal_pattern: str = ""  # in output: the number or name of the signal that ended it
    signals: Literal["", "from 256", "negative", "last stop"] = ""  # how an exit code says that it was a signal
    stop_pattern: str = ""  # of what is said of a stop: the name of a signal


class Variables(Data, frozen=True):
    """How to show its variables."""

    hidden: tuple[str, ...] = ()  # patterns of names that are none of the program's
    opaque: str = ""  # a pattern of values that say nothing: what is in them is shown
    scopes: str = "^(?:Locals?|Arguments)$"  # a pattern of the names of scopes with a frame's own
    # The elements {start} to {end} of {expression}, from 0: for an adapter that lists only the first ones of many.
    page: str = ""
    page_named: str = ""  # the same where elements have names; it fails for any other value, and is tried first
    page_most: int = 1000  # elements of one page: one less than the adapter lists
    returned: str = ""  # a pattern of the names of returned values


class DebugAdapter(Data, frozen=True):
    """The facts about one debugger."""

    name: str
    title: str
    types: tuple[str, ...]  # what configurations call it; the first is sent to it
    command: tuple[str, ...]  # {script}: what `package_program` or the installation's program is; {socket}
    package_program: str = ""
    extra_paths: tuple[str, ...] = ()
    requires: tuple[Requirement, ...] = ()
    version_command: tuple[str, ...] = ()
    install: Install | None = None
    # The pattern by which it says that it listens, on {socket} or on the port that is its group; empty: it speaks on
    # its own pipes.
    listening: str = ""
    untested: bool = False  # nobody has tried this adapter with this program
    # What it debugs: extensions of programs, names of files in a folder that is a program, compiled programs.
    extensions: tuple[str, ...] = ()
    folder_files: tuple[str, ...] = ()
    program_is_folder: bool = False  # it builds the folder of a source file
    executables: bool = False
    executable_marks: tuple[str, ...] = ()  # bytes, as Latin-1, near the start of compiled programs that are its own
    launch_executable: dict[str, Any] = _EMPTY  # laid over `launch` for those
    rank: int = 1  # of several that fit, the lowest that is installed
    package_command: tuple[str, ...] = ()  # by which an {interpreter} prints the folder of its copy of the package
    interpreters: tuple[str, ...] = ()  # {interpreter}: the first that exists; {root}
    env: dict[str, str] = _EMPTY  # of what it debugs, unless the caller says otherwise
    adapter_env: dict[str, str] = _EMPTY
    launch: dict[str, Any] = _EMPTY
    setup: tuple[dict[str, Any], ...] = ()  # requests after `initialized`: `command`, `arguments`
    builds: str = ""  # what it does before the program starts, for a sentence
    # How the program gets input. `adapter`: it inherits the adapter's; `file`: by the keys `stdin_file`; `terminal`: it
    # is started by us, as if in a terminal.
    stdin: Literal["adapter", "file", "terminal"] = "terminal"
    stdin_file: dict[str, Any] = _EMPTY  # {stdin_file}
    terminal: dict[str, Any] = _EMPTY
    always_terminal: bool = False  # what it knows of a program that it starts itself is too little
    attach_pid: dict[str, Any] = _EMPTY
    instead_of_pid: str = ""  # what callers do where it cannot attach to the process {pid}
    attach_port: dict[str, Any] = _EMPTY
    attach_core: dict[str, Any] = _EMPTY
    core_request: Literal["launch", "attach"] = "attach"  # that opens a core file
    port_speaks_dap: bool = False  # the port that callers attach to is itself a debug adapter's
    exceptions: Exceptions = Exceptions()
    exits: Exits = Exits()
    variables: Variables = Variables()
    context: str = "repl"  # of an evaluation
    noise: str = ""  # what is left out of its refusals, of exceptions and of names of calls: a pattern
    assign: str = ""  # an expression that sets {name} to {value}, for an adapter that can't be asked to
    hit: str = "{count}"  # a condition that holds at the hit {count} and later
    streams: dict[str, str] = _EMPTY  # DAP's categories of output that have another meaning here: `stdout`, `debugger`
    chatter: tuple[str, ...] = ()  # patterns of lines of output that are the debugger's own
    chatter_goes_on: str = ""  # of a line after such a line
    not_it: tuple[
        str, ...
    ] = ()  # patterns of paths that are the language's own: what raised there was called elsewhere
    pause_text: str = ""  # in what is said of a stop that was asked for
    aside_text: str = ""  # in what is said of a thread that stands beside the one to look at: it means nothing
    says_continued: bool = False  # after each resume, and before the next stop; what comes earlier is of the last one
    # It may stop at a breakpoint whose condition is false, for which it answers this pattern; empty: it never does.
    false_condition: str = ""
    refused_text: str = ""  # in what is said of a stop that only means that a step was refused: a pattern
    notes: tuple[Note, ...] = ()
    head_pattern: str = ""  # a line that declares a function and is run when that is made, not when it is called
    head_end: str = ""  # ends such a declaration
    scheme: str = ""  # of anchors in its sources
    tests: tuple[TestRun, ...] = ()
    named_tests: tuple[NamedTest, ...] = ()

    def plain(self, text: str) -> str:
        """`text` of the adapter without its own additions."""
        return re.sub(self.noise, "", text).strip() if self.noise else text


def debugger_names() -> list[str]:
    """The names of all debuggers, sorted."""
    return adapter_names("dap")


@cache
def load_debugger(name: str) -> DebugAdapter:
    """The debugger `name`.

    Raises:
        ConfigError: there is none of that name, or its file is wrong.
    """
    files = adapter_files("dap")
    if name not in files:
        raise ConfigError(unknown("debugger", name, sorted(files)))
    return read_debugger(files[name])


def debuggers() -> list[DebugAdapter]:
    """All debuggers, the preferred ones for the same programs first."""
    return sorted(map(load_debugger, debugger_names()), key=lambda one: one.rank)


def read_debugger(path: Path) -> DebugAdapter:
    """The debugger in the file `path`.

    Raises:
        ConfigError: the file is not TOML, or a key is unknown, missing or of the wrong type; the message names it.
    """
    try:
        adapter = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), DebugAdapter)
        patterns = [
            adapter.listening,
            adapter.head_pattern,
            adapter.head_end,
            adapter.noise,
            adapter.chatter_goes_on,
            adapter.refused_text,
            adapter.false_condition,
        ]
        patterns += [
            *adapter.chatter,
            *adapter.not_it,
            *adapter.variables.hidden,
            adapter.variables.opaque,
            adapter.variables.scopes,
        ]
        patterns += [adapter.exits.code_pattern, adapter.exits.signal_pattern, adapter.exits.stop_pattern]
        patterns += [adapter.exceptions.pass_over, *(test.pattern for test in adapter.tests)]
        for pattern in patterns:
            re.compile(pattern)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError, re.error) as error:
        raise ConfigError(f"the adapter {path} cannot be used: {error}") from None
    return adapter


_HOLE = re.compile(r"\{(\w+)\}")


def filled(template: Any, values: dict[str, Any]) -> Any:
    """`template` with its placeholders filled in; None if one that is the whole string has no value."""
    if isinstance(template, dict):
        pairs = ((key, filled(value, values)) for key, value in template.items())
        return {key: value for key, value in pairs if value is not None}
    if isinstance(template, list):
        return [one for item in template if (one := filled(item, values)) is not None]
    if not isinstance(template, str):
        return template
    if whole := _HOLE.fullmatch(template):
        return values.get(whole[1])
    names = _HOLE.findall(template)
    if any(values.get(name) is None for name in names):
        return None
    return _HOLE.sub(lambda hole: str(values[hole[1]]), template)
