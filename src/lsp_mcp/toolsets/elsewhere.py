"""What tools say of other repositories, from the index store: `OtherRepositories`. Nothing is imported without one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from lsp_mcp.anchors import Anchor, is_anchor, parse_anchor
from lsp_mcp.errors import LspMcpError
from lsp_mcp.gaps import Gap
from lsp_mcp.index.patience import asked
from lsp_mcp.index.place import known_store
from lsp_mcp.prose import count, first_few
from lsp_mcp.render.answers import Source
from lsp_mcp.render.elsewhere import OtherPlaces, OtherRepository
from lsp_mcp.requests.containers import Container, Containers
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.requests.symbols import FUNCTIONS, SCOPES
from lsp_mcp.text import Span, Text, numbers_point, point_numbers
from lsp_mcp.toolsets.symbols import SymbolTarget, Targets

if TYPE_CHECKING:
    from lsp_mcp.index.elsewhere import Elsewhere, Excerpt, There

_MOST = 10  # places listed for each repository
_MOST_VERSIONS = 4  # named in a status
_BRIEF = "other repositories as indexed"

Said = tuple[OtherPlaces | None, list[Gap]]
"""What was found elsewhere, None if nothing was asked; and what is not known."""


class _Declared(NamedTuple):
    """A declaration with the namespaces in its file that its full name does not have; `kind` is empty if it is in no
    outline."""

    path: Path
    name: str
    kind: str = ""
    scopes: Sequence[str] = ()


class OtherRepositories:
    """Asks the index store that the user named, or the default one once something was pushed into it."""

    def __init__(self, store: str | None, targets: Targets) -> None:
        self._store = store
        self._targets = targets

    async def found(self, target: SymbolTarget, what: Literal["use", "implementation"]) -> Said:
        """The uses or implementations of the symbol at `target`, which the servers of this workspace cannot see."""
        url = known_store(self._store)
        if url is None:
            return None, []
        try:
            declared = await self._declared(target)
        except LspMcpError as error:
            return None, [Gap("not_searched", f"other repositories were not asked: {error}")]
        if declared is None:
            return None, []
        path, name, kind = declared.path, declared.name, declared.kind
        plugin = target.backend.plugin
        if not plugin.is_exported(name, path):
            return None, []
        symbols = plugin.index_symbols(path, name, declared.scopes) if kind else ()
        names = _words(name)
        own = plugin.index_package(target.path)

        def ask() -> Elsewhere:
            from lsp_mcp.index import elsewhere

            question = elsewhere.uses if what == "use" else elsewhere.implementations
            if symbols:
                return question(url, symbols, [own], _MOST)
            return elsewhere.of_name(url, names, _MOST, question)

        found, gaps = await self._said(url, ask, what, path)
        if found and kind == "method" and what == "use":
            text = f"elsewhere calls of {name} through an interface or a base are not counted: ask about that method"
            gaps.append(Gap("not_searched", text, brief="calls through interfaces elsewhere"))
        if found and not symbols:
            by_name = (
                f"how indexes name {name} is not known for {target.backend.plugin.name}: matched by the name alone"
            )
            gaps.append(Gap("unverified", f"other repositories: {by_name}", about=_BRIEF))
        return found, gaps

    async def named(self, name: str) -> Said:
        """The definitions of what is called exactly `name`, without those of the package in the workspace root."""
        url, names = known_store(self._store), _words(name)
        if url is None or not names:
            return None, []
        sessions = self._targets.sessions
        here = sessions.workspace.root / "file"
        own = [package for backend in sessions.backends if (package := backend.plugin.index_package(here))]

        def ask() -> Elsewhere:
            from lsp_mcp.index import elsewhere

            return elsewhere.definitions(url, names, own, _MOST)

        return await self._said(url, ask, "definition")

    async def read(self, spelled: str) -> Source | None:
        """The definition around an anchor of another repository; None if `spelled` is no such anchor.

        Its text is that of the index. The `problem` of a document without text says so.
        """
        url = known_store(self._store)
        if url is None or not is_anchor(spelled):
            return None
        anchor = parse_anchor(spelled)
        repository, _, rest = anchor.file.partition("@")
        commit, _, path = rest.partition("/")
        if not path or repository.startswith("/"):
            return None
        line = point_numbers(anchor.point, 0)["line"]

        def ask() -> Excerpt | None:
            from lsp_mcp.index import elsewhere

            return elsewhere.excerpt(url, repository, commit, path, line)

        found = await asked(url, ask)
        if found is None:
            return None
        if found.text is None:
            why = f"{path} of {repository} was stored without its text; push it with --with-text"
            return Source(asked=spelled, problem=f"{spelled}: {why}")
        text, at = Text(found.text), numbers_point({"line": found.line, "character": found.start}, 0)
        first, last = (numbers_point({"line": line, "character": 0}, 0) for line in (found.first, found.last))
        return Source(
            asked=spelled,
            place=Place(Path(anchor.file), Span(at, at), text),
            name=found.name or "outside declarations",
            kind="definition" if found.name else "place",
            lines=text.numbered(Span(first, last)),
            first=first.line,
            last=last.line,
            notes=[f"from the index of {repository}, commit {commit}; read only"],
        )

    # --- inside ------------------------------------------------------------------------------------

    async def _said(self, url: str, ask: Callable[[], Elsewhere], noun: str, declared: Path | None = None) -> Said:
        try:
            found = await asked(url, ask)
        except ModuleNotFoundError as error:
            return None, [Gap("not_searched", f"other repositories were not asked: {error.name} is not installed")]
        except LspMcpError as error:
            return None, [Gap("not_searched", f"other repositories were not asked: {error}")]
        if not found.asked and not found.own:
            return None, []  # an empty store is as none
        number = "1 indexed repository is" if found.asked == 1 else f"{found.asked:,} indexed repositories are"
        text = f"elsewhere only {number} known, each as of its commit"
        versions = sorted({one.version for one in found.found if one.version})
        if versions[1:]:
            text += f"; uses are of {len(versions):,} versions: {first_few(versions, _MOST_VERSIONS)}"
        if declared and (older := found.older_than(_changed(declared))):
            text += f"; {older:,} of these indexes {'is' if older == 1 else 'are'} older than {declared.name} here"
        root = self._targets.sessions.workspace.root
        if found.own and _is_part(root):
            text += f"; of {first_few(found.own)} only {root.name} is open: uses in its other folders are not known"
        gap = Gap("not_searched", text, brief=_BRIEF, about=_BRIEF)
        gaps = [gap]
        if found.is_capped:
            gaps.append(
                Gap("capped", "elsewhere more symbols have that name than were looked at; pass more of the name")
            )
        return _places(found, noun, self._targets.scheme), gaps

    async def _declared(self, target: SymbolTarget) -> _Declared | None:
        """The declaration that `target` means; None if no other repository can name it, since it is in a function."""
        places = await definition_places(target.backend, target.path, target.identifier.start)
        for path, point in places[:1]:
            outline = await Containers(target.backend).known(path)
            own = next((one for one in outline if one.place.span.start == point), None)
            around = [one for one in outline if one is not own and one.holds(point)]
            if not (own and _is_member(own)) and any(one.kind in FUNCTIONS for one in around):
                return None  # a method may create attributes, which are members
            name = _full_name(own, around) if own else ""
            if not own or not name:
                return _Declared(path, target.name)
            is_whole = bool(target.backend.plugin.symbols.scope_separator)
            scopes = [one.name for one in around if one.kind in SCOPES and not is_whole]
            return _Declared(path, name, own.kind, scopes)
        return None


def _places(found: Elsewhere, noun: str, scheme: Callable[[Path], str]) -> OtherPlaces:
    repositories = len({one.index.repository for one in found.found})
    where = "1 other repository" if repositories == 1 else f"{repositories:,} other repositories"
    summary = f"{count(found.total, noun)} in {where}" if found.total else f"no {noun} in other repositories"
    return OtherPlaces(summary, [_repository(one, noun, scheme) for one in found.found])


def _repository(there: There, noun: str, scheme: Callable[[Path], str]) -> OtherRepository:
    from lsp_mcp.index.elsewhere import age

    index = there.index
    anchors = []
    for site in there.sites:
        point = numbers_point({"line": site.use.line, "character": site.use.start}, 0)
        file = f"{index.repository}@{index.short_commit}/{site.file.path}"
        anchors.append(str(Anchor(scheme(Path(site.file.path)), file, point)))
    is_exact = all(site.file.is_exact for site in there.sites)
    return OtherRepository(
        repository=index.repository,
        commit=index.short_commit,
        indexed=age(index),
        version=there.version,
        name=there.name,
        number=count(there.total, noun),
        anchors=anchors,
        more=there.total - len(anchors),
        is_exact=is_exact,
    )


def _full_name(own: Container, around: Sequence[Container]) -> str:
    """The name of a declaration with those around it that indexes write, too; empty if it is not known."""
    inner = around[-1] if around else None
    if inner is None or inner.kind in SCOPES or _is_member(own):
        return own.name
    return f"{inner.name}.{own.name}" if inner.kind == "enum_member" else ""


def _is_member(one: Container) -> bool:
    """Whether a declaration is a member of its type, rather than a local of a method."""
    return bool(one.owner) and one.name.startswith(one.owner)


def _is_part(root: Path) -> bool:
    """Whether the workspace root is a folder inside a repository rather than all of it."""
    return not (root / ".git").exists() and any((folder / ".git").exists() for folder in root.parents)


def _changed(path: Path) -> float:
    """When `path` was changed, in seconds since 1970; 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _words(name: str) -> list[str]:
    """The last parts of a full name: `Type`, `method`. Enough to find it; more are spelled differently by indexers."""
    return re.findall(r"[\w$]+", name)[-2:]
