"""clangd's remote index: an index server answers for the files that clangd itself has not read. Seen with clangd 22.1.

clangd answers from local files alone, without a word, while the server is down, slow or of another state of the code:
`RemoteIndex` asks the server itself and reads clangd's log, so that answers say so.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsp_mcp.errors import ConfigError
from lsp_mcp.gaps import Gap, news
from lsp_mcp.index.protobuf import BrokenError, fields, message, number
from lsp_mcp.installed import install_command
from lsp_mcp.prose import count, first_few
from lsp_mcp.wire.git import git_output

_ADDRESS = re.compile(r"[\w.-]+:\d{1,5}|\[[0-9A-Fa-f:.]+\]:\d{1,5}")
_MONITOR = "/clang.clangd.remote.v1.Monitor/MonitoringInfo"
_AGE, _COMMIT = 2, 3  # fields of its reply
_PROBE = 2.0  # seconds for it
_VERSION = 10.0  # seconds for a program to print its version
_DEADLINE = 1000  # milliseconds that clangd waits for an answer; the rest of it is dropped
_CONNECTION = re.compile(r"Remote index connection \[.*\]: .* => ([\w ]+)$")
_ANSWERED = re.compile(r"Remote index \[.*\]: \w+ => \d+ results in (\d+)ms")
_NOT_CONNECTED = ("transient failure", "connecting", "shutdown")
_OWN_CHANNEL: Sequence[tuple[str, int]] = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0))
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def check_remote_index(program: Path, address: str) -> None:
    """Check that `program` can use the index server at `address`, before it is started.

    Raises:
        ConfigError: the address is none, the program was built without gRPC, or the Python package of that is missing.
    """
    if not _ADDRESS.fullmatch(address):
        raise ConfigError(f"--remote-index {address!r} is not HOST:PORT, for example index.example.com:50051")
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_VERSION, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(f"{program} does not say its version: {error}") from None
    if "+grpc" not in said.stdout:
        raise ConfigError(
            f"{program} was built without gRPC, which a remote index needs. Get a clangd with it from Debian's "
            "packages, without root: lsp-mcp install clangd --remote; or pass --clangd-path with one whose --version "
            "says +grpc, such as that of clangd's own releases"
        )
    try:
        import grpc  # noqa: F401
    except ModuleNotFoundError:
        how = install_command("remote-index")
        raise ConfigError(f"a remote index needs grpcio, to see whether it answers; install it with: {how}") from None


class RemoteIndex:
    """The index server at `address`, for the checkout `root`."""

    def __init__(self, address: str, root: Path) -> None:
        self._address = address
        self._root = root
        self._connection = ""  # what clangd says of it after its last request
        self._is_cut = False  # the last answer to clangd was not whole
        self._times_changed = 0
        self._compared: tuple[tuple[str, int], list[str]] | None = None  # see `_changes`

    @property
    def arguments(self) -> list[str]:
        """Additions to clangd's command. It indexes nothing itself, and tells how the server answers."""
        flags = (f"--remote-index-address={self._address}", f"--project-root={self._root}")
        return [*flags, "--background-index=false", "--log=verbose"]

    def heard(self, line: str) -> None:
        """Take in a line of clangd's log; may be called in another thread."""
        if found := _ANSWERED.search(line):
            self._is_cut = int(found[1]) >= _DEADLINE
        elif found := _CONNECTION.search(line):
            self._connection = found[1]

    def changed(self) -> None:
        """Note that files of the checkout were created, changed or deleted."""
        self._times_changed += 1

    async def gaps(self) -> list[Gap]:
        """What answers may lack because the index does not answer, or is of another state of the code."""
        where = f"the remote index {self._address}"
        try:
            told = await asyncio.to_thread(_told, self._address)
        except UnansweredError as error:
            text = f"{where} does not answer ({error}): files that clangd has not read are not searched"
            return [Gap("not_searched", text, brief="the remote index does not answer", about="remote index")]
        gaps = []
        if self._connection in _NOT_CONNECTED:
            text = f"clangd has no connection to {where} ({self._connection}); ask again later"
            gaps.append(Gap("not_searched", text, about="remote index connection"))
        elif self._is_cut:
            text = f"{where} took longer than the second that clangd waits: its answer may be cut; ask again"
            gaps.append(Gap("not_searched", text, about="remote index time"))
        return [*gaps, *await self._differs(where, told)]

    async def _differs(self, where: str, told: Mapping[int, int | bytes]) -> list[Gap]:
        """What the index cannot know of the checkout."""
        commit = message(told[_COMMIT]).decode("utf-8", "replace") if _COMMIT in told else ""
        built = f", built {_age(number(told[_AGE]))}" if _AGE in told else ""
        head = (await git_output(self._root, "rev-parse", "HEAD") or "").strip()
        if not commit or not head:
            which = "does not say of which commit it is" if head else "cannot be compared: the workspace has no commit"
            return [Gap("unverified", f"{where} {which}{built}", about="remote index commit")]
        if not head.startswith(commit) and not commit.startswith(head):
            text = f"{where} is of commit {commit[:12]}{built}; the workspace is at {head[:12]}"
            return [Gap("unverified", text, about="remote index commit")]
        if files := await self._changes(head):
            text = f"{where} does not know the changes of {count(len(files), 'file')}: {first_few(files)}"
            return [
                Gap("unverified", text, about=f"remote index changes {text}", brief="changes since the remote index")
            ]
        return [news("setup", f"{where} is of the workspace's commit{built}", brief="with the remote index")]

    async def _changes(self, head: str) -> list[str]:
        """The files that differ from the commit `head`. git looks at all files: again only if one has changed."""
        key = head, self._times_changed
        if self._compared is None or self._compared[0] != key:
            listings = (("diff", "--name-only", "--ignore-submodules", "-z", "HEAD"),
                        ("ls-files", "--others", "--exclude-standard", "-z"))  # fmt: skip
            printed = [await git_output(self._root, *words) or "" for words in listings]
            self._compared = key, [name for one in printed for name in one.split("\0") if name]
        return self._compared[1]


class UnansweredError(Exception):
    """An index server does not answer, or not as one."""


def _told(address: str) -> Mapping[int, int | bytes]:
    """What the server says of its index. A connection of its own: an old one may wait before it tries again.

    Raises:
        UnansweredError: it says nothing.
    """
    import grpc

    with grpc.insecure_channel(address, options=_OWN_CHANNEL) as channel:
        ask = channel.unary_unary(_MONITOR, request_serializer=bytes, response_deserializer=bytes)
        try:
            return dict(fields(ask(b"", timeout=_PROBE)))
        except grpc.RpcError as error:
            raise UnansweredError(error.code().name.lower().replace("_", " ")) from None
        except BrokenError:
            raise UnansweredError("its answer is not one of an index server") from None


def _age(seconds: int) -> str:
    """`2 days ago`."""
    return next((f"{count(seconds // size, name)} ago" for size, name in _UNITS if seconds >= size), "a moment ago")
