"""The flags that select servers and a workspace, shared by every command that starts or looks for servers."""

from __future__ import annotations

import functools
import logging
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from lsp_mcp.adapters import (
    Adapter,
    adapter_names,
    add_adapter,
    check_patterns,
    leave_out,
    load_adapter,
    read_adapter,
)
from lsp_mcp.cli.help import ServerOption
from lsp_mcp.cli.name_completion import of_names
from lsp_mcp.errors import ConfigError, unknown
from lsp_mcp.index.place import store_url
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.programs import find_program, remote_program
from lsp_mcp.project_adapters import project_adapters
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.sessions.choosing import choose_adapters, other_adapters
from lsp_mcp.sessions.running import Running
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.table import PARTS, TOOLSET_NAMES
from lsp_mcp.visible import visible_lines
from lsp_mcp.workspace import Workspace, from_home, too_wide

if TYPE_CHECKING:
    from lsp_mcp.dap.sessions import DebugSessions
    from lsp_mcp.sessions.neovims import Neovims
    from lsp_mcp.sessions.running import Part

_NVIM = "nvim"  # the backend without an adapter
_DAP = "dap"  # the backend without a language server: debugging alone
_INDEX = "index"  # the backend without a language server: the index store answers alone
_DEBUG = "debug"  # a toolset without a backend, such as those of the parts
_MOST_FILES = 300_000  # in a workspace root that the user did not name; LLVM's checkout has half of it
_MOST_NAMED_FILES = 5_000_000  # in one that the user named: about 1 GiB of memory
_METHOD = re.compile(r"[\w$]+(/[\w$.-]+)*")
# Libraries that log every detail.
_CHATTY = ("mcp", "uvicorn", "sse_starlette", "alembic", "watchfiles")
_CONFLICTS = "psycopg"  # warns about each write that lost a race and is repeated
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}


class _VisibleFormatter(logging.Formatter):
    """Escapes control characters, which messages of other programs and file names may have."""

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        return visible_lines(super().format(record))


@dataclass(frozen=True)
class ServerFlags:
    """The user's choice of servers, and of how they run."""

    backends: tuple[str, ...]
    workspace_root: str
    paths: dict[str, str]  # of programs, by adapter name
    ready_timeout: float  # seconds
    request_timeout: float  # seconds
    answer_within: float | None  # seconds
    idle_timeout: float  # seconds
    memory_limit: int | None  # MiB
    compile_commands: str | None
    shared_index: bool
    remote_index: str | None = field(default=None, kw_only=True)
    toolsets: tuple[str, ...]
    without_toolsets: tuple[str, ...]
    allowed_methods: tuple[str, ...]
    position_base: int
    log_level: str
    socket: str | None
    allow_exec_lua: bool
    allow_protected_edits: bool
    allow_dependencies: tuple[str, ...] = field(default=(), kw_only=True)
    store: str | None
    index_store: str | None = field(default=None, kw_only=True)
    adapter_files: tuple[str, ...] = field(default=(), kw_only=True)
    no_code: bool = field(default=False, kw_only=True)  # whether no language server is to run
    form: Literal["json", "compact"]  # of answers
    response_format: Literal["text", "structured", "both"]  # channel of answers in MCP results
    given: frozenset[str]  # which of these the user gave, by the name of the flag: `--workspace-root`

    @property
    def through_neovim(self) -> bool:
        """Whether language servers are those of a running Neovim."""
        return _NVIM in self.backends or self.socket is not None

    @property
    def adapters(self) -> tuple[str, ...]:
        """The named backends that are language servers."""
        return tuple(name for name in self.backends if name not in (_NVIM, _DAP, _INDEX))

    @property
    def from_index(self) -> bool:
        """Whether the index store answers alone."""
        return _INDEX in self.backends

    @property
    def debugs(self) -> bool:
        """Whether programs are debugged."""
        return _DAP in self.backends or _DEBUG in self.toolsets

    def running(self) -> Running:
        """What the flags describe: server processes, which are started, or a Neovim to connect to; and the parts.

        Raises:
            ConfigError: see `check`, `check_root`, `Workspace`, `choose_adapters`, `config_address`, `Joined`.
        """
        self.check()
        if self.through_neovim:
            neovims = self.neovims()
            return Running(neovims.code, neovims, self._parts(), self._debug())
        return Running(self.sessions(), None, self._parts(), self._debug())

    def _debug(self) -> DebugSessions | None:
        """The debug sessions, if debugging is enabled."""
        if not self.debugs:
            return None
        from lsp_mcp.dap.sessions import DebugSessions

        return DebugSessions(self.workspace().root)

    def _parts(self) -> dict[str, Part]:
        """The enabled parts, which need no backend."""
        return {name: part.open(self.workspace(), self.store) for name, part in PARTS.items() if name in self.toolsets}

    def neovims(self) -> Neovims:
        """The Neovims that the flags describe; none is connected yet. Raises the errors of `running`."""
        from lsp_mcp.nvim.connections import config_address
        from lsp_mcp.sessions.neovims import Neovims

        workspace = self.workspace()
        try:
            adapters = choose_adapters(self.adapters, workspace.root, adapter_names())
        except ConfigError:
            if self.adapters:
                raise
            adapters = []  # depends on what runs in Neovim
        adapters = [adapter for adapter in adapters if not adapter.is_fallback]
        options = SessionOptions(
            ready_timeout=self.ready_timeout, request_timeout=self.request_timeout, database=self.database()
        )
        socket = config_address(self.socket).text if self.socket else None
        return Neovims(workspace, adapters, options, socket, allow_protected_edits=self.allow_protected_edits)

    def sessions(self) -> Sessions:
        """The sessions that the flags describe; their server processes are started.

        Raises:
            ConfigError: see `check_root`, `Workspace`, `choose_adapters`.
        """
        workspace = self.workspace()
        adapters, others = self._servers(workspace.root)
        remote = self._remote_indexes([*adapters, *others])
        paths = {**self.paths, **{name: program for name, (program, _) in remote.items()}}
        options = {
            adapter.name: SessionOptions(
                command=(path, *adapter.command[1:]) if (path := paths.get(adapter.name)) else (),
                ready_timeout=self.ready_timeout,
                request_timeout=self.request_timeout,
                database=self.database(),
                shared_index=self.shared_index,
                remote_index=remote[adapter.name][1] if adapter.name in remote else "",
            )
            for adapter in (*adapters, *others)
        }
        return Sessions(
            workspace,
            adapters,
            options,
            allow_protected_edits=self.allow_protected_edits,
            most_files=self.most_files,
            others=others,
        )

    def _remote_indexes(self, adapters: Sequence[Adapter]) -> dict[str, tuple[str, str]]:
        """By adapter name: the program that asks a remote index, and the address of that.

        Raises:
            ConfigError: an address or a program cannot be used, or none of `adapters` has a remote index.
        """
        found = {}
        for adapter in adapters:
            address = (adapter.remote_install and self.remote_index) or adapter.remote_index
            if address:
                program = self.paths.get(adapter.name) or str(remote_program(adapter) or find_program(adapter))
                plugin_of(adapter).check_remote_index(Path(program), address)
                found[adapter.name] = program, address
        if self.remote_index and not found:
            names = ", ".join(adapter.name for adapter in adapters) or "none"
            raise ConfigError(f"--remote-index is used by none of the language servers here: {names}")
        return found

    def fitting(self) -> list[Adapter]:
        """The servers that would run, without starting one. Raises the errors of `sessions`."""
        workspace = self.workspace()
        if self.through_neovim:
            return [load_adapter(name) for name in self.adapters]
        return self._servers(workspace.root)[0]

    def _servers(self, root: Path) -> tuple[list[Adapter], list[Adapter]]:
        """The adapters for `root`, and those whose servers start when a file of theirs matters.

        None fits an empty folder, in which the first file of a language starts its server.

        Raises:
            ConfigError: see `sessions`; not for a root that is too wide, if the toolsets need no language server.
        """
        if self.no_code or self.from_index or (_DAP in self.backends and not self.adapters):
            return [], []
        try:
            self.check_root(root)
        except ConfigError:
            if not self.adapters and (self.debugs or set(PARTS) & set(self.toolsets)):
                return [], []
            raise
        try:
            fitting = choose_adapters(self.adapters, root, adapter_names())
        except ConfigError:
            if self.adapters or too_wide(root):
                raise
            fitting = []
        return fitting, [] if self.adapters else other_adapters(fitting, adapter_names())

    def workspace(self) -> Workspace:
        """The workspace root.

        Raises:
            ConfigError: it cannot be one.
        """
        workspace = Workspace(Path(self.workspace_root))
        workspace.allowed_folders = tuple(map(_folder, self.allow_dependencies))
        return workspace

    @property
    def is_root_named(self) -> bool:
        """Whether the user named the workspace root, however wide it is; `.` is wherever a client starts us."""
        return Path(self.workspace_root) != Path()

    @property
    def most_files(self) -> int:
        """The limit of files and folders in the workspace root."""
        return _MOST_NAMED_FILES if self.is_root_named else _MOST_FILES

    def check_root(self, root: Path) -> None:
        """Check that `root` is meant.

        Raises:
            ConfigError: it is a whole machine or a home folder, and the user did not name it.
        """
        if not self.is_root_named and (what := too_wide(root)):
            raise ConfigError(
                f"{root} is {what}, not a project. Start lsp-mcp in a project, or pass --workspace-root {root} "
                "if you mean all of it."
            )

    def check(self) -> None:
        """Check the flags, whatever they are used for.

        Raises:
            ConfigError: one is invalid; the message names it.
        """
        for name in (*self.toolsets, *self.without_toolsets):
            if name not in TOOLSET_NAMES:
                raise ConfigError(unknown("toolset", name, TOOLSET_NAMES))
        for method in self.allowed_methods:
            if not _METHOD.fullmatch(method):
                raise ConfigError(
                    f"--allow-method {method[:80]!r} is not the name of a method, such as workspace/symbol"
                )
        if self.from_index and (self.through_neovim or self.adapters):
            other = next(iter(self.adapters), _NVIM)
            raise ConfigError(
                f"--backend {_INDEX} answers from the index store alone; leave it out to ask {other} and the store"
            )
        if self.remote_index and (self.through_neovim or self.from_index):
            raise ConfigError("--remote-index is for language servers that lsp-mcp starts; leave it out here")
        if not self.workspace_root.strip():
            raise ConfigError("--workspace-root is empty; pass the folder of a project")

    def settings(self) -> ToolSettings:
        """The settings of the tools in the flags."""
        return ToolSettings(
            base=0 if self.position_base == 0 else 1,
            request_timeout=self.request_timeout,
            answer_within=self.answer_within,
            allowed_methods=self.allowed_methods,
            allow_exec_lua=self.allow_exec_lua,
            toolsets=(*self.toolsets, _DEBUG) if self.debugs and _DEBUG not in self.toolsets else self.toolsets,
            without_toolsets=self.without_toolsets,
            index_store=store_url(self.index_store) if self.index_store else None,
            from_index=self.from_index,
        )

    def database(self) -> Path | None:
        """The compilation database that the user named: a file, or the folder that it is in.

        Raises:
            ConfigError: it is not there.
        """
        if self.compile_commands is None:
            return None
        named = from_home(self.compile_commands).absolute()
        file = named / "compile_commands.json" if named.is_dir() else named
        if not file.is_file():
            raise ConfigError(f"--compile-commands {self.compile_commands}: there is no such file")
        return file

    def words(self) -> list[str]:
        """The flags that the user gave, without the workspace root, as words of a command line that works anywhere."""
        words = [word for name in self.backends for word in ("--backend", name)]
        for name, path in self.paths.items():
            words += [f"--{name}-path", os.path.abspath(path) if os.sep in path else path]  # noqa: PTH100 (`..` too)
        for flag, values in {
            "--toolset": self.toolsets,
            "--without-toolset": self.without_toolsets,
            "--allow-method": self.allowed_methods,
        }.items():
            words += [word for value in values for word in (flag, value)]
        for file in self.adapter_files:
            words += ["--adapter", os.path.abspath(from_home(file))]  # noqa: PTH100
        if self.compile_commands:
            words += ["--compile-commands", os.path.abspath(from_home(self.compile_commands))]  # noqa: PTH100
        if self.shared_index:
            words.append("--shared-index")
        if self.remote_index:
            words += ["--remote-index", self.remote_index]
        if self.socket:
            words += ["--socket", self.socket]
        if self.allow_exec_lua:
            words.append("--allow-exec-lua")
        if self.allow_protected_edits:
            words.append("--allow-protected-edits")
        for folder in self.allow_dependencies:
            words += ["--allow-dependencies", os.path.abspath(from_home(folder))]  # noqa: PTH100
        if self.store:
            words += ["--store", self.store]
        if self.index_store:
            words += ["--index-store", self.index_store]
        rest = {
            "--ready-timeout": f"{self.ready_timeout:g}",
            "--request-timeout": f"{self.request_timeout:g}",
            "--answer-within": f"{self.answer_within:g}" if self.answer_within is not None else "",
            "--idle-timeout": f"{self.idle_timeout:g}",
            "--memory-limit": str(self.memory_limit),
            "--position-base": str(self.position_base),
            "--log-level": self.log_level,
            "--response-format": self.response_format,
        }
        return words + [word for flag, value in rest.items() if flag in self.given for word in (flag, value)]


def _folder(name: str) -> Path:
    """The folder of `--allow-dependencies`, with links resolved. Raises ConfigError: it does not exist."""
    folder = from_home(name).absolute()
    if not folder.is_dir():
        raise ConfigError(f"--allow-dependencies {name}: there is no such folder")
    return folder.resolve()


def add_adapters(files: Sequence[str], root: str) -> None:
    """Use the adapters in `files`, and those of the project in `root` that its user trusts.

    Raises:
        ConfigError: one of them cannot be read.
    """
    for file in project_adapters(Path(root)):
        if file.trusted:
            add_adapter(file.path, file.adapter())
        else:
            leave_out(file.path)
    for name in files:
        path = from_home(name).absolute()
        adapter = read_adapter(path)
        check_patterns(adapter, path)
        add_adapter(path, adapter)


def server_flags(*shown: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add these flags to a command, which gets one argument `flags`, the `ServerFlags`. Its help lists those `shown`.

    Without `shown` it lists all. A subcommand takes them too, as if given before it: `lsp-mcp --backend X call …` and
    `lsp-mcp call --backend X …` are the same. If a flag is given twice, the one nearest to the subcommand counts.
    """
    return functools.partial(_with_server_flags, shown=shown)


def _with_server_flags(command: Callable[..., Any], shown: Collection[str]) -> Callable[..., Any]:
    names = adapter_names()
    options = _options(names)

    @functools.wraps(command)
    def wrapped(*args: Any, **values: Any) -> Any:
        found = {flag: _given(click.get_current_context(), _parameter(flag), values) for flag in options}
        value = {flag: value for flag, (value, _) in found.items()}
        add_adapters(value["--adapter"], value["--workspace-root"])
        flags = ServerFlags(
            backends=value["--backend"],
            workspace_root=value["--workspace-root"],
            paths={name: path for name in names if (path := value[f"--{name}-path"])},
            ready_timeout=value["--ready-timeout"],
            request_timeout=value["--request-timeout"],
            answer_within=value["--answer-within"],
            idle_timeout=value["--idle-timeout"],
            memory_limit=value["--memory-limit"],
            compile_commands=value["--compile-commands"],
            shared_index=value["--shared-index"],
            remote_index=value["--remote-index"],
            toolsets=value["--toolset"],
            without_toolsets=value["--without-toolset"],
            allowed_methods=value["--allow-method"],
            position_base=int(value["--position-base"]),
            log_level=value["--log-level"],
            socket=value["--socket"],
            allow_exec_lua=value["--allow-exec-lua"],
            allow_protected_edits=value["--allow-protected-edits"],
            allow_dependencies=value["--allow-dependencies"],
            store=value["--store"],
            index_store=value["--index-store"],
            adapter_files=value["--adapter"],
            form=value["--format"],
            response_format=value["--response-format"],
            given=frozenset(flag for flag, (_, given) in found.items() if given),
        )
        form = "%(levelname).1s %(name)s: %(message)s"
        logging.basicConfig(stream=sys.stderr, level=_LEVELS[flags.log_level], force=True)
        logging.getLogger().handlers[0].setFormatter(_VisibleFormatter(form))
        for name in _CHATTY:
            logging.getLogger(name).setLevel(logging.WARNING)
        logging.getLogger(_CONFLICTS).setLevel(logging.ERROR)
        return command(*args, flags=flags, **values)

    for flag, (kind, text) in reversed(options.items()):
        hidden = bool(shown) and flag not in shown and not (flag.endswith("-path") and "--*-path" in shown)
        wrapped = click.option(flag, help=text, cls=ServerOption, hidden=hidden, **kind)(wrapped)
    return wrapped


def _options(names: list[str]) -> dict[str, tuple[dict[str, Any], str]]:
    """Each flag with its kind and its help, for the adapters `names`."""
    seconds: dict[str, Any] = {"show_default": True, "metavar": "SECONDS"}
    toolsets = of_names(lambda: TOOLSET_NAMES)
    return {
        "--backend": (
            {"multiple": True, "metavar": "NAME", "shell_complete": of_names(lambda: [*names, _NVIM, _DAP, _INDEX])},
            f"Language server, repeatable ({', '.join(names)}), or nvim for those of a running Neovim, or dap to debug "
            "without any, or index for answers from the index store alone. Default: what the files in the workspace "
            "root call for.",
        ),
        "--socket": (
            {"metavar": "PATH"},
            "Neovim's socket or HOST:PORT, for --backend nvim. Default: the Neovim that works in the workspace root.",
        ),
        "--workspace-root": (
            {"default": ".", "show_default": True, "metavar": "FOLDER"},
            "The project folder.",
        ),
        "--ready-timeout": (
            {"type": Seconds(min=0), "default": 30.0, **seconds},
            "Longest wait for a server to load the workspace; then answers are partial, and their status says so. "
            "It leaves a call at least half of --request-timeout.",
        ),
        "--request-timeout": (
            {"type": Seconds(min=0.1), "default": 55.0, **seconds},
            "Longest wait for servers in one call. A server that does nothing in that time is replaced.",
        ),
        "--answer-within": (
            {"type": Seconds(min=0), "metavar": "SECONDS"},
            "Longest that an answer which only reads waits to be compared with all of the code; then it says what is "
            "not compared yet, and that goes on in the background. Default: as long as the server's own answer took, "
            "at least 0.5 and at most 3.",
        ),
        "--idle-timeout": (
            {"type": Seconds(min=0), "default": 1800.0, **seconds},
            "How long shared language servers stay idle before they end, and their daemon without a session.",
        ),
        "--memory-limit": (
            {"type": click.IntRange(min=1), "metavar": "MIB"},
            "Memory for all shared language servers together: beyond it, those asked least recently are ended, and "
            "start again when asked. Default: half of the machine's.",
        ),
        "--adapter": (
            {"multiple": True, "metavar": "FILE"},
            "Adapter of a language server, repeatable; those in your configuration folder need no flag.",
        ),
        "--compile-commands": (
            {"metavar": "FILE"},
            "The compilation database. Default: the one in the workspace root or its usual build folders.",
        ),
        "--shared-index": (
            {"is_flag": True},
            "Share the index with your editor's language server, instead of a private one.",
        ),
        "--remote-index": (
            {"metavar": "HOST:PORT"},
            "An index server that a language server asks instead of indexing all code.",
        ),
        "--toolset": (
            {"multiple": True, "metavar": "NAME", "shell_complete": toolsets},
            f"Offer these tools too, repeatable ({', '.join(TOOLSET_NAMES)}).",
        ),
        "--without-toolset": (
            {"multiple": True, "metavar": "NAME", "shell_complete": toolsets},
            "Don't offer these tools, repeatable.",
        ),
        "--allow-method": (
            {"multiple": True, "metavar": "METHOD"},
            "LSP method to pass through in addition to the read-only ones, repeatable.",
        ),
        "--allow-exec-lua": ({"is_flag": True}, "Offer exec_lua, which can do everything in Neovim that its user can."),
        "--allow-protected-edits": (
            {"is_flag": True},
            "Let edits change files that can make programs run: .git, hooks, the configuration of editors and agents.",
        ),
        "--allow-dependencies": (
            {"multiple": True, "metavar": "FOLDER"},
            "Show sources of dependencies in that folder outside of the workspace root, repeatable. Default: those of "
            "the toolchain and its package cache, and the checkout around the root; see docs/security.md.",
        ),
        "--store": (
            {"metavar": "URL"},
            " ".join(part.store for part in PARTS.values()),
        ),
        "--index-store": (
            {"metavar": "URL"},
            "Index of other repositories: postgresql://USER@HOST/DATABASE or sqlite:///FILE. Default: what "
            "lsp-mcp index has stored in the user's data folder.",
        ),
        "--position-base": (
            {"type": click.Choice(["0", "1"]), "default": "1", "show_default": True},
            "Whether lines and characters count from 0 or 1; anchors always count from 1.",
        ),
        "--format": (
            {"type": click.Choice(["json", "compact"]), "default": "compact", "show_default": True},
            "Form of answers: short text for models, or JSON for scripts. lsp-mcp call: JSON unless on a terminal.",
        ),
        "--response-format": (
            {"type": click.Choice(["text", "structured", "both"]), "default": "text", "show_default": True},
            "Channel of answers in MCP results.",
        ),
        "--log-level": (
            {"type": click.Choice(list(_LEVELS)), "default": "info", "show_default": True},
            "What is logged on stderr.",
        ),
        **{
            f"--{name}-path": ({"metavar": "PROGRAM"}, f"The {name} to run. Default: the installed one.")
            for name in names
        },
    }


class Seconds(click.FloatRange):
    """A duration: `nan` and `inf` are numbers too, but not durations."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See `FloatRange`."""
        seconds = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is not a number of seconds.", param, ctx)
        return seconds


def _given(context: click.Context, name: str, values: dict[str, Any]) -> tuple[Any, bool]:
    """The value of the parameter `name`, taken out of `values`, and whether the user gave it here or further out."""
    default = values.pop(name)
    at: click.Context | None = context
    while at is not None:
        if at.get_parameter_source(name) not in (None, ParameterSource.DEFAULT):
            return at.params[name], True
        at = at.parent
    return default, False


def _parameter(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")
