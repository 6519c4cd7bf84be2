"""Members that a type has by embedding another one, as the server's hover on it says: `promoted`, `promoters`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.requests.hover import hovers
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.requests.workspace_symbol import is_called, workspace_symbols

_MOST = 100  # symbols of one name


class Promoter(Struct, frozen=True):
    """A type called `owner`, which declares a member of a type in `folder`, there or (not `beside`) elsewhere."""

    owner: str
    folder: Path
    beside: bool | None  # None: unknown

    def may_be_in(self, folder: Path) -> bool:
        """Whether it may be declared in `folder`."""
        return self.beside is None or self.beside == (folder == self.folder)


async def promoters(backend: Backend, types: Sequence[Place], member: str) -> list[Promoter]:
    """The types that declare `member` of the types at `types`, which do not declare it themselves.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    patterns = [one.replace("{name}", re.escape(member)) for one in backend.plugin.symbols.promoted_patterns]
    if not patterns:
        return []
    found = []
    for place, hover in zip(types, await hovers(backend, types), strict=True):
        for match in (match for pattern in patterns for match in re.finditer(pattern, hover)):
            named = match.groupdict()
            beside = not named["package"] if "package" in named else None
            found.append(Promoter(named["owner"], place.path.parent, beside))
    return found


async def promoted(backend: Backend, name: str) -> list[Symbol]:
    """The symbols that `Type.member`, the last two parts of `name`, means if other types declare that member.

    Raises:
        RefusedError, UnavailableError: see `Backend.request`.
    """
    above, _, member = name.rpartition(".")
    if not (backend.plugin.symbols.promoted_patterns and above and member.isidentifier()):
        return []
    types = [one.place for one in (await workspace_symbols(backend, above, _MOST)).symbols if is_called(one, above)]
    found: dict[Place, Symbol] = {}
    for promoter in await promoters(backend, types, member):
        whole = f"{promoter.owner}.{member}"
        for one in (await workspace_symbols(backend, whole, _MOST)).symbols:
            if is_called(one, whole) and promoter.may_be_in(one.place.path.parent):
                found[one.place] = one
    return list(found.values())
