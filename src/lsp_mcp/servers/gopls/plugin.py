"""What questions must know about gopls: `GoplsPlugin`. Facts were seen with gopls 0.24."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsp_mcp.adapters import Adapter
from lsp_mcp.lsp.coverage import Coverage, Parts, SessionPlugin, Start
from lsp_mcp.lsp.reloading.reloading import Reloading
from lsp_mcp.servers.gopls import traits
from lsp_mcp.servers.gopls.build_tags import own_build
from lsp_mcp.servers.gopls.file_names import systems_of
from lsp_mcp.servers.gopls.hovers import hovered
from lsp_mcp.servers.gopls.index_names import index_package, index_symbols
from lsp_mcp.servers.gopls.mentions import MENTIONS
from lsp_mcp.servers.gopls.moves import build_changes
from lsp_mcp.servers.gopls.package_requests import PackageRequests
from lsp_mcp.servers.gopls.rules import CHANGES, MODULES, Changes, Projects
from lsp_mcp.servers.gopls.workspace_projects import WorkspaceProjects
from lsp_mcp.servers.traits import Hovered
from lsp_mcp.text import Text


class GoplsPlugin(SessionPlugin):
    """gopls knows the packages of the modules that it has loaded."""

    documents = traits.DOCUMENTS
    reports = traits.REPORTS
    diagnostics = traits.DIAGNOSTICS
    symbols = traits.SYMBOLS
    word_check = traits.WORD_CHECK
    visibility = traits.VISIBILITY
    renaming = traits.RENAMING
    mentions = MENTIONS
    refactorings = traits.REFACTORINGS

    def __init__(self, adapter: Adapter, modules: Projects = MODULES, changes: Changes = CHANGES) -> None:
        super().__init__(adapter)
        self._modules = modules
        self._changes = changes

    def coverage(self, start: Start) -> Coverage:
        """See `SessionPlugin.coverage`."""
        return WorkspaceProjects(self, self._modules, start)

    def reloading(self, coverage: Coverage, parts: Parts) -> Reloading:
        """See `SessionPlugin.reloading`."""
        assert isinstance(coverage, WorkspaceProjects)
        return PackageRequests(self.adapter, self._changes, parts, loads=coverage.loads)

    @property
    def pulls_diagnostics(self) -> bool:
        """See `Plugin.pulls_diagnostics`."""
        return False

    @property
    def finds_all_names(self) -> bool:
        """See `Plugin.finds_all_names`."""
        return True

    @property
    def goes_by_mtime(self) -> bool:
        """See `Plugin.goes_by_mtime`."""
        return self._changes.goes_by_mtime

    @property
    def left_out_refusal(self) -> str:
        """See `Plugin.left_out_refusal`."""
        return self._modules.left_out_refusal

    def own_build(self, content: str) -> Mapping[str, str] | None:
        """See `Plugin.own_build`: with the tags of its `//go:build` line."""
        return own_build(content)

    def systems_of(self, path: Path, text: Text) -> frozenset[str]:
        """See `Plugin.systems_of`."""
        return systems_of(path.name, text.content)

    @property
    def project_marker(self) -> str:
        """See `Plugin.project_marker`."""
        return self._modules.marker

    def ignores(self, folder: Path, root: Path) -> bool:
        """See `Plugin.ignores`."""
        return self._modules.ignores(folder / "file", root)

    def apart(self, folder: Path, root: Path) -> Path | None:
        """See `Plugin.apart`."""
        return self._modules.apart(folder, root)

    def build_changes(self, moves: Mapping[Path, Path], root: Path) -> list[str]:
        """See `Plugin.build_changes`."""
        return build_changes(moves, root, self._modules)

    def index_package(self, path: Path) -> str:
        """See `Plugin.index_package`."""
        return index_package(path)

    def index_symbols(self, path: Path, name: str, scopes: Sequence[str] = ()) -> Sequence[str]:
        """See `Plugin.index_symbols`."""
        return index_symbols(path, name)

    def exported_name(self, name: str) -> str:
        """See `Plugin.exported_name`: with a capital."""
        return name[:1].upper() + name[1:]

    def is_exported(self, name: str, path: Path) -> bool:
        """See `Plugin.is_exported`: names in capitals, of the type too, and not in a test."""
        words = [word for word in re.findall(r"\w+", re.sub(r"\[.*?\]", "", name)) if word]
        return not any(re.match("[a-z_]", word) for word in words) and not path.name.endswith("_test.go")

    def hovered(self, text: str, name: str) -> Hovered:
        """See `Plugin.hovered`."""
        return hovered(text, name)
