"""Servers that take in what they are told: `PlainReloading`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Scope
from lsp_mcp.gaps import Gap
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.lsp.reloading.reloading import Known, Looked, error_gaps, own_error_gap
from lsp_mcp.lsp.reloading.shown_documents import look_at_documents
from lsp_mcp.workspace import Workspace

_KEPT = 10  # documents opened again in a new server


class PlainReloading:
    """Nothing but notifications makes the server read. See `Reloading`."""

    def __init__(
        self, adapter: Adapter, workspace: Workspace, documents: Documents, lifetime: Lifetime, known: Known,
        timeout: float,
    ) -> None:  # fmt: skip
        self._adapter = adapter
        self._workspace = workspace
        self._documents = documents
        self._lifetime = lifetime
        self._known = known
        self._timeout = timeout

    @property
    def reads_untold(self) -> bool:
        """See `Reloading.reads_untold`."""
        return False

    def started(self) -> None:
        """A new server reads the workspace itself."""

    async def load(self, changed: Collection[Path], *, to_check: bool = False) -> bool:
        """See `Reloading.load`: the notification was enough."""
        return False

    async def load_alone(self, files: Collection[Path]) -> None:
        """See `Reloading.load_alone`: it has read them when they were opened."""

    async def reload_all(self, root: Path, *, settings: bool = False) -> None:
        """See `Reloading.reload_all`: no request does that, and other settings are for a new server."""
        if settings:
            self._documents.keep_last(_KEPT)
            await self._lifetime.renew()
            await self._known()

    async def buffers_changed(self, paths: Collection[Path]) -> None:
        """See `Reloading.buffers_changed`: the server answers for the texts that it was sent."""

    def has_reread(self, path: Path) -> bool:
        """Always False: without an index no file is read again."""
        return False

    def mistrust(self, path: Path, name: str) -> None:
        """See `Reloading.mistrust`: nothing would correct that."""

    async def load_word(self, word: str, *, part: bool) -> frozenset[Path]:
        """It cannot be made to read excluded files."""
        return frozenset()

    async def look_at(self, changed: Collection[Path] | None) -> Looked:
        """See `Reloading.look_at`: for dependents, only open documents are known."""
        connection = await self._lifetime.live()
        diagnostics = connection.notifications.diagnostics
        opened = {path for path in self._documents if self._adapter.owns(path, self._workspace.root)}
        if changed is None:
            return Looked({path for path in opened if diagnostics.knows(path, self._documents.note_version(path))})
        mine = {path for path in changed if self._adapter.language_of(path) and path.is_file()}
        return await look_at_documents(mine, opened, self._documents, diagnostics, self._timeout)

    async def gaps(self, scope: Scope) -> list[Gap]:
        """See `Reloading.gaps`."""
        if scope.reach != "workspace":
            return await self._own_error(scope.path) if scope.path else []
        if scope.use is None:
            return []
        use, errors = scope.use, await self._errors()
        word = use.identifier
        doubted = {path: error for path, error in errors.items() if use.may_be_in(path)}
        bad = {path: error for path, error in doubted.items() if self._has(path, word, part=scope.path is None)}
        return error_gaps(word, bad, self._workspace.display_path)

    # --- inside ------------------------------------------------------------------------------------

    async def _own_error(self, path: Path) -> list[Gap]:
        return own_error_gap(path, self._published.get(path), self._workspace.display_path)

    async def _errors(self) -> dict[Path, str]:
        """The first known syntax error of each file that has one."""
        return dict(self._published)

    @property
    def _published(self) -> dict[Path, str]:
        return self._lifetime.connection.notifications.diagnostics.unparsed if self._lifetime.connection else {}

    def _has(self, path: Path, word: str, *, part: bool) -> bool:
        text = self._documents.present(path)
        return word.casefold() in text.content.casefold() if part else bool(text.words(word))
