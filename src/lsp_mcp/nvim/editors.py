"""The Neovims that are connected: `Editors`, by connection id."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_mcp.errors import CallerError, ConfigError, LspMcpError, RefusedError, SilentError, UnavailableError
from lsp_mcp.nvim.editor import Editor
from lsp_mcp.nvim.targets import Target, alive, check_socket, discover, parse_target

_CLOSE_TIMEOUT = 1.0  # seconds
HOW_TO_START = "start one with: nvim --listen ~/.cache/nvim/lsp-mcp.sock"


@dataclass(frozen=True)
class Found:
    """A Neovim that was found on this machine."""

    target: Target
    cwd: Path
    pid: int
    version: str


class Editors:
    """Connects and disconnects. `on_change` is called whenever a connection came or went."""

    def __init__(self) -> None:
        self.on_change: Callable[[], None] = lambda: None
        self.on_tools_change: Callable[[], None] = lambda: None  # called when a Neovim's own tools are others
        self._editors: dict[str, Editor] = {}
        self._aliases: dict[str, str] = {}  # ids of other addresses of connected Neovims
        self._ended: dict[str, str] = {}  # why connections that were there are not
        self._connecting = asyncio.Lock()

    @property
    def connected(self) -> list[Editor]:
        """Those that are connected now."""
        return list(self._editors.values())

    async def connect(self, target: Target) -> Editor:
        """The connection to `target`: the present one, or a new one.

        Raises:
            CallerError: there is no such socket.
            UnavailableError, RefusedError: as `Editor.connect`.
        """
        async with self._connecting:
            editor = Editor(target)
            if known := self._editors.get(editor.id) or self._also(editor.id):
                return known
            if target.path:
                check_socket(target.path)
            await editor.connect()
            for other in self.connected:
                if (other.pid, other.servername) == (editor.pid, editor.servername):
                    # One Neovim by another of its addresses: two connections would only be in each other's way.
                    editor.close()
                    self._aliases[editor.id] = other.id
                    return other
            self._editors[editor.id] = editor
            editor.on_tools_change = lambda: self.on_tools_change()  # noqa: PLW0108 (it may be set later)
            self._ended.pop(editor.id, None)
            editor.ended.add_done_callback(lambda ended: self._gone(editor, ended.result()))
            self.on_change()
            return editor

    def disconnect(self, connection_id: str) -> None:
        """End a connection.

        Raises:
            CallerError: there is none of that id.
        """
        editor = self.get(connection_id)
        self._gone(editor, f"{editor.name} was disconnected")
        editor.close()

    def get(self, connection_id: str | None) -> Editor:
        """The connection of that id; without one, the only one.

        Raises:
            CallerError: there is none, or there are several and none was named.
            UnavailableError: it has ended.
        """
        if connection_id is not None:
            if editor := self._editors.get(connection_id) or self._also(connection_id):
                return editor
            if reason := self._ended.get(connection_id):
                raise UnavailableError(f"{reason}; call connect again once it runs. {self._listed()}")
            raise CallerError(f"unknown connection {connection_id!r}. {self._listed()}")
        if len(self._editors) == 1:
            return next(iter(self._editors.values()))
        if self._editors:
            raise CallerError(f"several Neovims are connected; pass connection_id. {self._listed()}")
        reasons = "".join(f" ({reason})" for reason in self._ended.values())
        raise UnavailableError(f"no Neovim is connected{reasons}; call get_targets, then connect.")

    async def close(self) -> None:
        """End all connections, within 1 s: each Neovim closes the documents that we have open."""
        ended = [editor.ended for editor in self.connected]
        for editor in self.connected:
            editor.close()
        if ended:
            await asyncio.wait(ended, timeout=_CLOSE_TIMEOUT)

    async def find(self) -> tuple[list[Found], list[str]]:
        """The Neovims on this machine that answer, each by its first target, and what is the matter with others.

        Sockets that nobody listens at any more are left out.
        """
        candidates = await asyncio.to_thread(discover)
        found = {e.pid: Found(e.target, e.cwd.resolve(), e.pid, e.version) for e in self.connected}
        answers = await asyncio.gather(*(_look(target) for target in candidates if target.pid not in found))
        unusable = []
        for answer in answers:
            if isinstance(answer, Found):
                found.setdefault(answer.pid, answer)
            elif answer:
                unusable.append(answer)
        return list(found.values()), unusable

    async def connect_fitting(self, root: Path, socket: str | None) -> Editor:
        """The connection to `socket`, else to the Neovim that works in `root`.

        Raises:
            UnavailableError: none is found, none fits, or several do; the message lists them.
            CallerError, RefusedError: as `connect`.
        """
        if socket:
            return await self.connect(parse_target(socket))
        found, unusable = await self.find()
        if not found:
            raise UnavailableError(f"{none_runs(unusable)}; {HOW_TO_START}, or pass --socket")
        # Nothing else is taken unasked: what works elsewhere is another project.
        fitting = [one for one in found if one.cwd == root]
        if len(fitting) == 1:
            return await self.connect(fitting[0].target)
        listed = "; ".join(f"{one.target.text} in {one.cwd}" for one in (fitting or found))
        what = f"several Neovims work in {root}" if fitting else f"no Neovim works in {root}"
        raise UnavailableError(f"{what}; pass one with --socket, or call connect: {listed}")

    # --- inside ------------------------------------------------------------------------------------

    def _also(self, connection_id: str) -> Editor | None:
        """The connection that has another id as well."""
        return self._editors.get(self._aliases.get(connection_id, ""))

    def _gone(self, editor: Editor, reason: str) -> None:
        if self._editors.get(editor.id) is editor:
            del self._editors[editor.id]
            self._ended[editor.id] = reason
            self.on_change()

    def _listed(self) -> str:
        if not self._editors:
            return "None is connected."
        return "Connected: " + ", ".join(f"{editor.id} ({editor.target.text})" for editor in self.connected) + "."


def none_runs(unusable: Sequence[str]) -> str:
    """That there is no Neovim to connect to, though there may be `unusable` ones, as the beginning of a sentence."""
    if not unusable:
        return "no Neovim of yours runs on this machine"
    return f"no Neovim of yours can be connected to: {' '.join(unusable).rstrip('.')}"


async def _look(target: Target) -> Found | str | None:
    """The Neovim there, why it cannot be used, or None if there is none."""
    if not await alive(target):
        return None
    editor = Editor(target)
    try:
        await editor.connect()
    except RefusedError as error:
        return str(error)
    except SilentError as error:
        return None if target.pid is None else str(error)  # where it is not known, it may be something else
    except LspMcpError:
        return None
    editor.close()
    return Found(target, editor.cwd.resolve(), editor.pid, editor.version)


def config_target(socket: str) -> Target:
    """The target that a flag names.

    Raises:
        ConfigError: it can be none.
    """
    try:
        return parse_target(socket)
    except CallerError as error:
        raise ConfigError(f"--socket: {error}") from None
