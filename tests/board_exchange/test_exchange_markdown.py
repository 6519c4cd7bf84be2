"""Markdown files: what is parsed is what was rendered, whatever people write."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board_exchange.exchanges import Place, texts
from lsp_mcp.board import fields
from lsp_mcp.board.exchange import markdown_files, values
from lsp_mcp.board.exchange.data import Contents, Snippet, Stage, Standard, Task
from lsp_mcp.board.exchange.front_matter import parsed, rendered
from lsp_mcp.errors import CallerError

TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NASTY = [
    *("---", "---\n", "\n---\n", "key: value", 'title: "x"', "  - {}", "\r\n", "\r", "\ufeff", "\u2028", "שלום"),
    *("👩‍🚀", " ", "  \n", "\n\n", "\t", '"', "\\", "#", "\u200f", 'export: "lsp-mcp board 1 0000000000000000"'),
]
letters = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters=TURNING)
words = st.lists(st.one_of(st.sampled_from(NASTY), st.text(letters, max_size=12)), max_size=8).map("".join)


def usable(found: st.SearchStrategy[Any], check: Callable[[Any], Any]) -> st.SearchStrategy[Any]:
    """What the board takes, as it keeps it."""

    def taken(value: Any) -> bool:
        try:
            check(value)
        except CallerError:
            return False
        return True

    return found.filter(taken).map(check)


bodies = usable(words, fields.body)
titles = usable(words, fields.title)
tags = st.lists(usable(words, lambda text: fields.tags([text])[0]), max_size=4).map(
    lambda all_: tuple(dict.fromkeys(all_))
)
times = st.datetimes().map(lambda found: values.time(found.isoformat()))
whole = st.integers(0, 2**31 - 1)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
anchors = st.builds(
    lambda file, line, symbol: {"anchor": f"go://{file}#{line}:1", "symbol": symbol, "code": symbol, "state": "known"},
    st.sampled_from(["a.go", "src/b%20c.go", "ü.py"]),
    st.integers(1, 999),
    st.none() | words,
)
entries = st.fixed_dictionaries(
    {
        "revision": whole,
        "at": times,
        "who": words.map(lambda text: text[:80]),
        "message": words,
        "fields": st.dictionaries(words, st.lists(json_values, max_size=2), max_size=2),
    }
)
ids = st.from_regex(r"t-[0-9a-hjkmnp-tv-z]{5}|17[0-9]{11}-[a-z0-9]{2}", fullmatch=True)
tasks = st.builds(
    Task,
    id=ids,
    title=titles,
    description=bodies,
    stage=st.sampled_from(["backlog", "done"]),
    status=st.sampled_from(["pending", "completed"]),
    position=st.floats(-1e6, 1e6),
    tags=tags,
    anchors=st.lists(anchors, max_size=2).map(tuple),
    revision=whole,
    created_at=times,
    updated_at=times,
    history=st.lists(entries, max_size=3).map(tuple),
)
standards = st.builds(
    Standard,
    id=st.sampled_from(["naming", "error-handling"]),
    description=usable(words, values.line),
    content=bodies,
    revision=whole,
    updated_at=times,
    updated_by=words.map(lambda text: text[:80]),
)
snippets = st.builds(
    Snippet,
    id=st.sampled_from(["checklist", "commit-2"]),
    title=titles,
    content=bodies,
    tags=tags,
    revision=whole,
    updated_at=times,
    updated_by=words.map(lambda text: text[:80]),
)


@given(tasks)
def test_a_task_comes_back_as_it_was(task: Task) -> None:
    assert markdown_files.task_of(markdown_files.task_text(task)) == (task, False)


@given(tasks)
def test_a_task_survives_an_editor_that_writes_other_line_ends(task: Task) -> None:
    assert markdown_files.task_of(markdown_files.task_text(task).replace("\n", "\r\n")) == (task, False)


@given(standards)
def test_a_standard_comes_back_as_it_was(standard: Standard) -> None:
    assert markdown_files.standard_of(markdown_files.standard_text(standard)) == (standard, False)


@given(snippets)
def test_a_snippet_comes_back_as_it_was(snippet: Snippet) -> None:
    assert markdown_files.snippet_of(markdown_files.snippet_text(snippet)) == (snippet, False)


@given(tasks)
def test_the_values_have_no_hidden_characters(task: Task) -> None:
    head = markdown_files.task_text(Task(**{**vars(task), "description": ""}))
    assert not {char for char in head if not char.isprintable() and not char.isspace()} & set(
        f"\x7f\x85\u2028\u2029\ufeff\u200f{TURNING}"
    )
    assert head.splitlines() == head.rstrip("\n").split("\n"), "one value, one line, for every way to count them"


@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]*", fullmatch=True), json_values, max_size=4), bodies)
def test_any_values_come_back(head: dict[str, Any], body: str) -> None:
    assert parsed(rendered(head, body)) == (head, body)


@given(st.lists(tasks, max_size=4, unique_by=lambda task: task.id), standards, snippets, st.randoms())
@settings(max_examples=25, deadline=None)
def test_export_import_export_gives_the_same_bytes(
    found: list[Task], standard: Standard, snippet: Snippet, random: Any
) -> None:
    for number, task in enumerate(found):  # on any that come before it
        others = [other.id for other in found[:number] if random.random() < 0.5]
        found[number] = Task(**{**vars(task), "depends_on": tuple(others)})
    with tempfile.TemporaryDirectory() as folder:
        first, second = Place(Path(folder, "first")), Place(Path(folder, "second"))
        try:
            first.take(Contents("export", tasks=found, standards=[standard], snippets=[snippet]))
            assert {task.id for task in found} == set(first.tasks)
            first.give(Path(folder, "out"))
            done = second.take(Path(folder, "out"))
            assert not done.broken and not done.skipped and not done.notes
            second.give(Path(folder, "again"))
            assert texts(Path(folder, "out")) == texts(Path(folder, "again"))
        finally:
            first.store.close()
            second.store.close()


def test_stages_come_back_as_they_were() -> None:
    stages = [
        Stage("backlog", "Backlog", "#8a8f98", 0.5, True),
        Stage("x-2", "Überprüfung 👀", "#abc", 1.25, False, ({"name": "Plan", "prompt": "a\n---\nb"},)),
    ]
    assert markdown_files.stages_of(markdown_files.stages_text(stages)) == (stages, False)


TASK = Task("t-00001", "A task", "Text.", stage="backlog", created_at=fields.now(), updated_at=fields.now())


def test_a_changed_file_is_known_as_edited() -> None:
    text = markdown_files.task_text(TASK)
    for changed in (text.replace("Text.", "Texts."), text.replace('"A task"', '"B task"'), text + "\nMore\n"):
        assert markdown_files.task_of(changed)[1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"t-00001"', '"../x"', "'../x' cannot be the id of a task"),
        ('"t-00001"', '"/etc/passwd"', "cannot be the id of a task"),
        ('"t-00001"', '"a/b"', "cannot be the id of a task"),
        ('"t-00001"', '""', "cannot be the id of a task"),
        ('"t-00001"', '"a\\u0000b"', "cannot be the id of a task"),
        ('"t-00001"', "7", "Expected `str`, got `int` - at `$.id`"),
        ('title: "A task"', "title: A task", "line 4 is not JSON"),
        ('title: "A task"', "<<<<<<< HEAD", "line 4 is not of the form"),
        ('title: "A task"', 'title: "A"\ntitle: "B"', "line 5 repeats title"),
        ('title: "A task"', 'name: "A"', "missing required field `title`"),
        ('status: "pending"', 'status: "gone"', "neither pending nor completed"),
        ('status: "pending"', 'state: "pending"', "state is not known here"),
        ("position: null", "position: NaN", "is not JSON"),
        ("position: null", "position: 1e999", "is not JSON"),
        ("revision: 1", "revision: true", "Expected `int`, got `bool` - at `$.revision`"),
        ("revision: 1", "revision: 99999999999", "Expected `int` <= 2147483647 - at `$.revision`"),
        ("anchors: []", 'anchors:\n  - {"anchor": "nonsense"}', "is not an anchor"),
        ("tags: []", 'tags: ["a,b"]', "cannot be a tag"),
        ("tags: []", 'tags: "a"', "Expected `array`, got `str` - at `$.tags`"),
        ("history: []", 'history:\n  - {"at": "yesterday"}', "'yesterday' is not a time"),
        ("board 1", "board 2", "another version of lsp-mcp"),
        ("---\n", "", "line 1 is not ---"),
        ("\n---\n\nText.\n", "", "that ends the values is missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said(old: str, new: str, message: str) -> None:
    text = markdown_files.task_text(TASK)
    assert old in text
    with pytest.raises(CallerError) as caught:
        markdown_files.task_of(text.replace(old, new))
    assert message in str(caught.value)
