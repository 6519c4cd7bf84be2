"""One connected Neovim: `NvimConnection`, whose Lua (the folder `lua/`) does what must happen in one go."""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.backend import Report
from lsp_mcp.errors import DiedError, RefusedError, SilentError, UnavailableError
from lsp_mcp.nvim.address import Address, connection_id
from lsp_mcp.nvim.channel import Channel

log = logging.getLogger(__name__)

CONNECT_TIMEOUT = 3.0  # seconds
CALL_TIMEOUT = 5.0  # seconds for what Neovim does at once unless something holds it up
_REPORT_TIMEOUT = 1.0  # seconds for a client to take what was said before an answer
_LATE = 0.5  # seconds that what was asked for in time may still take
_LOOK_AFTER = 1.0  # seconds without an answer until it is asked what holds it up
_MODE_TIMEOUT = 0.5  # seconds; only a Neovim that runs a loop takes longer
_OLDEST = (0, 11)
_MOST_SAID = 1_000  # lines on the stderr of servers that are remembered
_PARTS = ("core", "clients", "buffers", "edits", "editor", "tools")
# Each connection has its own table, so that no two of them share anything.
_LOAD = """
local channel, parts = ...
local M = { channel = channel }
for _, part in ipairs(parts) do
  assert(loadstring(part[2], '@lsp-mcp/' .. part[1] .. '.lua'))(M)
end
_G.lsp_mcp = _G.lsp_mcp or {}
_G.lsp_mcp[channel] = M
return M.about()
"""
_CALL = "local channel, name = ... return _G.lsp_mcp[channel][name](select(3, ...))"
_WAITS = {
    "r": "at a hit-enter prompt: press Enter there",
    "rm": "in a pager (-- More --): press q there",
    "r?": "at a question to be answered there with y or n",
    "c": "in its command line: press Escape there",
}


class NvimConnection:
    """A Neovim that somebody may be using at the same time; raises `UnavailableError`s once it is gone."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.id = connection_id(address.text)
        self.cwd = Path()
        self.version = ""
        self.pid = 0
        self.servername = ""
        self._ahead = 0.0  # seconds that its clock shows more than ours
        self.listeners: dict[int, Callable[[str, Any], None]] = {}  # by client id: what its server says
        self.deaths: dict[int, Callable[[bool], None]] = {}  # by client id; called with whether it crashed
        self.client_events = 0  # how often clients came, went, or changed their buffers
        self.attached = asyncio.Event()  # set, and replaced, whenever a client comes, goes, or gets another buffer
        self._channel = Channel(address, self._told)
        self._number = 0
        self._requests = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._progress: dict[int, asyncio.Queue[str | None]] = {}  # what tools say while they are called
        self.on_tools_change: Callable[[], None] = lambda: None  # called when the plugin's tools are others
        # By program, as it was started: what its servers wrote on stderr, and by client id who is called with it.
        self._said: dict[str, deque[str]] = {}
        self._hearing: dict[str, dict[int, Callable[[str], None]]] = {}
        self._clients: dict[int, set[int]] = {}  # the requests that each client has under way

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"Neovim at {self.address.text}"

    @property
    def gone(self) -> bool:
        """Whether the connection is over."""
        return self._channel.ended.done()

    @property
    def project(self) -> Path | None:
        """The folder that it works in; None for the home folder and the file system's root, which are none."""
        folder = self.cwd.resolve()
        return None if folder in (Path.home(), Path(folder.anchor)) else folder

    @property
    def ended(self) -> asyncio.Future[str]:
        """Completes with the reason when the connection is over."""
        return self._channel.ended

    async def connect(self) -> None:
        """Connect, and bring our Lua along.

        Raises:
            UnavailableError: nobody answers there, or not as Neovim.
            RefusedError: it is older than 0.11.
        """
        self._channel.ended.add_done_callback(self._ended)
        try:
            await self._channel.connect(timeout=CONNECT_TIMEOUT)
            await self._set_up()
        except SilentError as error:
            why = await self._held_up(error, "It said nothing.")
            self._channel.close()
            doubt = "" if self._number else " Is it Neovim's socket?"
            raise SilentError(f"{why}{doubt}") from None
        except BaseException:
            self._channel.close()
            raise

    async def _set_up(self) -> None:
        try:
            info = await self._request("nvim_get_api_info")
            self._number, version = info[0], info[1]["version"]
            found = (int(version["major"]), int(version["minor"]))
        except (RefusedError, LookupError, TypeError, ValueError) as error:
            raise UnavailableError(f"{self.address.text} does not answer as Neovim does ({error})") from None
        if found < _OLDEST:
            raise RefusedError(
                f"{self.name} is version {found[0]}.{found[1]}; lsp-mcp needs 0.11 or later, whose language clients "
                "it works through. Update Neovim."
            )
        folder = Path(__file__).parent / "lua"
        parts = [[part, (folder / f"{part}.lua").read_text(encoding="utf-8")] for part in _PARTS]
        about = await self._request("nvim_exec_lua", _LOAD, [self._number, parts])
        self.cwd, self.version, self.pid = Path(about["cwd"]), about["version"], about["pid"]
        self.servername = about["servername"]
        self._ahead = about["now"] - time.time()

    def close(self) -> None:
        """End the connection; our documents are closed first. Idempotent."""
        self.tell("leave")
        self._channel.close()

    async def call(self, function: str, *args: Any, timeout: float = CALL_TIMEOUT) -> Any:
        """What a function of our Lua returns; it must not wait for anything. `timeout` in seconds.

        Raises:
            RefusedError: it failed; Neovim's message.
            UnavailableError: Neovim is gone, or waits for something: at what.
        """
        call = asyncio.ensure_future(self._lua(function, args, timeout))
        try:
            done, _ = await asyncio.wait([call], timeout=min(timeout, _LOOK_AFTER))
            held_up = None if done else await self._waiting_at()
            if held_up is None:
                return await call
        finally:
            call.cancel()
        raise SilentError(f"{self.name} is waiting {held_up}, then ask again.")

    async def change(self, function: str, *args: Any, timeout: float = CALL_TIMEOUT) -> Any:
        """As `call`, for what must not be done later if this says that it was not done.

        A call that comes to a Neovim at a prompt is carried out when the prompt is over.
        """
        deadline = time.time() + self._ahead + timeout
        return await self._lua("in_time", (deadline, function, *args), timeout + _LATE)

    async def _lua(self, function: str, args: Sequence[Any], timeout: float) -> Any:
        try:
            return await self._request("nvim_exec_lua", _CALL, [self._number, function, *args], timeout=timeout)
        except SilentError as error:
            raise SilentError(await self._held_up(error, "It may be busy.")) from None
        except RefusedError as error:
            raise RefusedError(plain_error(str(error)), error.code) from None

    def tell(self, function: str, *args: Any) -> None:
        """Call a function of our Lua without waiting for it; after all calls that were made before."""
        self._channel.notify("nvim_exec_lua", _CALL, [self._number, function, *args])

    def hear(self, client: int, program: str, said: Callable[[str], None]) -> None:
        """Have `said` called with each line that servers started as `program` write, and wrote since we are here."""
        self._hearing.setdefault(program, {})[client] = said
        for line in self._said.get(program, ()):
            said(line)

    async def request(self, client: int, method: str, params: Any, *, timeout: float) -> Any:
        """The answer of a language server, through Neovim's client of it. `timeout` in seconds.

        Raises:
            RefusedError: the server's error.
            DiedError: the server, or Neovim, is gone.
            SilentError: no answer in time; the request was cancelled.
        """
        number = next(self._requests)
        self._clients.setdefault(client, set()).add(number)
        try:
            sent = self.call("request", number, client, method, params)
            return await self._answer(number, sent, "cancel", method, timeout)
        finally:
            self._clients[client].discard(number)

    async def run_tool(self, name: str, arguments: str, report: Report) -> Any:
        """The answer of a tool of the plugin's registry: `text`, JSON; whether it is `plain` text; `remarks`.

        None if Neovim has no such plugin, False if that has no such tool. `arguments` are JSON; `report` is told what
        the tool says meanwhile.

        Raises:
            RefusedError: the tool's error.
            DiedError: Neovim is gone.
            SilentError: no answer in the tool's own time, or Neovim waits for its user; the call was cancelled.
        """
        number = next(self._requests)
        said: asyncio.Queue[str | None] = asyncio.Queue()
        self._progress[number] = said
        reporting = asyncio.create_task(_report(said, report))
        try:
            # Not `call`: to a Neovim at a prompt it would be called when the prompt is over.
            begun = self.change("run_tool", number, name, arguments)
            answer = await self._answer(number, begun, "cancel_tool", name, None)
            said.put_nowait(None)
            # What was said before the answer comes before it; a client that takes none holds nothing up for long.
            await asyncio.wait([reporting], timeout=_REPORT_TIMEOUT)
            return answer
        finally:
            reporting.cancel()
            del self._progress[number]

    async def _answer(
        self, number: int, sent: Coroutine[Any, Any, Any], cancel: str, what: str, timeout: float | None
    ) -> Any:
        """What `answer` brings for `number` after `sent` has sent the question; else it is cancelled.

        Without a `timeout`, what `sent` returns is that: in seconds, 0 for none; None if nothing will come.
        """
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            async with asyncio.timeout(timeout) as bound:
                begun = await sent
                if timeout is None:
                    if begun is None or begun is False:
                        answer.set_result(begun)
                    elif begun:
                        timeout = float(begun) + _LATE
                        bound.reschedule(asyncio.get_running_loop().time() + timeout)
                return await answer
        except TimeoutError:
            said = SilentError(f"no answer to {what} within {timeout:g} s")
            raise SilentError(await self._held_up(said, "")) from None
        finally:
            del self._answers[number]
            if not answer.done() or answer.cancelled():
                self.tell(cancel, number)

    # --- inside ------------------------------------------------------------------------------------

    async def _request(self, method: str, *args: Any, timeout: float = CALL_TIMEOUT) -> Any:
        return await self._channel.request(method, *args, timeout=timeout)

    async def _held_up(self, error: SilentError, otherwise: str) -> str:
        held_up = await self._waiting_at()
        return f"{error}: it is waiting {held_up}, then ask again." if held_up else f"{error}. {otherwise}".strip()

    async def _waiting_at(self) -> str | None:
        """What Neovim waits at, with what a person can do; None if nothing holds it up."""
        try:
            mode = await self._channel.request("nvim_get_mode", timeout=_MODE_TIMEOUT)
        except SilentError:
            return "for something that it runs to end: press Ctrl-C there"
        except (UnavailableError, RefusedError):
            return None
        if not isinstance(mode, dict) or not (mode.get("blocking") or str(mode.get("mode")) in ("r", "rm", "r?")):
            return None
        return _WAITS.get(str(mode.get("mode")), "for a key to be pressed there")

    def _told(self, name: str, args: list[Any]) -> None:
        if name != "lsp-mcp" or not args:
            return
        kind, *rest = args
        match kind:
            case "answer":
                self._answered(*rest)
            case "told":
                client, method, params = rest
                if listener := self.listeners.get(client):
                    listener(method, params)
            case "stderr":
                program, text = rest
                said = self._said.setdefault(program, deque(maxlen=_MOST_SAID))
                for line in str(text).splitlines():
                    said.append(line)
                    for hear in list(self._hearing.get(program, {}).values()):
                        hear(line)
            case "detached" | "attached":
                self._clients_changed()
            case "progress":
                number, message = rest
                if queue := self._progress.get(number):
                    queue.put_nowait(str(message))
            case "tools_changed":
                self.on_tools_change()
            case "died":
                self._died(*rest)

    def _clients_changed(self) -> None:
        self.client_events += 1
        before, self.attached = self.attached, asyncio.Event()
        before.set()

    def _answered(self, number: int, error: Any, result: Any) -> None:
        answer = self._answers.get(number)
        if answer is None or answer.done():
            return
        if error is None:
            answer.set_result(result)
        elif isinstance(error, dict) and error.get("gone"):
            answer.set_exception(DiedError("the language server is gone"))
        elif isinstance(error, dict):
            answer.set_exception(RefusedError(str(error.get("message")), int(error.get("code") or 0)))
        else:
            answer.set_exception(RefusedError(str(error)))

    def _died(self, client: int, crashed: bool) -> None:
        self._clients_changed()
        for number in self._clients.get(client, ()):
            answer = self._answers.get(number)
            if answer and not answer.done():
                answer.set_exception(DiedError("the language server exited"))
        self.listeners.pop(client, None)
        for program, hearing in self._hearing.items():
            if hearing.pop(client, None):
                self._said.pop(program, None)
        if death := self.deaths.pop(client, None):
            death(crashed)

    def _ended(self, ended: asyncio.Future[str]) -> None:
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(DiedError(ended.result()))
        for client in list(self.deaths):
            self._died(client, False)
        self._clients_changed()


async def _report(said: asyncio.Queue[str | None], report: Report) -> None:
    """Hand on what is said, up to None."""
    for count in itertools.count(1):
        message = await said.get()
        if message is None:
            return
        await report(count, None, message)


def plain_error(message: str) -> str:
    """Neovim's words for what went wrong, without where in our Lua that was."""
    message = re.sub(r"\nstack traceback:.*", "", message, flags=re.DOTALL)
    message = re.sub(r"^(?:Error executing lua:|Lua:|Vim:|nvim_exec_lua\(\):)\s*", "", message.strip())
    message = re.sub(r"^(?:\[string [^]]*\]|@?lsp-mcp/\w+\.lua|vim/[\w/_]+\.lua):\d+:\s*", "", message)
    return re.sub(r"^Vim(?:\([\w!]+\))?:", "", message)
