"""The choice of backends for a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lsp_mcp.adapters import Adapter, is_added, load_adapter
from lsp_mcp.errors import ConfigError, MissingProgramError
from lsp_mcp.programs import find_program
from lsp_mcp.workspace import too_wide


def choose_adapters(names: Iterable[str], root: Path, available: Iterable[str]) -> list[Adapter]:
    """The adapters called `names`; without names, those that fit what is in `root`, one for each language.

    Raises:
        ConfigError: a name is unknown, two of those named answer for the same extension, or nothing fits.
    """
    named = list(dict.fromkeys(names))
    if not named:
        fitting = _fitting(root, [load_adapter(name) for name in available])
        installed = [adapter for adapter in fitting if is_installed(adapter)]
        return installed or fitting  # that none is installed is said by every answer
    adapters = [load_adapter(name) for name in named]
    owners: dict[str, str] = {}
    for adapter in adapters:
        for extension in adapter.extensions:
            if extension in owners:
                raise ConfigError(
                    f"the backends {owners[extension]} and {adapter.name} both support {extension}; name one of them"
                )
            owners[extension] = adapter.name
    return adapters


def other_adapters(chosen: Sequence[Adapter], available: Iterable[str]) -> list[Adapter]:
    """The adapters for all further languages, one for each."""
    taken = {extension for adapter in chosen for extension in adapter.extensions}
    return _one_each([load_adapter(name) for name in available], taken)


def is_installed(adapter: Adapter) -> bool:
    """Whether the server's program is on this machine."""
    try:
        find_program(adapter)
    except MissingProgramError:
        return False
    return True


def _fitting(root: Path, available: list[Adapter]) -> list[Adapter]:
    """The adapters one of whose root markers is in `root` or above it, else whose files are in `root`.

    Of those with a marker, the ones without a file near the root only if no other has one: a `package.json` may be
    there for tools alone.
    """
    places = (root, *root.parents)
    # One source file somewhere in it says nothing about a whole machine or home folder.
    depths = () if too_wide(root) else ("", "*/")
    near = [a for a in available if any(next(root.glob(f"{d}*{e}"), None) for e in a.extensions for d in depths)]
    marked = [a for a in available if any((p / m).exists() for m in a.workspace.root_markers for p in places)]
    below = [a for a in near if a.searched_by_name] or near  # beside code, a file of data decides nothing
    fitting = [adapter for adapter in marked if adapter in below] or marked or below
    if not fitting:
        names = ", ".join(a.name for a in available if not a.untested)
        raise ConfigError(
            f"cannot tell which language server {root} needs; choose one with --backend (available: {names})"
        )
    return _one_each(fitting)


def _preference(adapter: Adapter) -> tuple[bool, ...]:
    """Sorts the adapters for one language, the best one first."""
    return not is_added(adapter), not is_installed(adapter), adapter.untested, bool(adapter.instead_of)


def _one_each(adapters: list[Adapter], taken: Iterable[str] = ()) -> list[Adapter]:
    """Of adapters that support the same file, the best one, unless its extension is `taken`; in the same order."""
    owned = set(taken)
    best = []
    for adapter in sorted(adapters, key=_preference):
        if owned.isdisjoint(adapter.extensions):
            owned.update(adapter.extensions)
            best.append(adapter)
    return [adapter for adapter in adapters if adapter in best]
