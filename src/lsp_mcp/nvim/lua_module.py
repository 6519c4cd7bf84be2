"""Our Lua (the folder `lua/`) in one Neovim: `LuaModule` calls its functions, and knows what blocks them."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.errors import RefusedError, SilentError, UnavailableError
from lsp_mcp.nvim.channel import Channel
from lsp_mcp.waiting import unhurried

CALL_TIMEOUT = 5.0  # seconds for operations that are immediate unless Neovim is blocked
_WORK_TIMEOUT = 30.0  # seconds for work of our own Lua
_LATE = 0.5  # extra seconds for an operation that began in time
_LOOK_AFTER = 1.0  # seconds without an answer until it is asked what blocks it
_MODE_TIMEOUT = 0.5  # seconds; only a busy Neovim takes longer
_PARTS = ("core", "broadcasts", "clients", "buffers", "edits", "editor", "tools")
# Each connection has its own table, so that no two of them share anything.
_LOAD = """
local channel, parts = ...
local M = { channel = channel }
_G.lsp_mcp = _G.lsp_mcp or {}
_G.lsp_mcp[channel] = M
for _, part in ipairs(parts) do
  assert(loadstring(part[2], '@lsp-mcp/' .. part[1] .. '.lua'))(M)
end
return M.about()
"""
_CALL = "local channel, name = ... return _G.lsp_mcp[channel][name](select(3, ...))"
_BUSY = "for something that it runs to end: press Ctrl-C there"
_WAITS = {
    "r": "at a hit-enter prompt: press Enter there",
    "rm": "in a pager (-- More --): press q there",
    "r?": "at a question: answer it there",
    "c": "in its command line: press Escape there",
}


class LuaModule:
    """Each connection's own copy of our Lua; its functions never wait."""

    def __init__(self, channel: Channel, editor: str) -> None:
        self._channel = channel
        self._editor = editor  # what messages call it
        self._number = 0  # Neovim's own of the channel
        self._working: str | None = None  # the name of the file that our Lua is processing
        self._ahead = 0.0  # seconds that its monotonic clock is ahead of ours

    @property
    def loaded(self) -> bool:
        """Whether Neovim has answered at all."""
        return self._number != 0

    async def load(self, number: int) -> dict[str, Any]:
        """Load it over the channel with Neovim's number `number`; returns the result of `about`. Raises as `call`."""
        self._number = number
        folder = Path(__file__).parent / "lua"
        parts = [[part, (folder / f"{part}.lua").read_text(encoding="utf-8")] for part in _PARTS]
        about: dict[str, Any] = await self._channel.request(
            "nvim_exec_lua", _LOAD, [number, parts], timeout=CALL_TIMEOUT
        )
        self._ahead = about["now"] - time.monotonic()
        return about

    async def call(self, function: str, *args: Any, timeout: float = CALL_TIMEOUT) -> Any:
        """What a function of our Lua returns; `timeout` in seconds.

        Raises:
            RefusedError: it failed; Neovim's message.
            UnavailableError: Neovim is gone, or waits for something: at what.
        """
        begun = asyncio.get_running_loop().time()
        call = asyncio.ensure_future(self._request(function, args, timeout + _WORK_TIMEOUT))
        try:
            for within in (min(timeout, _LOOK_AFTER), timeout, timeout + _WORK_TIMEOUT):
                left = begun + within - asyncio.get_running_loop().time()
                done, _ = await asyncio.wait([call], timeout=max(left, 0))
                if done:
                    return call.result()
                held_up = await self.waiting_at() if self._working is None else None
                # Silence says only at the end that it is busy: on a slow machine it may not have had its turn.
                if held_up and (held_up != _BUSY or within >= timeout):
                    raise SilentError(f"{self._editor} is waiting {held_up}, then ask again.")
                if self._working is None and within >= timeout:
                    raise SilentError(f"{self._editor} did not answer within {timeout:g} s. It may be busy.")
        finally:
            call.cancel()
        raise SilentError(f"{self._editor} is waiting {await self.waiting_at()}, then ask again.")

    async def change(self, function: str, *args: Any, timeout: float = CALL_TIMEOUT) -> Any:
        """As `call`, for what must not be done later if this says that it was not done.

        A call that comes to a Neovim at a prompt is carried out when the prompt is over.
        """
        deadline = time.monotonic() + self._ahead + timeout
        # Nor may the caller's own bound cut it off, or nobody would know whether it was done.
        with unhurried():
            return await self._request("in_time", (deadline, function, *args), timeout + _LATE)

    def tell(self, function: str, *args: Any) -> None:
        """Call a function of our Lua without waiting for it, after all calls that were made before.

        Nothing happens if Neovim is gone.
        """
        self._channel.notify("nvim_exec_lua", _CALL, [self._number, function, *args])

    def close(self, *, within: float) -> None:
        """End the connection when our Lua has taken back what it did, or `within` seconds are past."""
        if self.loaded:
            self._channel.close("nvim_exec_lua", _CALL, [self._number, "leave"], within=within)
        else:
            self._channel.close()

    async def held_up(self, error: SilentError, otherwise: str) -> str:
        """The message of `error` with what Neovim waits at, or with `otherwise` if nothing holds it up."""
        held_up = await self.waiting_at()
        return f"{error}: it is waiting {held_up}, then ask again." if held_up else f"{error}. {otherwise}".strip()

    async def waiting_at(self) -> str | None:
        """What Neovim waits at, with what a person can do; None if nothing holds it up."""
        if self._working is not None:
            return f"for lsp-mcp to read {self._working}"
        try:
            mode = await self._channel.request("nvim_get_mode", timeout=_MODE_TIMEOUT)
        except SilentError:
            return _BUSY
        except (UnavailableError, RefusedError):
            return None
        if not isinstance(mode, dict) or not (mode.get("blocking") or str(mode.get("mode")) in ("r", "rm", "r?")):
            return None
        return waits(str(mode.get("mode")))

    def on_work(self, name: str | None) -> None:
        """Our Lua is busy with the file called `name` from now on; None: with none any more."""
        self._working = name

    async def _request(self, function: str, args: Sequence[Any], timeout: float) -> Any:
        call = [self._number, function, *args]
        try:
            return await self._channel.request("nvim_exec_lua", _CALL, call, timeout=timeout)
        except SilentError as error:
            raise SilentError(await self.held_up(error, "It may be busy.")) from None
        except RefusedError as error:
            raise RefusedError(plain_error(str(error)), error.code) from None


def waits(mode: str) -> str:
    """What a Neovim waits at that waits in `mode`, with what a person can do."""
    return _WAITS.get(mode, "for a key to be pressed there")


def plain_error(message: str) -> str:
    """Neovim's words for what went wrong, without where in our Lua that was."""
    message = re.sub(r"\nstack traceback:.*", "", message, flags=re.DOTALL)
    message = re.sub(r"^(?:Error executing lua:|Lua:|Vim:|nvim_exec_lua\(\):)\s*", "", message.strip())
    message = re.sub(r"^(?:\[string [^]]*\]|@?lsp-mcp/\w+\.lua|vim/[\w/_]+\.lua):\d+:\s*", "", message)
    return re.sub(r"^Vim(?:\([\w!]+\))?:", "", message)
