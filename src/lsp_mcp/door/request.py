"""The daemon that a command line needs: `DaemonRequest`, and `daemon_request`."""

from __future__ import annotations

import itertools
import os
import sys
import zlib
from collections.abc import Mapping, Sequence

from lsp_mcp import __version__
from lsp_mcp.door.environment import counted

# Flags that affect one client only; all others say what runs, and so identify the daemon.
OF_A_CLIENT = frozenset(
    {
        *("--format", "--response-format", "--position-base", "--answer-within", "--index-store"),
        *("--toolset", "--without-toolset", "--allow-method", "--allow-exec-lua"),
    }
)
SWITCHES = frozenset(
    {"--shared", "--no-shared", "--shared-index", "--allow-protected-edits", "--allow-exec-lua", "--json", "--batch"}
)
_NVIM = "nvim"
# A program that is debugged ends with the session that started it.
_BACKENDS_ALONE = {"dap"}
_TOOLSETS_SHARED = {"code", "lsp", "clangd", "clangd-more", "nvim", "lua"}  # those for language servers and Neovims
OF_WHAT_RUNS = frozenset(
    {
        *("--backend", "--socket", "--ready-timeout", "--request-timeout", "--idle-timeout", "--memory-limit"),
        *("--adapter", "--compile-commands", "--store", "--shared-index", "--allow-protected-edits", "--log-level"),
        *("--allow-dependencies", "--remote-index"),
    }
)
_OF_LISTENING = {"--transport", "--port", "--host"}
_WHERE_NEOVIM_IS = ("NVIM", "NVIM_LISTEN_ADDRESS")
_LIMITS = ("Umask:", "CapEff:", "NoNewPrivs:", "Seccomp:")  # Landlock requires NoNewPrivs


class DaemonRequest:
    """A daemon, and how it serves one client.

    `shape` are the flags that say what runs, normalized; `client` those for this client; `environment` is what counts
    of it; `root` is the workspace root, absolute and resolved, and `named` whether the user named it; `call` is a
    tool and its words, for one call from the shell; `batch`: calls come one per line.
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
        self.environment = dict(environment)
        self.call = tuple(call)
        self.named = named
        self.batch = batch
        self.program = (__version__, build())  # the time of creation: the program may be upgraded while it runs

    @property
    def served(self) -> str:
        """Equal for everything that one daemon can serve: root, flags, environment, permissions."""
        variables = [f"{name}={value}" for name, value in sorted(self.environment.items())]
        return "\0".join([self.root, *self.shape, "", *variables, "", *confinement()])

    @property
    def parts(self) -> dict[str, str]:
        """What `served` consists of, by names for users, with checksums instead of values, which may be secret."""
        named = {"flags": "\0".join(self.shape), **self.environment, "permissions": "\0".join(confinement())}
        named["installation"] = "\0".join(self.program)
        return {name: f"{zlib.crc32(one.encode('utf-8', 'surrogateescape')):08x}" for name, one in named.items()}

    @property
    def name(self) -> str:
        """For file names: of the program and `served`. It is short, so a daemon compares `served` too."""
        data = "\0".join([*self.program, self.served]).encode("utf-8", "surrogateescape")
        return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}"


def daemon_request(words: Sequence[str], *, listening: bool = False) -> DaemonRequest | None:
    """The daemon needed for `words`, the arguments of `lsp-mcp`; None if a shared daemon cannot answer them.

    `listening`: for clients that connect to this process, not on stdio. A Neovim's clients are notified of changes,
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
            return None  # the command line reports the error
    if not shared or (listening and is_of_neovim(shape)):
        return None
    root = os.path.realpath(named or ".")
    return DaemonRequest(
        shape, client, root, counted(os.environ, backends(shape)), rest[1:], named=named not in ("", "."), batch=batch
    )


def _is_path(flag: str, value: str) -> bool:
    if flag == "--socket":  # else HOST:PORT, as `nvim.address.parse_address` returns it
        return value.startswith("~") or "/" in value or os.path.lexists(value)
    return os.sep in value or flag in ("--adapter", "--compile-commands", "--allow-dependencies")


def _absolute(path: str) -> str:
    whole = os.path.expanduser(path)
    return os.path.realpath(whole) if ".." in whole.split(os.sep) else os.path.abspath(whole)


def is_of_neovim(shape: Sequence[str]) -> bool:
    """Whether the flags `shape` request the language servers of a Neovim."""
    return "--socket" in shape or ("--backend", _NVIM) in itertools.pairwise(shape)


def backends(shape: Sequence[str]) -> list[str]:
    """The backends that the flags `shape` choose by name."""
    return [value for flag, value in itertools.pairwise(shape) if flag == "--backend"]


def where_neovim_is(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that name a Neovim to programs running in it."""
    return {name: environment[name] for name in _WHERE_NEOVIM_IS if name in environment}


def parted(words: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]] | None:
    """The flags with their values, and the other words; None if unclear."""
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
    """The identity of this program beyond its version: its place, the time of its installation or, in a checkout, of
    its changes, and the Python environment, which may have language servers of its own.
    """
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
    # Not the latest time: a clock that was set back dates a change before it.
    return f"{package}@{sum(times)} in {sys.prefix}"


def confinement() -> list[str]:
    """The limits of this process and its children, if the system tells (Linux).

    A client in a sandbox or container is not served by a daemon outside it, which has other permissions, or vice versa.
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
