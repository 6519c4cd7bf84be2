"""What one file declares for another, as `core.d.ts` for `core.js`: `is_declared_in_twin`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Meaning, Site
from lsp_mcp.requests.containers import Containers


async def is_declared_in_twin(backend: Backend, sites: Collection[Site], meaning: Meaning) -> bool:
    """Whether something in `meaning` has the full name of what is declared at `sites`, in a twin of its file.

    To TypeScript 7.0 these are two symbols: users have the one, and the program runs the other.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    theirs = {site for symbol in meaning for site in symbol.sites}
    ends = backend.plugin.word_check.twins
    pairs = [(one, other) for one in sites for other in theirs if ends and _are_twins(one[0], other[0], ends)]
    containers = Containers(backend)
    for one, other in pairs:
        first, second = await containers.named_at(*one), await containers.named_at(*other)
        if first and second and first.name and first.name == second.name:
            return True
    return False


def _are_twins(one: Path, other: Path, ends: Collection[tuple[str, str]]) -> bool:
    if one.parent != other.parent:
        return False
    names = one.name, other.name
    return any(
        first.endswith(end) and second == f"{first.removesuffix(end)}{of_other}"
        for end, of_other in ends
        for first, second in (names, names[::-1])
    )
