"""What an answer may lack, as data: `Gap`, and the sentence that a list of them makes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

GapKind = Literal[
    # A use may be missing because …
    "indexing",  # the server has not read the whole workspace yet
    "capped",  # only the first results are given
    "dropped",  # a result lies in a file that cannot be shown
    "not_searched",  # the server does not look into these files
    "not_compiled",  # the preprocessor or the build leaves out code
    "not_read",  # the server did not read these files in time
    "not_loaded",  # a project, or the compilation database, cannot be used
    "syntax_error",  # what stands behind an error is not parsed
    "conflict",  # a buffer and its file differ in changes of both
    "changing",  # files did not stop changing
    "server_error",  # the server itself says that something is wrong
    "doubt",  # an edit of this place may be wrong
    "unverified",  # nobody has checked it
    # News: nothing is missing, but the reader should know that …
    "restarted",  # the server was started again
    "unsaved",  # the answer is for the text of buffers, not of files
    "added",  # these places the server itself has left out
    "resolved",  # an anchor moved, or a name was taken for this anchor
    "overrides",  # a method is one of several that calls may lead to
    "elsewhere",  # where what was not found stands besides
    "applied",  # something about an edit that was made
    "setup",  # something about how files are watched or compiled
]


@dataclass(frozen=True)
class Gap:
    """One reason why an answer is not the whole truth, or one thing that its reader should know.

    `text` says it in full; `brief`, if there is one, in a few words for a reader who was given the text before.
    Two gaps of a kind with the same files are the same whatever was asked, unless `about` tells them apart.
    `files` are the files that it is about, absolute; `lines`, from 1, what it is about in its only file. `hides`:
    whether a result could be missing or wrong because of it; a rename is then refused unless its caller accepts that.
    Without `hides` it is news. `event` is the number of the event that news are about, which is told once and not
    repeated; 0 for a state that lasts.
    """

    kind: GapKind
    text: str
    files: tuple[Path, ...] = ()
    hides: bool = True
    brief: str = ""
    about: str = ""
    event: int = 0
    lines: tuple[int, ...] = ()

    @property
    def identity(self) -> tuple[object, ...]:
        """What a reader remembers of it: the same trouble with the same files, whatever was asked."""
        return self.kind, self.event, self.about, self.files or self.text


def news(kind: GapKind, text: str, *, files: Sequence[Path] = (), brief: str = "", event: int = 0) -> Gap:
    """A gap that hides nothing."""
    return Gap(kind, text, tuple(files), hides=False, brief=brief, event=event)


def hiding(gaps: Sequence[Gap]) -> list[Gap]:
    """Those of `gaps` because of which a result could be missing or wrong."""
    return [gap for gap in gaps if gap.hides]


def status(gaps: Sequence[Gap], known: Collection[Gap] = ()) -> str:
    """`complete`, or what hides results; then the news. Of gaps that are `known` to the reader only the brief form."""
    full = [gap for gap in gaps if not (gap.brief and gap in known)]
    before = [gap.brief for gap in gaps if gap.brief and gap in known]
    again = [f"as before: {', '.join(before)}"] if before else []
    parts = [gap.text for gap in full if gap.hides]
    told = [gap.text for gap in full if not gap.hides]
    return "; ".join([*(parts if hiding(gaps) else ["complete"]), *again, *told])
