"""What questions must know about clangd: `ClangdPlugin`. Facts were seen with clangd 22.1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from lsp_mcp.adapters import Adapter, Language
from lsp_mcp.lsp.coverage import Coverage, Parts, SessionPlugin, Setup, Start
from lsp_mcp.lsp.reloading.reloading import Reloading
from lsp_mcp.servers.clangd import traits
from lsp_mcp.servers.clangd.compilation.build import Build
from lsp_mcp.servers.clangd.compilation.database import find_database, read_database
from lsp_mcp.servers.clangd.remote_index import check_remote_index
from lsp_mcp.servers.clangd.reopening import Reopening
from lsp_mcp.servers.clangd.rules import COMPILATION, Compilation


class ClangdPlugin(SessionPlugin):
    """clangd compiles each file of the compilation database."""

    documents = traits.DOCUMENTS
    reports = traits.REPORTS
    inactive_regions = traits.INACTIVE_REGIONS
    diagnostics = traits.DIAGNOSTICS
    symbols = traits.SYMBOLS
    word_check = traits.WORD_CHECK
    hierarchy = traits.HIERARCHY
    refactorings = traits.REFACTORINGS
    headers = traits.HEADERS
    renaming = traits.RENAMING
    mentions = traits.MENTIONS

    def __init__(self, adapter: Adapter, compilation: Compilation = COMPILATION) -> None:
        super().__init__(adapter)
        self._compilation = compilation
        self._language_of: Callable[[Path], Language | None] = adapter.language_of
        self._indexes_all = True

    def coverage(self, start: Start) -> Coverage:
        """See `SessionPlugin.coverage`."""
        build = Build(self.adapter, self._compilation, start)
        self._language_of = build.files.language_of
        self._indexes_all = build.remote is None
        return build

    def language_of(self, path: Path) -> Language | None:
        """See `Plugin.language_of`: every file that a source file includes is one, too, once the build is known."""
        return self._language_of(path)

    def reloading(self, coverage: Coverage, parts: Parts) -> Reloading:
        """See `SessionPlugin.reloading`."""
        assert isinstance(coverage, Build)
        return Reopening(self, self._compilation, coverage, parts)

    def setup(self, root: Path, database: Path | None) -> Setup | None:
        """See `SessionPlugin.setup`: the compilation database."""
        rules = self._compilation
        file = database or find_database(root, rules)
        if file is None:
            note = f"{self.adapter.name} only knows files that a question names, and guesses their compile flags"
            return Setup(rules.database, "missing", note=note, get=rules.how_to_get)
        problem = read_database(file, root).problem if file.name == rules.database else ""
        if problem:
            return Setup(rules.database, "unusable", str(file), problem, rules.how_to_get)
        return Setup(file.name, "ok", str(file))

    def check_remote_index(self, program: Path, address: str) -> None:
        """See `SessionPlugin.check_remote_index`."""
        check_remote_index(program, address)

    @property
    def compiles_files(self) -> bool:
        """See `Plugin.compiles_files`."""
        return True

    @property
    def pulls_diagnostics(self) -> bool:
        """See `Plugin.pulls_diagnostics`."""
        return False

    @property
    def finds_all_names(self) -> bool:
        """See `Plugin.finds_all_names`: a remote index may be older than the code."""
        return self._indexes_all

    @property
    def request_reach(self) -> Mapping[str, Literal["text", "file"]]:
        """See `Plugin.request_reach`."""
        return {"textDocument/ast": "text", "textDocument/symbolInfo": "file"}

    @property
    def trial_arguments(self) -> Sequence[str]:
        """See `Plugin.trial_arguments`. Without its index it answers from the files of the trial alone."""
        return ("--background-index=false", "--use-dirty-headers", "--log=error")

    @property
    def idle_request(self) -> str:
        """See `Plugin.idle_request`. clangd 22 indexes the standard library once a document is open."""
        return "sync"

    def is_header(self, path: Path) -> bool:
        """See `Plugin.is_header`."""
        return not self._compilation.compiles(path)

    def is_exported(self, name: str, path: Path) -> bool:
        """See `Plugin.is_exported`: what a header declares."""
        return self.is_header(path)
