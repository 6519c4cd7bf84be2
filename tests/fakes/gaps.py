"""What a session says that its answers lack, as texts: `missing` and `news_of`."""

from pathlib import Path

from lsp_mcp.backend import Backend, Scope, Use
from lsp_mcp.gaps import hiding


async def missing(backend: Backend, path: Path | None = None, use: Use | None = None) -> list[str]:
    """The texts of what hides results from an answer about `path`, or about the whole workspace."""
    return [gap.text for gap in hiding(await backend.gaps(Scope(path=path, use=use)))]


async def news_of(backend: Backend) -> list[str]:
    """The texts of the news."""
    return [gap.text for gap in await backend.gaps(Scope()) if not gap.hides]
