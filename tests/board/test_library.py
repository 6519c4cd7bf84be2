"""Snippets and standards on both databases."""

from __future__ import annotations

import pytest

from board.boards import World
from lsp_mcp.board import library


def test_a_standard_is_made_read_changed_and_deleted(world: World) -> None:
    agent = world.agent("codex")
    made = world.write(library.create_standard, "code-style", "# Style", " How we\nwrite ", by=agent)
    assert (made["id"], made["content"], made["description"]) == ("code-style", "# Style", "How we write")
    assert (made["revision"], made["updated_by"]) == (1, "codex")
    changed = world.write(library.update_standard, "Code-Style ", "new")
    assert (changed["content"], changed["description"], changed["revision"]) == ("new", "How we write", 2)
    assert changed["updated_by"] == "you"
    assert world.read(library.get_standard, "code-style") == changed
    assert world.write(library.update_standard, "code-style", "new", "Short")["description"] == "Short"
    assert world.write(library.delete_standard, "code-style")["content"] == "new"
    assert world.refused(library.get_standard, "code-style") == "unknown standard 'code-style'; available: none"


@pytest.mark.parametrize(
    ("id_", "hint"),
    [
        ("Code Style", "; 'code-style' would do"),
        ("code_style", "; 'code-style' would do"),
        ("code--style", "; 'code-style' would do"),
        ("-x", "; 'x' would do"),
        ("../etc/passwd", "; 'etc-passwd' would do"),
        ("Стиль", ""),
        ("", ""),
        ("x\0", "; 'x' would do"),
        ("x" * 61, f"; '{'x' * 60}' would do"),
    ],
)
def test_an_id_is_in_kebab_case(world: World, id_: str, hint: str) -> None:
    said = world.refused(library.create_standard, id_)
    assert said == f"{id_[:80]!r} cannot be the id of a standard: kebab-case, at most 60 long{hint}."
    assert "cannot be the id of a snippet" in world.refused(library.create_snippet, "t", "c", [], id_)


def test_an_id_that_is_taken_is_refused(world: World) -> None:
    world.write(library.create_standard, "style")
    assert "the standard 'style' exists already; change it with update_standard" in world.refused(
        library.create_standard, "style"
    )
    world.write(library.create_snippet, "Style", "x", [])
    assert "the snippet 'style' exists already" in world.refused(library.create_snippet, "STYLE!", "x", [])


def test_a_stale_revision_is_refused_with_who_changed_it(world: World) -> None:
    world.write(library.create_standard, "style", "a")
    world.write(library.update_standard, "style", "b", by=world.agent("codex"))
    said = world.refused(library.update_standard, "style", "c", expected_revision=1)
    assert said == (
        "standard style has revision 2, not 1; since then: codex: changed content. "
        "Nothing was changed: read it with get_standard, then try again."
    )
    world.write(library.create_snippet, "S", "a", [])
    assert "snippet s has revision 1, not 2" in world.refused(
        library.update_snippet, "s", content="", expected_revision=2
    )


def test_an_update_that_changes_nothing_makes_no_revision(world: World) -> None:
    world.write(library.create_snippet, "S", "a", ["t"])
    before = world.everything()
    world.write(library.update_snippet, "s")
    world.write(library.update_snippet, "s", title="S", content="a", tags=["t"])
    assert world.everything() == before


def test_a_snippet_is_made_found_changed_and_deleted(world: World) -> None:
    world.write(library.create_snippet, "Run the tests", "make test\r\n", ["Shell", "ci"])
    world.write(library.create_snippet, "日本", "x", ["ci"])
    world.write(library.create_snippet, "named", "y", [], "other")
    assert world.read(library.get_snippet, "run-the-tests")["content"] == "make test\n"
    listed, total = world.read(library.list_snippets)
    assert ([one["id"] for one in listed], total) == (["other", "run-the-tests", "snippet"], 3)
    assert all("content" not in one for one in listed)
    found, total = world.read(library.list_snippets, "SHELL ")
    assert ([one["id"] for one in found], total) == (["run-the-tests"], 1)
    found, total = world.read(library.list_snippets, "ci", 1)
    assert (len(found), total) == (1, 2)
    changed = world.write(library.update_snippet, "other", title="New", tags=["z"])
    assert (changed["title"], changed["content"], changed["tags"], changed["revision"]) == ("New", "y", ["z"], 2)
    world.write(library.delete_snippet, "snippet")
    assert world.refused(library.delete_snippet, "snippet") == (
        "unknown snippet 'snippet'; available: other, run-the-tests"
    )


def test_standards_are_listed_without_their_texts(world: World) -> None:
    for number in range(5):
        world.write(library.create_standard, f"s-{number}", "long " * 100, f"number {number}")
    listed, total = world.read(library.list_standards, 2)
    assert ([one["id"] for one in listed], total) == (["s-0", "s-1"], 5)
    assert set(listed[0]) == {"id", "description", "revision", "updated_at", "updated_by"}


def test_texts_have_bounds(world: World) -> None:
    assert "at most 200,000" in world.refused(library.create_standard, "x", "a" * 200_001)
    assert "at most 300" in world.refused(library.create_standard, "x", "a", "d" * 301)
    assert "U+0000" in world.refused(library.create_snippet, "x", "a\0", [])
    assert "the title is empty" in world.refused(library.create_snippet, "", "a", [])
    for bad in ("a\0", "\ud800"):
        assert "U+" in world.refused(library.get_standard, bad)
        assert "U+" in world.refused(library.get_snippet, bad)


def test_there_are_many_and_not_all_are_named(world: World) -> None:
    for number in range(12):
        world.write(library.create_standard, f"s-{number:02}")
    assert world.refused(library.get_standard, "x").endswith("s-08, s-09 and 2 more")
