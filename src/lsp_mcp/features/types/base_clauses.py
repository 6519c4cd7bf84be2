"""What files say about bases of types, kept until their texts change: `BaseClauses`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.features.types.class_heads import Statements, statements, templates_around
from lsp_mcp.remembered import RememberedOf, kept_in_thread
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import blanked

_MOST_KEPT = 100_000  # statements of all files: some 20 MiB
_KEPT: RememberedOf[Backend, Path, str, Statements] = RememberedOf(_MOST_KEPT)  # the stamp is the text

_AROUND: RememberedOf[Backend, tuple[Path, frozenset[str]], str, frozenset[str]] = RememberedOf(_MOST_KEPT)  # the same


class BaseClauses:
    """Reads the files of one backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def statements(self, path: Path, text: Text) -> Statements:
        """What `text`, that of `path`, says."""
        if (language := self._backend.plugin.language_of(path)) is None:
            return Statements()
        kept = _KEPT.for_owner(self._backend)
        return await kept_in_thread(kept, path, text.content, lambda: statements(text, language.id))

    async def templates_around(self, path: Path, text: Text, names: Collection[str]) -> frozenset[str]:
        """The words before the `<` that stands open before one of `names` in `text`, that of `path`."""
        language = self._backend.plugin.language_of(path)

        def around() -> frozenset[str]:
            return frozenset(templates_around(blanked(text, language), names))

        return await kept_in_thread(_AROUND.for_owner(self._backend), (path, frozenset(names)), text.content, around)
