"""The choice of backends for a workspace."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from lsp_mcp.adapters import Adapter, is_added, load_adapter
from lsp_mcp.errors import ConfigError, MissingProgramError
from lsp_mcp.programs import find_program
from lsp_mcp.syntax.grammars import has_grammar
from lsp_mcp.workspace import too_wide


def choose_adapters(names: Iterable[str], root: Path, available: Iterable[str]) -> list[Adapter]:
    """The adapters called `names`; without names, those that fit what is in `root`, one for each language.

    Raises:
        ConfigError: a name is unknown, two of those named answer for the same files, or nothing fits.
    """
    named = list(dict.fromkeys(names))
    if not named:
        return _chosen(root, [load_adapter(name) for name in available])
    adapters = [load_adapter(name) for name in named]
    owners: dict[str, str] = {}
    for adapter in adapters:
        for kind in adapter.by_kind:
            if kind in owners:
                raise ConfigError(
                    f"the backends {owners[kind]} and {adapter.name} both support {kind}; name one of them"
                )
            owners[kind] = adapter.name
    return adapters


def other_adapters(chosen: Sequence[Adapter], available: Iterable[str]) -> list[Adapter]:
    """The adapters for all further languages, one for each; the fallback is for those without an installed server."""
    taken = {kind for adapter in chosen for kind in adapter.by_kind}
    adapters = [load_adapter(name) for name in available]
    others = _one_each([adapter for adapter in adapters if not adapter.is_fallback], taken)
    installed = [adapter for adapter in others if is_installed(adapter)]
    served = taken.union(*(adapter.by_kind for adapter in installed))
    fallbacks = [left for adapter in adapters if adapter.is_fallback and (left := _without(adapter, served))]
    parsed = {kind for adapter in fallbacks for kind in adapter.by_kind}
    return [*(one for one in others if one in installed or not parsed.issuperset(one.by_kind)), *fallbacks]


def parsed_alone(adapters: Iterable[Adapter]) -> list[Adapter]:
    """The fallbacks among `adapters`, for each of their languages that has an installed grammar."""
    return [left for adapter in adapters if adapter.is_fallback and (left := _without(adapter, ()))]


def is_installed(adapter: Adapter) -> bool:
    """Whether the server's program is on this machine."""
    try:
        find_program(adapter)
    except MissingProgramError:
        return False
    return True


def _chosen(root: Path, available: list[Adapter]) -> list[Adapter]:
    """The adapters for `root`: installed ones, else a fallback, else those that can be installed by a command of ours.

    That none is installed is said by every answer.
    """
    try:
        fitting = _fitting(root, [adapter for adapter in available if not adapter.is_fallback])
    except ConfigError:
        fitting = []
        if not (parsed := _parsed_near(root, available)):
            raise
        return parsed
    installed = [adapter for adapter in fitting if is_installed(adapter)]
    if installed or any(adapter.install for adapter in fitting):
        return installed or fitting
    marked = {kind for adapter in fitting for kind in adapter.by_kind}
    return [one for one in parsed_alone(available) if not marked.isdisjoint(one.by_kind)] or fitting


def _parsed_near(root: Path, available: list[Adapter]) -> list[Adapter]:
    """The fallback, if there are files near `root` that it supports."""
    return [adapter for adapter in parsed_alone(available) if _is_near(root, adapter)]


def _without(fallback: Adapter, served: Collection[str]) -> Adapter | None:
    """`fallback` for those of its languages that have an installed grammar and kinds of files that are not `served`."""
    kept = (language.without(served) for language in fallback.languages if has_grammar(language.id))
    languages = tuple(language for language in kept if language.kinds)
    if not languages:
        return None
    kinds = [kind for language in languages for kind in language.kinds]
    return replace(fallback, languages=languages, initialization_options={"files": kinds})


def _is_near(root: Path, adapter: Adapter) -> bool:
    """Whether files of `adapter` are in `root` or the folders in it."""
    # One source file somewhere in it says nothing about a whole machine or home folder.
    depths = () if too_wide(root) else ("", "[!.]*/")
    # A hidden file, such as `.mcp.json`, says nothing about the code.
    names = [name for language in adapter.languages for name in language.file_names if not name.startswith(".")]
    wanted = [*(f"[!.]*{extension}" for extension in adapter.extensions), *names]
    return any(next(root.glob(f"{depth}{one}"), None) for one in wanted for depth in depths)


def _fitting(root: Path, available: list[Adapter]) -> list[Adapter]:
    """The adapters one of whose root markers is in `root` or above it, else whose files are in `root`.

    Of those with a marker, the ones without a file near the root only if no other has one: a `package.json` may be
    there for tools alone.
    """
    places = (root, *root.parents)
    near = [adapter for adapter in available if _is_near(root, adapter)]
    marked = [a for a in available if any((p / m).exists() for m in a.workspace.root_markers for p in places)]
    below = [a for a in near if a.searched_by_name] or near  # beside code, a file of data decides nothing
    fitting = [adapter for adapter in marked if adapter in below] or marked or below
    if not fitting:
        names = ", ".join(a.name for a in available if not a.untested)
        raise ConfigError(
            f"cannot tell which language server {root} needs: it has no project file, and no source file at its top or "
            f"one folder below; run lsp-mcp in a project, or choose a server with --backend (available: {names})"
        )
    return _one_each(fitting)


def _preference(adapter: Adapter) -> tuple[bool, ...]:
    """Sorts the adapters for one language, the best one first."""
    return not is_added(adapter), not is_installed(adapter), adapter.untested, bool(adapter.instead_of)


def _one_each(adapters: list[Adapter], taken: Iterable[str] = ()) -> list[Adapter]:
    """Of adapters that support the same file, the best one, unless files of it are `taken`; in the same order."""
    owned = set(taken)
    best = []
    for adapter in sorted(adapters, key=_preference):
        if owned.isdisjoint(adapter.by_kind):
            owned.update(adapter.by_kind)
            best.append(adapter)
    return [adapter for adapter in adapters if adapter in best]
