"""Documents of other builds that proofs ask about: `Guests` has those of one build open at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lsp_mcp.errors import PathError
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.text import Text
from lsp_mcp.uris import uri_path


class Guests:
    """Opens files that the server's build excludes, for as long as no file of another build is visited.

    A server loads the workspace once more for each build of which it has a file open: gopls 0.24 needs three times as
    long for four of them if it keeps them all, and all questions wait. `build_of` tells which build a file is for.
    """

    def __init__(self, documents: Documents, build_of: Callable[[Path], frozenset[str]]) -> None:
        self._documents = documents
        self._build_of = build_of
        self._here: dict[Path, frozenset[str]] = {}
        self._gone: set[Path] = set()
        self._asked: Counter[Path] = Counter()  # requests in flight

    def visit(self, path: Path) -> Text:
        """Open `path` unless it is, and close what was opened so for other builds; the server's text of it.

        Raises:
            PathError: see `Documents.open`.
        """
        if path in self._documents and path not in self._here:
            return self._documents.open(path)
        build = self._build_of(path)
        self._leave(one for one, other in self._here.items() if other != build)
        text = self._documents.open(path)
        self._here[path] = build
        self._gone.discard(path)
        return text

    def leave(self) -> None:
        """Close all that was opened so."""
        self._leave(self._here)

    def stay(self, path: Path) -> Text:
        """Open `path` unless it is, for good, although it may have been visited; the server's text of it.

        Raises:
            PathError: see `Documents.open`.
        """
        text = self._documents.open(path)
        self._here.pop(path, None)
        self._gone.discard(path)
        return text

    @contextmanager
    def asking(self, path: Path) -> Iterator[None]:
        """The server is asked about `path` for the time of the block: it stays open, and is opened again if need be."""
        # A new server may have been started without it, or it was closed for room.
        if (path in self._gone or path in self._here) and path not in self._documents:
            with suppress(PathError):  # the server says so
                self.visit(path)
        self._asked[path] += 1
        try:
            yield
        finally:
            self._asked[path] -= 1
            if not self._asked[path]:
                del self._asked[path]

    def _leave(self, paths: Iterable[Path]) -> None:
        for path in [one for one in paths if not (self._asked[one] or self._documents.is_shown(one))]:
            del self._here[path]
            self._gone.add(path)
            self._documents.close(path)


def file_of(params: Mapping[str, Any]) -> Path | None:
    """The file that a request with `params` is about; None if it is about none. Pure."""
    document = params.get("textDocument") or params.get("item")  # of a hierarchy
    with suppress(PathError):  # a URI of the server's own
        return uri_path(document["uri"]) if document else None
    return None
