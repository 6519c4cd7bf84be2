"""What an answer may lack, as data: `Gap`, and the sentence that a list of them makes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from lsp_mcp.prose import first_few

GapKind = Literal[
    # A use may be missing because …
    "indexing",  # the server has not read the whole workspace yet
    "capped",  # only the first results are given
    "dropped",  # a result is in a file that cannot be shown
    "not_searched",  # the server does not read these files
    "not_compiled",  # the preprocessor or the build leaves out code
    "not_read",  # the server did not read these files in time
    "not_loaded",  # a project, or the compilation database, cannot be used
    "syntax_error",  # the code after an error is not parsed
    "conflict",  # a buffer and its file have both changed
    "changing",  # files kept changing
    "server_error",  # the server itself reports a problem
    "doubt",  # an edit of this place may be wrong
    "unverified",  # it was not checked
    # News: nothing is missing, but the reader should know that …
    "restarted",  # the server was restarted
    "unsaved",  # the answer is for the text of buffers, not of files
    "added",  # the server itself had left these places out
    "resolved",  # an anchor moved, or a name was taken for this anchor
    "overrides",  # a method is one of several that calls may lead to
    "elsewhere",  # where else a name occurs that was not found, or is renamed
    "applied",  # something about an edit that was made
    "setup",  # something about how files are watched or compiled
]


class Gap(Struct, frozen=True):
    """One reason why an answer may be incomplete or wrong, or one fact that its reader should know.

    `text` is the full wording; `brief`, if set, is a short form for a reader who has seen the text before. Two gaps of
    one kind with the same files are the same, whatever the question was, unless `about` tells them apart. `files` are
    the absolute paths of the files concerned; `lines`, from 1, are the lines concerned of the only file. `place`: the
    part of `text` that says where; gaps that differ only in it are one sentence for their reader. `hides`:
    whether a result could be missing or wrong because of it; a rename is then refused unless its caller accepts that.
    Without `hides` it is news. `event` is the number of the event that the news is about, which is reported only once;
    0 for a lasting state.
    """

    kind: GapKind
    text: str
    files: tuple[Path, ...] = ()
    hides: bool = True
    brief: str = ""
    about: str = ""
    event: int = 0
    lines: tuple[int, ...] = ()
    place: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """What a reader remembers of it: the same problem with the same files, whatever the question was."""
        return self.kind, self.event, self.about, self.files or self.text


def news(kind: GapKind, text: str, *, files: Sequence[Path] = (), brief: str = "", event: int = 0) -> Gap:
    """A gap that hides nothing."""
    return Gap(kind, text, tuple(files), hides=False, brief=brief, event=event)


def hiding(gaps: Sequence[Gap]) -> list[Gap]:
    """The `gaps` because of which a result could be missing or wrong."""
    return [gap for gap in gaps if gap.hides]


def texts(gaps: Iterable[Gap]) -> list[str]:
    """The wording of each of the `gaps` once; those that differ only in their place are one."""
    places: dict[tuple[str, str], dict[str, None]] = {}
    for gap in gaps:
        before, place, after = gap.text.partition(gap.place) if gap.place else (gap.text, "", "")
        places.setdefault((before, after), {})[place] = None
    return [f"{before}{first_few(list(found))}{after}" for (before, after), found in places.items()]


def status(gaps: Sequence[Gap], known: Collection[Gap] = ()) -> str:
    """`complete`, or what hides results; then the news. Gaps `known` to the reader are given in brief form."""
    full = [gap for gap in gaps if not (gap.brief and gap in known)]
    before = [gap.brief for gap in gaps if gap.brief and gap in known]
    again = [f"as before: {', '.join(before)}"] if before else []
    parts = texts(gap for gap in full if gap.hides)
    remarks = texts(gap for gap in full if not gap.hides)
    return "; ".join([*(parts if hiding(gaps) else ["complete"]), *again, *remarks])
