"""Which daemon a command line asks for: `Asked`, and `asked_of`."""

from __future__ import annotations

import itertools
import os
import zlib
from collections.abc import Mapping, Sequence

from lsp_mcp import __version__

# Flags that say how one client is served; all others say what runs, and so which daemon it is.
OF_A_CLIENT = frozenset(
    {
        *("--format", "--response-format", "--position-base"),
        *("--toolset", "--without-toolset", "--allow-method", "--allow-exec-lua"),
    }
)
SWITCHES = frozenset(
    {"--shared", "--no-shared", "--shared-index", "--allow-protected-edits", "--allow-exec-lua", "--json", "--batch"}
)
_NVIM = "nvim"
# A program that is debugged ends with the session that started it.
_BACKENDS_ALONE = {"dap"}
_TOOLSETS_SHARED = {"code", "lsp", "clangd", "clangd-more", "nvim", "lua"}  # those over language servers and Neovims
OF_WHAT_RUNS = frozenset(
    {
        *("--backend", "--socket", "--ready-timeout", "--request-timeout", "--idle-timeout", "--memory-limit"),
        *("--compile-commands", "--store", "--shared-index", "--allow-protected-edits", "--log-level"),
    }
)
_OF_LISTENING = {"--transport", "--port", "--host"}
# What language servers, compilers and package managers do not look at: it differs from one terminal to the next. All
# else does, whatever its name: GOFLAGS, CPATH, VIRTUAL_ENV, …
_OF_A_TERMINAL = frozenset(
    {
        *("PWD", "OLDPWD", "SHLVL", "_", "TERM", "COLORTERM", "COLUMNS", "LINES", "WINDOWID", "WINDOW", "STY", "PS1"),
        *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DESKTOP_STARTUP_ID", "LS_COLORS", "LESSOPEN", "LESSCLOSE"),
        *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "PAGER", "EDITOR", "VISUAL", "MANPAGER", "INVOCATION_ID"),
        *("JOURNAL_STREAM", "LSP_MCP_TOKEN", "NVIM", "NVIM_LISTEN_ADDRESS", "VSCODE_IPC_HOOK_CLI", "PROMPT_COMMAND"),
    }
)
# What a Neovim sets for the programs that run in its terminal. Its own language servers do not see those.
_OF_A_NEOVIM = frozenset({"VIM", "VIMRUNTIME", "MYVIMRC", "NVIM_LOG_FILE"})
_WHERE_NEOVIM_IS = ("NVIM", "NVIM_LISTEN_ADDRESS")
_LIMITS = ("Umask:", "CapEff:", "NoNewPrivs:", "Seccomp:")  # Landlock comes with NoNewPrivs
_OF_TERMINALS = ("SSH_", "TERM_", "TMUX", "KITTY_", "ITERM_", "VTE_", "VSCODE_", "WT_", "KONSOLE_", "GNOME_TERMINAL_")
_OF_CLIENTS = ("CLAUDE", "CODEX_", "CURSOR_", "OPENCODE", "GEMINI_", "ANTHROPIC_", "OPENAI_", "MCP_", "npm_")


class Asked:
    """A daemon, and how it is to serve one client of it.

    `shape` are the flags that say what runs, normalized; `client` those that say how this client is served; `root` is
    the workspace root, absolute and resolved, and `named` whether the user named it; `call` is a tool and the words for
    it, for one call from the shell; `batch` says that calls come a line each.
    """

    def __init__(
        self,
        shape: Sequence[str],
        client: Sequence[str],
        root: str,
        environment: Mapping[str, str],
        call: Sequence[str] = (),
        *,
        named: bool = True,
        batch: bool = False,
    ) -> None:
        self.shape = tuple(shape)
        self.client = tuple(client)
        self.root = root
        self.is_of_neovim = is_of_neovim(shape)
        hidden = _OF_A_NEOVIM if self.is_of_neovim else ()
        self.environment = {name: value for name, value in environment.items() if name not in hidden}
        self.call = tuple(call)
        self.named = named
        self.batch = batch
        self.program = (__version__, build())  # when this was made: it may be upgraded under us

    @property
    def served(self) -> str:
        """The same for all that one daemon can serve: root, what runs, the environment that it sees, what it may do."""
        variables = [f"{name}={value}" for name, value in sorted(self.environment.items())]
        return "\0".join([self.root, *self.shape, "", *variables, "", *confinement()])

    @property
    def name(self) -> str:
        """For file names: of the program and what is served. It is short, so a daemon compares `served` too."""
        data = "\0".join([*self.program, self.served]).encode("utf-8", "surrogateescape")
        return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}"


def asked_of(words: Sequence[str], *, listening: bool = False) -> Asked | None:
    """What `words`, the arguments of `lsp-mcp`, ask for; None if a shared daemon is not to answer them.

    `listening`: for clients that connect to this process, and not on stdio. Those of a Neovim are told of changes,
    which is not forwarded.

    Raises:
        OSError: the working folder is gone.
    """
    found = parted(words)
    if found is None:
        return None
    flags, rest = found
    batch = ("--batch", "") in flags
    is_call = rest[:1] == ["call"] and (len(rest) == 1 if batch else len(rest) > 1 and rest[1] != "list")
    if (rest or batch) and not is_call:
        return None
    shared = os.environ.get("LSP_MCP_SHARED", "1") != "0"
    shape: list[str] = []
    client: list[str] = []
    named = ""
    for flag, value in (one for one in flags if one != ("--batch", "")):
        if flag in ("--shared", "--no-shared"):
            shared = flag == "--shared"
        elif listening and flag in _OF_LISTENING:
            pass
        elif (flag == "--backend" and value in _BACKENDS_ALONE) or (
            flag == "--toolset" and value not in _TOOLSETS_SHARED
        ):
            return None
        elif flag == "--workspace-root":
            named = value
        elif flag in OF_A_CLIENT or (flag == "--json" and rest):
            client += [flag] if flag in SWITCHES else [flag, value]
        elif flag in OF_WHAT_RUNS or flag.endswith("-path"):
            whole = _absolute(value) if _is_path(flag, value) else value
            shape += [flag] if flag in SWITCHES else [flag, whole]
        else:
            return None  # the command line says what is wrong with it
    if not shared or (listening and is_of_neovim(shape)):
        return None
    root = os.path.realpath(named or ".")
    return Asked(shape, client, root, relevant(os.environ), rest[1:], named=named not in ("", "."), batch=batch)


def _is_path(flag: str, value: str) -> bool:
    if flag == "--socket":  # else HOST:PORT, as `nvim.address.parse_address` has it
        return value.startswith("~") or "/" in value or os.path.lexists(value)
    return os.sep in value or flag == "--compile-commands"


def _absolute(path: str) -> str:
    whole = os.path.expanduser(path)
    return os.path.realpath(whole) if ".." in whole.split(os.sep) else os.path.abspath(whole)


def is_of_neovim(shape: Sequence[str]) -> bool:
    """Whether the flags `shape` ask for the language servers of a Neovim."""
    return "--socket" in shape or ("--backend", _NVIM) in itertools.pairwise(shape)


def where_neovim_is(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that name a Neovim to the programs that it runs."""
    return {name: environment[name] for name in _WHERE_NEOVIM_IS if name in environment}


def parted(words: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]] | None:
    """The flags with their values, and the other words; None if that cannot be told."""
    flags: list[tuple[str, str]] = []
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-"):
            rest.append(word)
            continue
        flag, equals, value = word.partition("=")
        if not flag.startswith("--") or flag == "--":
            return None
        if flag not in SWITCHES and not equals:
            if not left:
                return None
            value = left.pop(0)
        flags.append((flag, value))
    return flags, rest


def build() -> str:
    """Which program this is, beyond its version: where it is, and when it was installed or, in a checkout, changed."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = (
        os.walk(package) if os.path.basename(os.path.dirname(package)) == "src" else [(package, (), ("__init__.py",))]
    )
    times = [
        os.stat(os.path.join(folder, file)).st_mtime_ns
        for folder, _, files in folders
        for file in files
        if file.endswith(".py")
    ]
    return f"{package}@{max(times)}"


def confinement() -> list[str]:
    """What limits this process and those that it starts, where the system tells (Linux).

    Who is in a sandbox or a container is not served by a daemon outside it, which sees and may do other things, nor
    the other way round.
    """
    found = []
    try:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as status:
            found += [line.rstrip() for line in status if line.startswith(_LIMITS)]
        found += [os.readlink(f"/proc/self/ns/{kind}") for kind in ("mnt", "net", "pid", "user")]
        found.append(os.readlink("/proc/self/root"))
    except OSError:
        pass  # another system, or a kernel without these
    return found


def relevant(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that what runs may depend on."""
    passing = (*_OF_TERMINALS, *_OF_CLIENTS)
    return {
        name: value
        for name, value in environment.items()
        if name not in _OF_A_TERMINAL and not name.startswith(passing)
    }
