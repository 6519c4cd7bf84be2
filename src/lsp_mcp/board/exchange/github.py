"""Issues of GitHub, as `gh issue list --state all --json …` prints them, and back. Pure.

An issue has the id `REPOSITORY-NUMBER`. Its address is the last line of the description: it tells issues of two
repositories apart, and is how an export finds it again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from lsp_mcp.board import fields
from lsp_mcp.board.exchange import values
from lsp_mcp.board.exchange.data import Contents, Problem, Task
from lsp_mcp.board.exchange.front_matter import decoded
from lsp_mcp.board.exchange.labels import Labels, labels_of, shortened, tags_of
from lsp_mcp.board.exchange.talk import Comment
from lsp_mcp.board.ids import slug_of
from lsp_mcp.errors import CallerError

GITHUB = "GitHub"
FIELDS = "number,title,body,state,labels,assignees,milestone,createdAt,updatedAt,closedAt,url,comments"
UNKNOWN = ("depends_on", "anchors", "branch", "archived_at", "required_proof", "proof", "stage")
_ADDRESS = re.compile(r"https://[^\s/]+/(?P<owner>[^\s/]+)/(?P<name>[^\s/]+)/issues/(?P<number>\d+)")
_ORIGIN = re.compile(rf"(?:\A|\n\n)Issue: (?P<url>{_ADDRESS.pattern})\Z")
_LONGEST_REPOSITORY = 28
_OURS = re.compile(r"t-[0-9a-z]{5}")


@dataclass(frozen=True)
class _Named:
    name: str = ""
    login: str = ""
    title: str = ""
    dueOn: str | None = None  # noqa: N815 (GitHub's names)


@dataclass(frozen=True)
class _Comment:
    body: str
    createdAt: str  # noqa: N815
    author: _Named | None = None


@dataclass(frozen=True)
class _Issue:
    number: int
    title: str
    body: str | None = ""
    state: str = "OPEN"
    labels: list[_Named] = field(default_factory=list)
    assignees: list[_Named] = field(default_factory=list)
    milestone: _Named | None = None
    createdAt: str = ""  # noqa: N815
    updatedAt: str = ""  # noqa: N815
    closedAt: str | None = None  # noqa: N815
    url: str = ""
    comments: list[_Comment] = field(default_factory=list)
    id: str = ""


def contents_of(text: str, file: str) -> Contents:
    """Everything readable in a list of issues.

    Raises:
        CallerError: it is not one; the message has the command that prints one.
    """
    how = f"print a list of issues with: gh issue list --state all --json {FIELDS}"
    try:
        found = decoded(text, "it")
    except CallerError as error:
        raise CallerError(f"{error}; {how}") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) and "number" in one for one in found):
        raise CallerError(f"it is not a list of issues; {how}")
    contents = Contents("github", unknown=UNKNOWN)
    for at, one in enumerate(found):
        name = f"{file}: issue {str(one['number'])[:20]}"
        try:
            issue = msgspec.convert(one, _Issue)
            task, left = _task(issue)
            said = _comments(issue, task.id)
        except (msgspec.ValidationError, OverflowError) as error:
            contents.broken.append(Problem(f"{file}, entry {at + 1}", str(error)[:200]))
            continue
        except CallerError as error:
            contents.broken.append(Problem(name, str(error)))
            continue
        if ("task", task.id) in contents.files:
            contents.broken.append(Problem(name, f"is in it twice, as {task.id}"))
            continue
        contents.files["task", task.id] = name
        contents.tasks.append(task)
        contents.talk.comments += said
        contents.notes += [f"{name}: {left}."] if left else []
    contents.tasks.sort(key=lambda task: task.created_at)
    return contents


def text_of(contents: Contents) -> str:
    """The tasks of a board as a list of issues."""
    numbers = {task.id: int(found["number"]) for task in contents.tasks if (found := origin(task.description))}
    free = max(numbers.values(), default=0)
    said: dict[str, list[dict[str, Any]]] = {}
    for one in contents.talk.comments:
        entry = {"author": {"login": one.who}, "body": one.text, "createdAt": _seconds(one.at)}
        said.setdefault(one.task, []).append(entry)
    issues = []
    for task in contents.tasks:
        if task.id not in numbers:
            free += 1
        issues.append(_issue(task, numbers.get(task.id, free), said.get(task.id, [])))
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"


def origin(description: str) -> re.Match[str] | None:
    """The issue that a task was made from: `url`, `owner`, `name`, `number`."""
    return _ORIGIN.search(description)


# --- inside ----------------------------------------------------------------------------------------


def _task(issue: _Issue) -> tuple[Task, str]:
    """A task, and what was left out."""
    if issue.number < 1:
        raise CallerError(f"{issue.number} is not the number of an issue")
    found = Labels(
        labels=tuple(one.name for one in issue.labels),
        assignees=tuple(one.login for one in issue.assignees),
        milestone=issue.milestone.title if issue.milestone else "",
    )
    tags, priority, left = tags_of(found)
    title, text = shortened(issue.title, values.cleaned(issue.body or "").strip())
    address = _ADDRESS.fullmatch(issue.url)
    repository = slug_of(address["name"])[:_LONGEST_REPOSITORY].strip("-") if address else ""
    if address:
        text = f"{text}\n\nIssue: {issue.url}".strip()
    state = issue.state.upper()
    if state not in ("OPEN", "CLOSED"):
        raise CallerError(f"its state is {issue.state[:40]!r}, neither OPEN nor CLOSED")
    ours = _OURS.fullmatch(issue.id)
    made = values.optional_time(issue.createdAt)
    return (
        Task(
            id=values.task_id(issue.id if ours else f"{repository or 'issue'}-{issue.number}"),
            title=title,
            description=fields.body(text),
            status="completed" if state == "CLOSED" else "pending",
            tags=tags,
            priority=priority,
            due=(values.optional_time((issue.milestone and issue.milestone.dueOn) or ""))[:10],
            created_at=made,
            updated_at=values.optional_time(issue.updatedAt) or made,
            completed_at=values.optional_time(issue.closedAt or "") if state == "CLOSED" else "",
        ),
        left,
    )


def _comments(issue: _Issue, task: str) -> list[Comment]:
    return [
        Comment(
            task=task,
            at=values.time(one.createdAt),
            who=values.who((one.author and one.author.login) or "") or GITHUB,
            text=fields.printable(one.body, fields.MOST_MESSAGE - 1)
            + ("…" if len(one.body) >= fields.MOST_MESSAGE else ""),
        )
        for one in issue.comments
        if one.body.strip()
    ]


def _issue(task: Task, number: int, comments: list[dict[str, Any]]) -> dict[str, Any]:
    found, made = labels_of(task.tags, task.priority), origin(task.description)
    is_done = task.status == "completed"
    due = f"{task.due}T00:00:00Z" if task.due else None
    return {
        "id": "" if made else task.id,
        "number": number,
        "title": task.title,
        "body": task.description[: made.start()] if made else task.description,
        "state": "CLOSED" if is_done else "OPEN",
        "labels": [{"name": one} for one in found.labels],
        "assignees": [{"login": one} for one in found.assignees],
        "milestone": {"title": found.milestone, "dueOn": due} if found.milestone or due else None,
        "createdAt": _seconds(task.created_at),
        "updatedAt": _seconds(task.updated_at),
        "closedAt": _seconds(task.completed_at or task.updated_at) if is_done else None,
        "url": made["url"] if made else "",
        "comments": comments,
    }


def _seconds(time: str) -> str:
    """A time in the form of GitHub's, with the fraction that makes it the same one when it is read again."""
    return time.replace("+00:00", "Z").replace(".000000", "")
