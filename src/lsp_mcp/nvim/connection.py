"""One connected Neovim: `NvimConnection`, with our Lua in it, its language clients and its plugin's tools."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsp_mcp.errors import RefusedError, SilentError, UnavailableError
from lsp_mcp.nvim.address import Address, connection_id
from lsp_mcp.nvim.channel import Channel
from lsp_mcp.nvim.language_clients import LanguageClients
from lsp_mcp.nvim.lua_module import CALL_TIMEOUT, LuaModule
from lsp_mcp.nvim.plugin_tools import PluginTools
from lsp_mcp.nvim.replies import Replies

log = logging.getLogger(__name__)

CONNECT_TIMEOUT = 3.0  # seconds
LEAVE_TIMEOUT = 1.5  # seconds
_OLDEST = (0, 11)


class NvimConnection:
    """A Neovim that a person may be using at the same time; raises `UnavailableError`s once it is gone.

    `on_tools_change` is called when its plugin's tools change.
    """

    def __init__(self, address: Address, on_tools_change: Callable[[], None]) -> None:
        self.address = address
        self.id = connection_id(address.text)
        self.cwd = Path()
        self.version = ""
        self.pid = 0
        self.servername = ""
        self.disconnected = False  # because a caller asked for that
        self._channel = Channel(address, self._on_notification)
        self.lua = LuaModule(self._channel, self.name)
        self._replies = Replies(self.lua)
        self.clients = LanguageClients(self.lua, self._replies)
        self.tools = PluginTools(self.lua, self._replies)
        self._handlers: dict[str, Callable[..., None]] = {
            "answer": self._replies.on_answer,
            "told": self.clients.on_notification,
            "stderr": self.clients.on_stderr,
            "attached": self.clients.on_change,
            "detached": self.clients.on_change,
            "died": self.clients.on_death,
            "working": self.lua.on_work,
            "progress": self.tools.on_progress,
            "tools_changed": lambda *_: on_tools_change(),
        }

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"Neovim at {self.address.text}"

    @property
    def gone(self) -> bool:
        """Whether the connection is over."""
        return self._channel.ended.done()

    @property
    def ended(self) -> asyncio.Future[str]:
        """Completes with the reason when the connection is over."""
        return self._channel.ended

    @property
    def project(self) -> Path | None:
        """Its working folder; None for the home folder and the file system's root, which are not workspaces."""
        folder = self.cwd.resolve()
        return None if folder in (Path.home(), Path(folder.anchor)) else folder

    async def connect(self) -> None:
        """Connect, and load our Lua.

        Raises:
            UnavailableError: nothing answers there, or not as Neovim.
            RefusedError: it is older than 0.11.
        """
        self._channel.ended.add_done_callback(self._on_end)
        try:
            await self._channel.connect(timeout=CONNECT_TIMEOUT)
            await self._set_up()
        except SilentError as error:
            why = await self.lua.held_up(error, "It said nothing.")
            self._channel.close()
            doubt = "" if self.lua.loaded else " Is it Neovim's socket?"
            raise SilentError(f"{why}{doubt}") from None
        except BaseException:
            self._channel.close()
            raise

    def close(self) -> None:
        """End the connection; our documents are closed and calls of tools cancelled first, within 1.5 s. Idempotent."""
        self.lua.close(within=LEAVE_TIMEOUT)

    # --- inside ------------------------------------------------------------------------------------

    async def _set_up(self) -> None:
        try:
            info = await self._channel.request("nvim_get_api_info", timeout=CALL_TIMEOUT)
            number, version = info[0], info[1]["version"]
            found = (int(version["major"]), int(version["minor"]))
        except (RefusedError, LookupError, TypeError, ValueError) as error:
            raise UnavailableError(f"{self.address.text} does not answer as Neovim does ({error})") from None
        if found < _OLDEST:
            raise RefusedError(
                f"{self.name} is version {found[0]}.{found[1]}; lsp-mcp needs 0.11 or later, whose language clients "
                "it works through. Update Neovim."
            )
        about = await self.lua.load(number)
        self.cwd, self.version, self.pid = Path(about["cwd"]), about["version"], about["pid"]
        self.servername = about["servername"]

    def _on_notification(self, name: str, args: list[Any]) -> None:
        if name == "lsp-mcp" and args and (handler := self._handlers.get(args[0])):
            handler(*args[1:])

    def _on_end(self, ended: asyncio.Future[str]) -> None:
        self._replies.fail_all(ended.result())
        self.clients.on_end()
