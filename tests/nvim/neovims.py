"""Real Neovims for tests: `neovim(root)` is one that runs, with language servers and nothing of the user's.

    async with neovim(tmp_path) as nv:  # headless; `ui=True` gives it a terminal, so that prompts really block
        await nv.open("main.go")
        await nv.attached("gopls")
        before = await nv.view()
        ...
        assert await nv.view() == before

Everything that is asked of it here goes through connections of its own, made for one question: nothing of the
program's that is tested. Each wait is for an event, and bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgpack
import pytest
from platformdirs import user_cache_path

from fakes.bounded import gone
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.programs import find_command

INIT = Path(__file__).with_name("init.lua")
OLDEST = (0, 11)
SERVERS = ("gopls", "clangd")
BOUND = 20  # seconds for whatever is waited for: a hang, not a measurement; less than a whole test has
ROWS, COLUMNS = 24, 80
# What the user, or a Neovim in whose terminal the tests run, would tell it.
NOT_INHERITED = {"NVIM", "NVIM_APPNAME", "NVIM_LISTEN_ADDRESS", "NVIM_LOG_FILE", "VIMINIT", "EXINIT", "VIM", "MYVIMRC"}
# A terminal's answers: without the first Neovim 0.12 complains at its start (E1568), and waits for a key then.
TERMINAL_ANSWERS = {b"\x1b[5n": b"\x1b[0n", b"\x1b[c": b"\x1b[?62c"}
ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P_^].*?(?:\x07|\x1b\\)|[ -/]*[0-~])", re.DOTALL)

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)

_VIEW = r"""
local api, fn = vim.api, vim.fn
local windows = {}
for _, window in ipairs(api.nvim_list_wins()) do
  local info = fn.getwininfo(window)[1]
  local jumps = fn.getjumplist(info.winnr, info.tabnr) -- an id would do in the current tab only
  windows[tostring(window)] = {
    buffer = info.bufnr, tab = info.tabnr, cursor = fn.getcurpos(window),
    top = info.topline, left = info.leftcol, size = { info.width, info.height },
    jumps = #jumps[1], jump = jumps[2], places = #fn.getloclist(window), folder = fn.getcwd(info.winnr, info.tabnr),
  }
end
local buffers = {}
for _, info in ipairs(fn.getbufinfo({ buflisted = 1 })) do
  table.insert(buffers, { number = info.bufnr, name = info.name, modified = info.changed == 1 })
end
local registers = {}
for name in ('"0123456789abcdefghijklmnopqrstuvwxyz-/'):gmatch('.') do
  local lines = fn.getreg(name, 1, 1)
  registers[name] = #lines > 0 and { fn.getregtype(name), lines } or nil
end
local layouts = {}
for tab = 1, fn.tabpagenr('$') do
  layouts[tab] = fn.winlayout(tab)
end
return {
  window = api.nvim_get_current_win(), tab = api.nvim_get_current_tabpage(), windows = windows, layouts = layouts,
  alternate = fn.bufnr('#'), buffers = buffers, registers = registers, quickfix = #fn.getqflist(), mode = fn.mode(1),
}
"""

_UNTIL = """
local code, channel, events, arguments = ...
local check = assert(loadstring(code))
local value = check(unpack(arguments))
if value then
  return value
end
local waiting
waiting = vim.api.nvim_create_autocmd(events, { callback = function()
  vim.schedule(function()
    if not waiting then return end
    local ok, value = pcall(check, unpack(arguments))
    if value then
      vim.api.nvim_del_autocmd(waiting)
      waiting = nil
      pcall(vim.rpcnotify, channel, 'reached', ok, value)
    end
  end)
end })
"""

_ATTACHED = """
local client = vim.lsp.get_clients({ bufnr = 0, name = ... })[1]
return client and { id = client.id, encoding = client.offset_encoding, root = client.root_dir }
"""


class NeovimError(Exception):
    """Neovim answered with an error, or did not start: its own words."""


def find_nvim() -> str:
    """The full path of Neovim.

    Raises:
        MissingProgramError: it is not on PATH, or too old.
    """
    found = shutil.which("nvim")
    advice = "run: scripts/tools.sh nvim"
    if found is None:
        raise MissingProgramError(f"nvim is not on PATH; {advice}")
    printed = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=BOUND, check=False).stdout
    version = re.match(r"NVIM v(\d+)\.(\d+)", printed)
    if version is None or (int(version[1]), int(version[2])) < OLDEST:
        what = printed.partition("\n")[0] or "of no known version"
        raise MissingProgramError(f"{found} is {what}, and 0.11 is the oldest that will do; {advice}")
    return found


def skip_without_nvim() -> None:
    """Skip the whole module where Neovim is not installed."""
    try:
        find_nvim()
    except MissingProgramError as error:
        pytest.skip(f"nvim: {error}", allow_module_level=True)


class Terminal:
    """A terminal that is always read: what is written to it never has to wait."""

    def __init__(self) -> None:
        self._master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._output = b""
        self._answered = 0  # how much of the output was looked at for questions
        self._since = 0  # where the output after the last keys begins
        self._more = threading.Condition()
        self._reader: threading.Thread | None = None

    def begin(self) -> None:
        """Call it when a program has the slave: reading ends when none has."""
        os.close(self.slave)
        self._reader = threading.Thread(target=self._read, name="terminal", daemon=True)
        self._reader.start()

    def type(self, keys: str) -> None:
        with self._more:
            self._since = len(self._output)
        os.write(self._master, keys.encode())

    def text(self) -> str:
        """What was written since keys were last typed, without escape sequences."""
        with self._more:
            return ESCAPES.sub(b"", self._output[self._since :]).decode("utf-8", "replace")

    def shows(self, text: str) -> bool:
        """Whether `text` is written within the bound. Blocks."""
        with self._more:
            return self._more.wait_for(lambda: "".join(text.split()) in "".join(self.text().split()), BOUND)

    def close(self) -> None:
        """Call it when the program is gone."""
        if self._reader:
            self._reader.join(BOUND)
        else:
            os.close(self.slave)
        os.close(self._master)

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # EIO: nobody has it open any more
            while data := os.read(self._master, 65536):
                with self._more:
                    self._output += data
                    self._answer()
                    self._more.notify_all()

    def _answer(self) -> None:
        for question in re.finditer(rb"\x1b\[5n|\x1b\[c", self._output[self._answered :]):
            os.write(self._master, TERMINAL_ANSWERS[question[0]])
        # A question may have come in part; the longest has four bytes.
        tail = re.search(rb"\x1b[^\x1b]{0,2}\Z", self._output)
        self._answered = tail.start() if tail and tail[0] not in TERMINAL_ANSWERS else len(self._output)


class Neovim:
    """A running Neovim: `socket` is its address, `pid` its process (with a terminal, not the one that draws)."""

    def __init__(self, folder: Path, popen: subprocess.Popen[bytes], terminal: Terminal | None) -> None:
        self.folder = folder  # its own: state, swap files, logs
        self.socket = str(folder / "nvim.sock")
        self.pid = popen.pid
        self._popen = popen
        self._terminal = terminal
        self._ended = False
        self._ready = -1  # the pipe into which it writes its process id when its start is over

    # --- asking ------------------------------------------------------------------------------------

    async def lua(self, code: str, *arguments: Any) -> Any:
        """What the chunk `code` returns, called with `arguments` (`...`).

        Raises:
            NeovimError: it failed.
            TimeoutError: Neovim waits for a key, or is busy. `mode` answers all the same.
        """
        return await self.rpc("nvim_exec_lua", code, list(arguments))

    async def rpc(self, method: str, *arguments: Any) -> Any:
        """The answer to one API request, on a connection of its own. Raises as `lua`."""
        async with asyncio.timeout(BOUND), self.connected() as connection:
            return await connection.request(method, *arguments)

    async def mode(self) -> dict[str, Any]:
        """`{"mode", "blocking"}`, also while Neovim waits for a key."""
        return await self.rpc("nvim_get_mode")

    async def until(self, code: str, *events: str, arguments: Sequence[Any] = ()) -> Any:
        """What the chunk `code` returns when that is neither nil nor false: asked now, and after each of the
        autocommand `events`. Raises as `lua`.
        """
        async with asyncio.timeout(BOUND), self.connected() as connection:
            channel, _ = await connection.request("nvim_get_api_info")
            value = await connection.request("nvim_exec_lua", _UNTIL, [code, channel, list(events), list(arguments)])
            if value is not None:
                return value
            ok, value = await connection.notification("reached")
            if not ok:
                raise NeovimError(value)
            return value

    async def open(self, path: str | Path) -> int:
        """`:edit` the file in the current window; its buffer."""
        # Not expanded: a path is a path.
        return await self.lua(
            "vim.cmd({ cmd = 'edit', args = { ... }, magic = { file = false, bar = false } })"
            "return vim.api.nvim_get_current_buf()",
            str(path),
        )

    async def attached(self, server: str) -> dict[str, Any]:
        """Wait until `server` has the current buffer: its client's `{"id", "encoding", "root"}`."""
        return await self.until(_ATTACHED, "LspAttach", arguments=[server])

    async def view(self) -> dict[str, Any]:
        """What a person sees and has at hand, to compare: windows with cursors and scrolling, tabs, listed buffers,
        registers, jump and quickfix lists, mode. Asking changes nothing of it.
        """
        return await self.lua(_VIEW)

    async def loaded(self) -> int:
        """How many buffers are loaded. Of others there may be more: Neovim makes one for each file with diagnostics."""
        return int(await self.lua("return #vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs())"))

    # --- the person at the terminal (`ui=True`) ----------------------------------------------------

    def type(self, keys: str) -> None:
        """Press keys."""
        assert self._terminal, "it needs ui=True"
        self._terminal.type(keys)

    async def shows(self, text: str) -> None:
        """Wait until `text` is drawn after the last keys.

        White space does not count: Neovim steps over it. The keys of a command line are drawn, too.
        """
        assert self._terminal, "it needs ui=True"
        if not await asyncio.to_thread(self._terminal.shows, text):
            raise TimeoutError(f"{text!r} was not drawn, but:\n{self._terminal.text()}")

    # --- the end -----------------------------------------------------------------------------------

    def processes(self) -> list[int]:
        """All that run of it: Neovim, its language servers, their children."""
        return [] if self._ended else processes_of({self.pid, self._popen.pid})

    async def quit(self) -> None:
        """`:qall!`, and wait until every process of it has ended by itself."""
        members = self.processes()
        async with asyncio.timeout(BOUND):
            async with self.connected() as connection:
                connection.notify("nvim_command", "qall!")
                for pid in members:
                    await gone(pid)
            await self.kill()

    async def kill(self) -> None:
        """kill -9 for Neovim and every process of it, and wait until they are gone. Does nothing a second time."""
        members = self.processes()
        if not self._ended:
            self._ended = True
            for group in {self.pid, self._popen.pid}:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)
        async with asyncio.timeout(BOUND):
            for pid in members:
                await gone(pid)
        self._popen.wait(BOUND)

    # --- its start, for `neovim` -------------------------------------------------------------------

    async def started(self) -> None:
        """Wait until its start is over."""
        ready = self._ready
        died = os.pidfd_open(self._popen.pid)
        try:
            readable = await _first_readable(ready, died)
        finally:
            os.close(died)
        if ready not in readable:
            how = "ended" if readable else "did not get through its start"
            shown = self._terminal.text() if self._terminal else (self.folder / "output").read_text("utf-8", "replace")
            raise NeovimError(f"Neovim {how}; it said:\n{shown}")
        self.pid = int(os.read(ready, 100))

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[_Connection]:
        reader, writer = await asyncio.open_unix_connection(self.socket)
        try:
            yield _Connection(reader, writer)
        finally:
            writer.close()


@contextlib.asynccontextmanager
async def neovim(
    root: Path,
    *files: str | Path,
    servers: Sequence[str] = SERVERS,
    ui: bool = False,
    extra_lua: str = "",
    env: Mapping[str, str] | None = None,
    state: Path | None = None,
    wait: bool = True,
) -> AsyncIterator[Neovim]:
    """A Neovim in the folder `root` that shows `files`; it and its children are gone at the end.

    `servers` are the language servers that it has, `extra_lua` is more configuration. `state` is another's
    `folder`: they then see each other's swap files, as two Neovims of one person do. Without
    `wait`, its start may not be over: wait for `started`.

    Raises:
        MissingProgramError: Neovim or one of the servers is not installed.
        NeovimError: it did not start.
    """
    nvim = find_nvim()
    with tempfile.TemporaryDirectory(prefix="nvim-", dir="/tmp") as name:  # the path of a socket must be short
        folder = Path(name)
        extra = folder / "extra.lua"
        extra.write_text(extra_lua, "utf-8")
        os.mkfifo(folder / "ready")
        ready = os.open(folder / "ready", os.O_RDONLY | os.O_NONBLOCK)
        command = [nvim, *([] if ui else ["--headless"]), "--clean", "-u", str(INIT)]
        terminal = Terminal() if ui else None
        started = None
        try:
            started = Neovim(
                folder,
                _start(
                    [*command, "--listen", str(folder / "nvim.sock"), "--", *map(str, files)],
                    cwd=root,
                    env={**_environment(folder, servers, state or folder), **(env or {})},
                    output=folder / "output",
                    terminal=terminal,
                ),
                terminal,
            )
            started._ready = ready
            if wait:
                await started.started()
            yield started
        finally:
            os.close(ready)
            if started:
                await started.kill()
            if terminal:
                terminal.close()


def processes_of(groups: set[int]) -> list[int]:
    """The processes of these process groups that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, _, group = (entry / "stat").read_text("latin-1").rpartition(")")[2].split()[:3]
                if int(group) in groups and state not in "ZX":
                    found.append(int(entry.name))
    return found


def _environment(folder: Path, servers: Sequence[str], state: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    own = {}
    for kind in ("RUNTIME_DIR", "CONFIG_HOME", "DATA_HOME", "CACHE_HOME", "STATE_HOME"):
        place = (state if kind == "STATE_HOME" else folder) / kind.lower()
        place.mkdir(mode=0o700, exist_ok=True)
        own[f"XDG_{kind}"] = str(place)
    # A fresh configuration folder would make gopls start its upload program, which outlives it.
    telemetry = folder / "config_home" / "go" / "telemetry"
    telemetry.mkdir(parents=True)
    (telemetry / "mode").write_text("off 2026-01-01\n", "utf-8")
    # Only what is compiled or indexed already is shared: otherwise gopls would begin with the standard library and
    # all modules that were ever downloaded.
    modules = user_cache_path("goimports")
    modules.mkdir(parents=True, exist_ok=True)
    (folder / "cache_home" / "goimports").symlink_to(modules)
    shared = {"GOCACHE": str(user_cache_path("go-build")), "GOPLSCACHE": str(user_cache_path("gopls"))}
    return {
        **shared,
        **inherited,
        **own,
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
        "LSP_MCP_TEST_SERVERS": json.dumps({name: _server(name) for name in servers}),
        "LSP_MCP_TEST_LUA": str(folder / "extra.lua"),
        "LSP_MCP_TEST_READY": str(folder / "ready"),
    }


def _server(name: str) -> dict[str, Any]:
    adapter = load_adapter(name)
    settings = adapter.settings
    return {
        "cmd": find_command(adapter),
        "settings": {settings.section: settings.values} if settings.section else {},
    }


def _start(
    command: list[str], *, cwd: Path, env: dict[str, str], output: Path, terminal: Terminal | None
) -> subprocess.Popen[bytes]:
    parent = os.getpid()

    def prepare() -> None:  # between fork and exec
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        if terminal:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    with output.open("wb") as file:
        popen = subprocess.Popen(
            command,
            stdin=terminal.slave if terminal else subprocess.DEVNULL,
            stdout=terminal.slave if terminal else file,
            stderr=terminal.slave if terminal else file,
            cwd=cwd,
            env=env,
            start_new_session=True,
            preexec_fn=prepare,  # noqa: PLW1509
        )
    if terminal:
        terminal.begin()
    return popen


async def _first_readable(*descriptors: int) -> list[int]:
    """Wait until one of them has something to read; none after the bound."""
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    for descriptor in descriptors:
        loop.add_reader(descriptor, event.set)
    try:
        async with asyncio.timeout(BOUND):
            await event.wait()
    except TimeoutError:
        return []
    finally:
        for descriptor in descriptors:
            loop.remove_reader(descriptor)
    return select.select(descriptors, [], [], 0)[0]


class _Connection:
    """MessagePack-RPC, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        # Buffers, windows and tabs come as extension types: their numbers.
        self._unpacker = msgpack.Unpacker(
            ext_hook=lambda _, data: msgpack.unpackb(data),
            unicode_errors="surrogateescape",
            strict_map_key=False,
        )
        self._early: list[list[Any]] = []  # notifications that came before the answer

    def notify(self, method: str, *arguments: Any) -> None:
        self._writer.write(msgpack.packb([2, method, arguments]))

    async def request(self, method: str, *arguments: Any) -> Any:
        self._writer.write(msgpack.packb([0, 1, method, arguments], unicode_errors="surrogateescape"))
        while (message := await self._next())[0] != 1:
            self._early.append(message)
        _, _, error, result = message
        if error:
            raise NeovimError(error[1])
        return result

    async def notification(self, method: str) -> list[Any]:
        while True:
            message = self._early.pop(0) if self._early else await self._next()
            if message[1] == method:
                return message[2]

    async def _next(self) -> list[Any]:
        while True:
            with contextlib.suppress(msgpack.OutOfData):
                return self._unpacker.unpack()
            if not (data := await self._reader.read(65536)):
                raise NeovimError("Neovim closed the connection")
            self._unpacker.feed(data)
