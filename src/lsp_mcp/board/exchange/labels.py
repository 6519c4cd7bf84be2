"""What other programs say in fields of their own, as tags here, and back: priorities, assignees, milestones. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lsp_mcp.board import fields
from lsp_mcp.board.exchange import values

_MOST_TAGS, _LONGEST_TAG = 20, 60
_PRIORITY = re.compile(r"p([0-4])", re.I)
_ASSIGNEE, _MILESTONE, _PARENT = "@", "milestone: ", "parent: "


@dataclass(frozen=True)
class Labels:
    """The labels of an issue, and what has a field of its own there."""

    labels: tuple[str, ...] = ()
    priority: int = fields.USUAL_PRIORITY
    assignees: tuple[str, ...] = ()
    milestone: str = ""
    parent: str = ""


def tags_of(found: Labels) -> tuple[tuple[str, ...], int, str]:
    """The tags and the priority of a task; and what was left out, in words, empty if nothing."""
    marked = [(_ASSIGNEE, one.removeprefix(_ASSIGNEE)) for one in found.assignees]
    marked += [(mark, one) for mark, one in ((_MILESTONE, found.milestone), (_PARENT, found.parent)) if one.strip()]
    words = [*(mark + one for mark, one in marked if one.strip()), *found.labels]
    tags, priority = [], found.priority
    for word in words:
        if level := _PRIORITY.fullmatch(word.strip()):
            priority = int(level[1])
            continue
        tag = " ".join(values.cleaned(word).replace(",", " ").split())[:_LONGEST_TAG].strip()
        if tag and tag not in tags:
            tags.append(tag)
    left = f"of {len(tags)} labels the first {_MOST_TAGS} are kept" if len(tags) > _MOST_TAGS else ""
    return tuple(tags[:_MOST_TAGS]), priority, left


def labels_of(tags: Iterable[str], priority: int, *, usual: int = fields.USUAL_PRIORITY) -> Labels:
    """The labels that a task has elsewhere; a priority that is not the `usual` one is a label, too."""
    rest, assignees, milestone, parent = [], [], "", ""
    for tag in tags:
        if tag.startswith(_ASSIGNEE):
            assignees.append(tag.removeprefix(_ASSIGNEE))
        elif tag.startswith(_MILESTONE) and not milestone:
            milestone = tag.removeprefix(_MILESTONE)
        elif tag.startswith(_PARENT) and not parent:
            parent = tag.removeprefix(_PARENT)
        else:
            rest.append(tag)
    level = [] if priority == usual else [f"P{priority}"]
    return Labels((*level, *rest), priority, tuple(assignees), milestone, parent)


def shortened(title: str, text: str) -> tuple[str, str]:
    """A title of another program that is not too long, and the text, which has all of a longer one."""
    title = " ".join(values.cleaned(title).split())
    if len(title) <= fields.MOST_TITLE:
        return fields.title(title), text
    return fields.title(title[: fields.MOST_TITLE - 1].rstrip() + "…"), f"{title}\n\n{text}"
