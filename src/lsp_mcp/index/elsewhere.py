"""What the store knows of a symbol outside the workspace: `Elsewhere`. Blocking; see `toolsets.elsewhere`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.engine import Connection

from lsp_mcp.index import queries
from lsp_mcp.index.monikers import Described, described
from lsp_mcp.index.packing import Use
from lsp_mcp.index.queries import Found, Site
from lsp_mcp.index.store import IndexStore, Pushed, listed
from lsp_mcp.prose import count

_MOST_NAMES = 5_000  # looked at for a name
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


class There(Struct, frozen=True):
    """One repository's part of an answer: the first `sites` of `total`; `version`: the one it depends on."""

    index: Pushed
    version: str
    name: str
    sites: list[Site]
    total: int


class Elsewhere(Struct, frozen=True):
    """What was found, how many repositories were asked, and when their indexes were pushed.

    `own` are the repositories that were left out, since the workspace is their present state. `is_capped`: there are
    more symbols of that name than were looked at.
    """

    found: list[There]
    asked: int
    pushed: list[datetime]
    own: list[str]
    is_capped: bool = False

    def older_than(self, moment: float) -> int:
        """How many of the indexes were pushed before `moment`, in seconds since 1970."""
        return sum(one.timestamp() < moment for one in self.pushed)

    @property
    def total(self) -> int:
        """The places in all repositories."""
        return sum(one.total for one in self.found)


@cache
def opened(url: str) -> IndexStore:
    """The store at `url`, opened once for this process. Raises ConfigError."""
    return IndexStore(url)


def uses(url: str, symbols: Sequence[str], own: Sequence[str], most: int) -> Elsewhere:
    """The uses of the symbol of one of these identities, without those in repositories that define one of `own`,
    packages as `MANAGER NAME`."""
    return _asked(url, own, most, lambda at: queries.find(at, symbols), lambda one: one.references)


def implementations(url: str, symbols: Sequence[str], own: Sequence[str], most: int) -> Elsewhere:
    """The definitions of what implements one of these symbols, in any repository but those that define `own`."""

    def find(connection: Connection) -> list[Found]:
        bases = queries.find(connection, symbols)
        return [one for base in bases for one in queries.by_keys(connection, base.index, base.implemented_by)]

    return _asked(url, own, most, find, lambda one: one.definitions)


def definitions(url: str, names: Sequence[str], own: Sequence[str], most: int) -> Elsewhere:
    """The definitions of what is called `names`, as `Type`, `method`: exactly; not where `own` are defined."""
    is_capped = False

    def find(connection: Connection) -> list[Found]:
        nonlocal is_capped
        found, is_capped = _called(connection, names)
        return found

    said = _asked(url, own, most, find, lambda one: one.definitions)
    return replace(said, is_capped=is_capped)


def of_name(url: str, names: Sequence[str], most: int, question: Callable[..., Elsewhere]) -> Elsewhere:
    """`question`, `uses` or `implementations`, about all symbols called `names`; not where they are defined."""
    found, is_capped = opened(url).read(lambda at: _called(at, names))
    packages = {f"{one.moniker.manager} {one.moniker.package}" for one in found if one.moniker.package}
    alike = list(dict.fromkeys(one.moniker.identity for one in found))
    return replace(question(url, alike, sorted(packages), most), is_capped=is_capped)


def _called(connection: Connection, names: Sequence[str]) -> tuple[list[Found], bool]:
    """The symbols called `names`, and whether there are more than were looked at."""
    found = queries.by_name(connection, names[-1], _MOST_NAMES, exactly=True)
    alike = [one for one in found if (parts := described(one.moniker.descriptors)) and _ends(parts, names)]
    return alike, len(found) >= _MOST_NAMES


def _ends(parts: Described, names: Sequence[str]) -> bool:
    """Whether a symbol's names, after those of its package or namespaces, end with `names`."""
    return (*parts.path.split("/"), *parts.names)[-len(names) :] == tuple(names)


class Excerpt(Struct, frozen=True):
    """A document's text, None if it was not stored, and the definition around a place; lines and `start` are from 0."""

    text: str | None
    name: str
    line: int
    start: int
    first: int
    last: int


def excerpt(url: str, repository: str, commit: str, path: str, line: int) -> Excerpt | None:
    """The innermost definition around `line`, from 0, of a document; None if the store has no such document."""

    def work(connection: Connection) -> Excerpt | None:
        stored = queries.document(connection, repository, commit, path)
        if stored is None:
            return None
        around = [one for one in stored.defined if one.first <= line <= one.last]
        if not around:
            return Excerpt(stored.text, "", line, 0, line, line)
        inner = min(around, key=lambda one: (one.last - one.first, -one.line))
        (symbol,) = queries.by_keys(connection, stored.index, [inner.key])
        names = described(symbol.moniker.descriptors)
        name = ".".join(names.names) if names else ""
        return Excerpt(stored.text, name, inner.line, inner.start, inner.first, inner.last)

    return opened(url).read(work)


def age(index: Pushed) -> str:
    """`2 days ago`."""
    seconds = int((datetime.now(UTC) - datetime.fromisoformat(index.pushed_at)).total_seconds())
    return next((f"{count(seconds // size, name)} ago" for size, name in _UNITS if seconds >= size), "a moment ago")


def _asked(
    url: str,
    own: Sequence[str],
    most: int,
    find: Callable[[Connection], list[Found]],
    places: Callable[[Found], list[Use]],
) -> Elsewhere:
    def work(connection: Connection) -> Elsewhere:
        every = listed(connection, only_newest=True)
        others = {one.key: one for one in every if not {*own} & {*one.packages}}
        found = []
        for one in find(connection):
            listed_uses = places(one)
            if one.index.key in others and listed_uses:
                names = described(one.moniker.descriptors)
                found.append(
                    There(
                        index=one.index,
                        version=one.moniker.version,
                        name=".".join(names.names) if names else "",
                        sites=queries.sites(connection, one.index, listed_uses[:most]),
                        total=len(listed_uses),
                    )
                )
        pushed = [datetime.fromisoformat(one.pushed_at) for one in others.values()]
        return Elsewhere(found, len(others), pushed, [one.repository for one in every if one.key not in others])

    return opened(url).read(work)
