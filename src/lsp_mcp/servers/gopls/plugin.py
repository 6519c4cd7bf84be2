"""What questions must know about gopls: `GoplsPlugin`. Facts were seen with gopls 0.24."""

from __future__ import annotations

import re
from pathlib import Path

from lsp_mcp.lsp.coverage import Coverage, Parts, SessionPlugin, Start
from lsp_mcp.lsp.reloading.reloading import Reloading
from lsp_mcp.servers.gopls.package_requests import PackageRequests
from lsp_mcp.servers.gopls.workspace_projects import WorkspaceProjects


class GoplsPlugin(SessionPlugin):
    """gopls knows the packages of the modules that it has loaded."""

    def coverage(self, start: Start) -> Coverage:
        """See `SessionPlugin.coverage`."""
        return WorkspaceProjects(self.adapter, start)

    def reloading(self, coverage: Coverage, parts: Parts) -> Reloading:
        """See `SessionPlugin.reloading`."""
        assert isinstance(coverage, WorkspaceProjects)
        return PackageRequests(self.adapter, parts, loads=coverage.loads)

    @property
    def finds_all_names(self) -> bool:
        """See `Plugin.finds_all_names`."""
        return True

    def is_exported(self, name: str, path: Path) -> bool:
        """See `Plugin.is_exported`: names in capitals, of the type too, and not in a test."""
        words = [word for word in re.findall(r"\w+", re.sub(r"\[.*?\]", "", name)) if word]
        return not any(re.match("[a-z_]", word) for word in words) and not path.name.endswith("_test.go")
