"""Who is at the page: `Roster` knows the people of the board, `Passes` makes and checks their cookies."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

from lsp_mcp.board import people
from lsp_mcp.board.board import Board
from lsp_mcp.board.store import Actor


class Roster:
    """The people of a board, as the database has them; follows changes by other processes."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._people: dict[str, dict[str, Any]] = {}

    async def load(self) -> None:
        """Read all of them."""
        self._people = {one["id"]: one for one in await self._board.read(people.listed)}

    async def follow(self) -> None:
        """Read them again whenever one changes; until cancelled."""
        with self._board.listening() as listener:
            await self.load()
            async for event in listener:
                if event.type == "lost" or event.data.get("kind") == "person":
                    await self.load()

    async def come(self, name: str) -> dict[str, Any]:
        """The person of that name, who is new if there is none. Raises as `people.come`."""
        found = await self._board.write(lambda at: people.come(at, name))
        self._people[found["id"]] = found
        return found

    def actor(self, visitor: Pass | None) -> Actor | None:
        """Who has this pass; None if it is not valid any more."""
        found = self._people.get(visitor.person) if visitor else None
        return people.as_actor(found) if found and visitor and found["links"] == visitor.links else None


@dataclass(frozen=True)
class Pass:
    """What a cookie says: a person, the number of their links, and whether a link named them."""

    person: str
    links: int
    is_named: bool


class Passes:
    """Cookies that only this board can make."""

    def __init__(self, token: str, port: int) -> None:
        self._key = token.encode()
        self._port = port

    def written(self, one: Pass) -> str:
        """The cookie of a pass. It is derived from the token, so that open pages reconnect after a restart."""
        text = f"{one.person}.{one.links}.{int(one.is_named)}"
        return f"{text}.{self._seal(text)}"

    def read(self, cookie: str) -> Pass | None:
        """The pass of a cookie; None if this board did not make it."""
        text, _, seal = cookie.rpartition(".")
        if not hmac.compare_digest(seal.encode("utf-8", "replace"), self._seal(text).encode()):
            return None
        person, links, is_named = text.split(".")
        return Pass(person, int(links), is_named == "1")

    def _seal(self, text: str) -> str:
        return hmac.new(self._key, f"page of port {self._port} for {text}".encode(), hashlib.sha256).hexdigest()
