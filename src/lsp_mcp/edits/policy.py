"""`EditPolicy`: what an edit may touch, whoever asks for it. Only what it lets pass, a `CheckedPlan`, can be applied.

A plan is judged by the names in it, before anything is done, and `survey` judges the places that they lead to on the
disk once more when it is carried out. Hard links are not looked for: of a file with several names only the one in the
plan changes on disk, and no edit can make a second one.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import lru_cache
from pathlib import Path

from lsp_mcp.edits.plan import CreateFile, DeleteFile, EditPlan, FileChange, RenameFile, Step
from lsp_mcp.edits.protected import DEPENDENCY_FOLDERS, PROTECTED
from lsp_mcp.errors import EditError
from lsp_mcp.workspace import display_path

FLAG = "--allow-protected-edits"
_GIT_HEAD = re.compile(rb"ref:\s*refs/|[0-9a-f]{40}")  # what a HEAD begins with in a folder that git takes for its own


@dataclass(frozen=True)
class EditPolicy:
    """Edits stay below `root`, and touch neither dependencies' sources nor what makes programs run.

    `root` is absolute; symlinks in it are resolved. `dependency_names` gives the names of folders of dependencies'
    sources that count for a path, more than those that count everywhere. `allow_protected` is a person's wish.
    """

    root: Path
    dependency_names: Callable[[Path], Collection[str]] = lambda _: ()
    allow_protected: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(os.path.realpath(self.root)))

    def check(self, plan: EditPlan, *, confirmed: bool = False) -> CheckedPlan:
        """`plan`, which may be carried out.

        Raises:
            EditError: it may not, or the server wants a confirmation that the caller has not given (`confirmed`).
        """
        return CheckedPlan(plan, self, confirmed)

    def refusal(self, plan: EditPlan) -> str | None:
        """Why `plan` may not be carried out, in sentences that say what to do; None if it may."""
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
    """A plan that `policy` lets pass: to make one is to check it.

    Raises:
        EditError: as `EditPolicy.check`.
    """

    plan: EditPlan
    policy: EditPolicy
    confirmed: bool = False

    def __post_init__(self) -> None:
        if why := self.policy.refusal(self.plan):
            raise EditError(f"{why} Nothing was changed.")
        if self.plan.confirmations and not self.confirmed:
            raise EditError(
                f"The server wants this confirmed first: {'; '.join(self.plan.confirmations)}. Nothing was changed. "
                "If the user agrees, call again with confirmed=true."
            )

    def only(self, steps: Collection[Step]) -> CheckedPlan:
        """The same with no other steps than these."""
        return replace(self, plan=replace(self.plan, steps=tuple(steps)))


class Places:
    """What a policy says of places on the disk during one look at it: each folder is looked at once."""

    def __init__(self, policy: EditPolicy) -> None:
        self._policy = policy
        self._of_git: dict[Path, bool] = {}

    def refusal_of_name(self, path: Path, *, is_file: bool, follows: bool) -> str | None:
        """Why nothing may be done to `path` as it is spelled, nor where that leads; None if it may.

        `follows` if a symlink at `path` itself is followed, and not replaced.
        """
        root = self._policy.root
        if path.is_relative_to(root) and (why := self._refusal_of_names(path, path)):
            return why
        place = Path(os.path.realpath(path.parent), path.name)
        places = [place, Path(os.path.realpath(path))] if follows else [place]
        return next((why for place in places if (why := self.refusal(place, path, is_file=is_file))), None)

    def refusal(self, place: Path, path: Path, *, is_file: bool = True) -> str | None:
        """Why nothing may be done to `place`, to which `path` leads through no more symlinks; None if it may."""
        root = self._policy.root
        if place == root or place.name in ("", "..") or not place.is_relative_to(root):
            return (
                f"{_shown(path, place, root)} is outside the workspace root {root}, and nothing is written there. "
                "If that is code of yours, start lsp-mcp with a --workspace-root that holds it."
            )
        if why := self._refusal_of_names(place, path):
            return why
        # A HEAD is all that a folder may lack to be a repository, in which git runs what its config says.
        becomes_one = is_file and _folded(place.name) == "head"
        if not self._policy.allow_protected and (becomes_one or any(map(self._is_of_git, (place, *place.parents)))):
            return self._protected(place, path, _GIT_KIND)
        return None

    def refusal_of_content(self, path: Path) -> str | None:
        """Why the folder `path` may not go, because of what is in it; None if it may, or is not a folder."""
        if self._policy.allow_protected or path.is_symlink() or not path.is_dir():
            return None
        for folder, folders, files in os.walk(path):
            for name in (*folders, *files):
                inner = Path(folder, name)
                if what := _kind(name) or (self._is_of_git(inner.parent) and _GIT_KIND):
                    return self._protected(inner, inner, what)
        return None

    def _refusal_of_names(self, place: Path, path: Path) -> str | None:
        policy = self._policy
        parts = place.relative_to(policy.root).parts
        names = {_folded(name) for name in (*DEPENDENCY_FOLDERS, *policy.dependency_names(place))}
        if any(_folded(part) in names for part in parts):
            return (
                f"{_shown(path, place, policy.root)} is a dependency's source, which is read but never written. "
                "Change it where that dependency is developed."
            )
        kinds = () if policy.allow_protected else map(_kind, parts)
        return next((self._protected(place, path, kind) for kind in kinds if kind), None)

    def _protected(self, place: Path, path: Path, what: str) -> str:
        return (
            f"{_shown(path, place, self._policy.root)} is {what}, which can make programs run: no edit changes it. "
            f"Change it by hand, or start lsp-mcp with {FLAG}."
        )

    def _is_of_git(self, folder: Path) -> bool:
        """Whether git takes `folder` for a repository's own folder, or will once the rest of one is there."""
        if folder not in self._of_git:
            inside = folder.is_relative_to(self._policy.root) and not folder.is_symlink()
            self._of_git[folder] = inside and _has_git_head(folder)
        return self._of_git[folder]


_GIT_KIND = "version control data"


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
    """Whether a step is known to be about a file; what an earlier one puts there, only `survey` knows."""
    return not isinstance(step, DeleteFile | RenameFile) or _moved(step).is_file()


def _shown(path: Path, place: Path, root: Path) -> str:
    name = display_path(path, root)
    leads = path.is_relative_to(root) and os.path.normpath(path) != str(place)
    return f"{name}, which leads to {display_path(place, root)}," if leads else name


@lru_cache(4096)
def _kind(name: str) -> str | None:
    """What is called `name`, if that is protected."""
    folded = _folded(name)
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.match(folded)), None)


def _folded(name: str) -> str:
    """`name` as a disk may compare it: without case, and without what HFS+ (macOS) and Windows leave out."""
    normal = unicodedata.normalize("NFKC", name)
    return "".join(c for c in normal if unicodedata.category(c) != "Cf").casefold().rstrip(". ")


_PATTERNS = {kind: re.compile("|".join(map(translate, names))) for kind, names in PROTECTED.items()}
