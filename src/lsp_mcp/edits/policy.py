"""`EditPolicy`: what an edit may touch, for every tool and server. Only its `CheckedPlan`s can be applied.

A plan is checked by the names in it before anything is done, and `survey` checks the resolved paths on disk again when
it is applied. Hard links are not followed: no edit creates one, and if a file has several names, only the one in the
plan changes on disk. (Neovim may write all names of a file that it has in a buffer.)
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fnmatch import translate
from functools import cache, lru_cache
from pathlib import Path

from msgspec.structs import replace

from lsp_mcp.edits.plan import CreateFile, DeleteFile, EditPlan, FileChange, RenameFile, Step
from lsp_mcp.edits.protected import DEPENDENCY_FOLDERS, PROTECTED
from lsp_mcp.errors import EditError
from lsp_mcp.workspace import display_path

FLAG = "--allow-protected-edits"
_GIT_HEAD = re.compile(rb"ref:\s*refs/|[0-9a-f]{40}")  # what a HEAD begins with in a folder that git takes for its own


@dataclass(frozen=True)
class EditPolicy:
    """Edits stay below `root`, and touch neither dependencies' sources nor files that make programs run.

    `root` is absolute, with symlinks resolved. `dependency_names` returns further names of folders with dependencies'
    sources that apply to a path. `allow_protected` is set by the user.
    """

    root: Path
    dependency_names: Callable[[Path], Collection[str]] = lambda _: ()
    allow_protected: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(os.path.realpath(self.root)))

    def check(self, plan: EditPlan, *, confirmed: bool = False) -> CheckedPlan:
        """`plan` as a `CheckedPlan`.

        Raises:
            EditError: it is forbidden, or the server wants a confirmation that the caller has not given (`confirmed`).
        """
        return CheckedPlan(plan, self, confirmed)

    def refusal(self, plan: EditPlan) -> str | None:
        """Why `plan` is forbidden, in sentences that say what to do; None if it is allowed."""
        places = Places(self)
        for step in plan.steps:
            for path, follows in _paths(step):
                if why := places.refusal_of_name(path, is_file=_is_of_file(step), follows=follows):
                    return why
            if isinstance(step, DeleteFile | RenameFile) and (why := places.refusal_of_content(_moved(step))):
                return why
        return None


@dataclass(frozen=True)
class CheckedPlan:
    """A plan that `policy` allows: creating one checks it.

    Raises:
        EditError: see `EditPolicy.check`.
    """

    plan: EditPlan
    policy: EditPolicy
    confirmed: bool = False

    def __post_init__(self) -> None:
        if why := self.policy.refusal(self.plan):
            raise EditError(f"{why} Nothing was changed.")
        if self.plan.confirmations and not self.confirmed:
            raise EditError(
                f"This must be confirmed first: {'; '.join(self.plan.confirmations)}. Nothing was changed. "
                "If the user agrees, call again with confirmed=true."
            )

    def only(self, steps: Collection[Step]) -> CheckedPlan:
        """The checked plan reduced to `steps`."""
        return CheckedPlan(replace(self.plan, steps=tuple(steps)), self.policy, self.confirmed)


@dataclass(frozen=True)
class _Folder:
    """The facts about a folder: whether it is in the root, the names on its path, and which of them are protected."""

    inside: bool
    names: frozenset[str] = frozenset()
    kind: str | None = None


class Places:
    """Applies a policy to paths on disk; each folder is examined once."""

    def __init__(self, policy: EditPolicy) -> None:
        self._policy = policy
        self._folders: dict[Path, _Folder] = {policy.root: _Folder(True, kind=_git_kind(policy.root))}
        self._real: dict[Path, Path] = {}

    def refusal_of_name(self, path: Path, *, is_file: bool, follows: bool) -> str | None:
        """Why `path`, as written or resolved, must not be changed; None if it may be.

        `follows`: a symlink at `path` itself is followed, not replaced.
        """
        if self._folder(path.parent).inside and (why := self._refusal_of_names(path, path)):
            return why
        place = self._real_folder(path.parent) / path.name
        if why := self.refusal(place, path, is_file=is_file):
            return why
        if follows and place.is_symlink():
            return self.refusal(Path(os.path.realpath(place)), path, is_file=is_file)
        return None

    def refusal(self, place: Path, path: Path, *, is_file: bool = True) -> str | None:
        """Why `place`, the resolved form of `path`, must not be changed; None if it may be."""
        root = self._policy.root
        if place == root or place.name in ("", "..") or not self._folder(place.parent).inside:
            return (
                f"{_shown(path, place, root)} is outside the workspace root {root}, and nothing is written there. "
                "If that is code of yours, start lsp-mcp with a --workspace-root that holds it."
            )
        if why := self._refusal_of_names(place, path):
            return why
        # A missing HEAD may be all that keeps a folder from being a repository, in which git runs what its config says.
        if is_file and _folded(place.name) == "head" and not self._policy.allow_protected:
            return self._protected(place, path, _GIT_KIND)
        return None

    def refusal_of_content(self, path: Path) -> str | None:
        """Why the folder `path` must not be removed, because of its content; None if it may, or is not a folder."""
        if self._policy.allow_protected or path.is_symlink() or not path.is_dir():
            return None
        for folder, folders, files in os.walk(path):
            if _git_kind(Path(folder)):
                return self._protected(Path(folder), Path(folder), _GIT_KIND)
            for name in (*folders, *files):
                if kind := _kind(name):
                    return self._protected(Path(folder, name), Path(folder, name), kind)
        return None

    def _refusal_of_names(self, place: Path, path: Path) -> str | None:
        policy, folder, name = self._policy, self._folder(place.parent), _folded(place.name)
        for dependencies in (*DEPENDENCY_FOLDERS, *policy.dependency_names(place)):
            if (folded := _folded(dependencies)) == name or folded in folder.names:
                return (
                    f"{_shown(path, place, policy.root)} is a dependency's source, which is read but never written. "
                    "Change it in that dependency's own repository."
                )
        if not policy.allow_protected and (kind := folder.kind or _kind(place.name)):
            return self._protected(place, path, kind)
        return None

    def _protected(self, place: Path, path: Path, what: str) -> str:
        return (
            f"{_shown(path, place, self._policy.root)} is {what}, which can make programs run: no edit changes it. "
            f"Change it by hand, or start lsp-mcp with {FLAG}."
        )

    def _folder(self, folder: Path) -> _Folder:
        if folder not in self._folders:
            above = self._folder(folder.parent) if folder != folder.parent else _Folder(False)
            names = above.names | {_folded(folder.name)}
            kind = above.kind or _kind(folder.name) or _git_kind(folder)
            self._folders[folder] = _Folder(True, names, kind) if above.inside else _Folder(False)
        return self._folders[folder]

    def _real_folder(self, folder: Path) -> Path:
        if folder not in self._real:
            self._real[folder] = Path(os.path.realpath(folder))
        return self._real[folder]


_GIT_KIND = "version control data"


def _git_kind(folder: Path) -> str | None:
    """What `folder` is, if git takes it for a repository's own folder, or would once the rest of one exists."""
    return _GIT_KIND if not folder.is_symlink() and _has_git_head(folder) else None


def _has_git_head(folder: Path) -> bool:
    head = folder / "HEAD"
    try:
        if head.is_symlink():
            return str(head.readlink()).startswith("refs/")
        if not head.is_file():
            return False
        with head.open("rb") as file:
            return _GIT_HEAD.match(file.read(40)) is not None
    except OSError:
        return False


def _paths(step: Step) -> tuple[tuple[Path, bool], ...]:
    """The paths of a step, each with whether a symlink there is followed."""
    match step:
        case FileChange(path=path) | CreateFile(path=path):
            return ((path, True),)
        case RenameFile(old=old, new=new):
            return ((old, False), (new, False))
        case DeleteFile(path=path):
            return ((path, False),)


def _moved(step: DeleteFile | RenameFile) -> Path:
    return step.old if isinstance(step, RenameFile) else step.path


def _is_of_file(step: Step) -> bool:
    """Whether a step is known to be about a file; only `survey` knows the results of earlier steps."""
    return not isinstance(step, DeleteFile | RenameFile) or _moved(step).is_file()


def _shown(path: Path, place: Path, root: Path) -> str:
    name = display_path(path, root)
    leads = path.is_relative_to(root) and os.path.normpath(path) != str(place)
    return f"{name}, which leads to {display_path(place, root)}," if leads else name


@lru_cache(4096)
def _kind(name: str) -> str | None:
    """The description of `name`, if it is protected."""
    folded = _folded(name)
    return next((kind for kind, pattern in _patterns().items() if pattern.match(folded)), None)


@lru_cache(65536)
def _folded(name: str) -> str:
    """`name` as file systems may compare it: without case, and without what HFS+ (macOS) and Windows ignore."""
    normal = unicodedata.normalize("NFKC", name)
    return "".join(c for c in normal if unicodedata.category(c) != "Cf").casefold().rstrip(". ")


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    # Compiling them takes longer than importing most modules, and the first answer needs none.
    return {kind: re.compile("|".join(map(translate, names))) for kind, names in PROTECTED.items()}
