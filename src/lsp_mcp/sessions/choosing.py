"""The choice of backends for a workspace."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsp_mcp.adapters import Adapter, load_adapter
from lsp_mcp.errors import ConfigError
from lsp_mcp.workspace import too_wide


def choose_adapters(names: Iterable[str], root: Path, available: Iterable[str]) -> list[Adapter]:
    """The adapters called `names`; without names, those that fit what is in `root`.

    Raises:
        ConfigError: a name is unknown, two answer for the same extension, or nothing fits.
    """
    named = list(dict.fromkeys(names))
    adapters = [load_adapter(name) for name in named] or _fitting(root, [load_adapter(n) for n in available])
    owners: dict[str, str] = {}
    for adapter in adapters:
        for extension in adapter.extensions:
            if extension in owners:
                raise ConfigError(
                    f"the backends {owners[extension]} and {adapter.name} both support {extension}; name one of them"
                )
            owners[extension] = adapter.name
    return adapters


def _fitting(root: Path, adapters: list[Adapter]) -> list[Adapter]:
    """The adapters one of whose root markers is in `root` or above it, else whose files are in `root`."""
    marked = [
        a for a in adapters if any((p / m).exists() for m in a.workspace.root_markers for p in (root, *root.parents))
    ]
    # One source file somewhere in it says nothing about a whole machine or home folder.
    depths = () if too_wide(root) else ("", "*/")
    below = [a for a in adapters if any(next(root.glob(f"{d}*{e}"), None) for e in a.extensions for d in depths)]
    fitting = marked or below
    if not fitting:
        names = ", ".join(a.name for a in adapters)
        raise ConfigError(
            f"cannot tell which language server {root} needs; choose one with --backend (available: {names})"
        )
    return fitting
