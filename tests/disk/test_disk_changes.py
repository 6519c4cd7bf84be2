"""The ledger: what happens to files, folded to a net effect."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.disk.changes import Changes, Ledger

NAMES = st.sampled_from("abc")


def take(ledger: Ledger) -> tuple[set[str], set[str], set[str]]:
    changes = ledger.take(None)
    return {*map(str, changes.created)}, {*map(str, changes.changed)}, {*map(str, changes.deleted)}


def test_created_then_deleted_is_nothing() -> None:
    ledger = Ledger()
    ledger.appeared("a")
    ledger.changed("a")
    ledger.vanished("a")
    assert not ledger.take(None)


def test_deleted_then_created_is_changed() -> None:
    ledger = Ledger()
    ledger.vanished("a")
    ledger.appeared("a")
    assert take(ledger) == (set(), {"a"}, set())


def test_what_was_taken_is_not_told_again() -> None:
    ledger = Ledger()
    ledger.appeared("a")
    ledger.note("once")
    assert ledger.take("always").note == "always; once"
    assert ledger.take("always") == Changes(note="always")
    assert ledger.take(None) == Changes()


def test_paths_come_as_paths() -> None:
    ledger = Ledger()
    ledger.appeared("/w/a.go")
    assert ledger.take(None).created == {Path("/w/a.go")}


@given(st.sets(NAMES), st.lists(st.tuples(st.sampled_from(["touch", "remove", "ask"]), NAMES)))
def test_any_sequence_folds_to_the_difference_between_two_questions(
    there: set[str], steps: list[tuple[str, str]]
) -> None:
    ledger, now, before, touched = Ledger(), set(there), set(there), set[str]()
    for step, name in [*steps, ("ask", "")]:
        if step == "touch":
            (ledger.changed if name in now else ledger.appeared)(name)
            now.add(name)
            touched.add(name)
        elif step == "remove" and name in now:
            ledger.vanished(name)
            now.remove(name)
        elif step == "ask":
            assert take(ledger) == (now - before, now & before & touched, before - now)
            before = set(now)
            touched.clear()


@given(st.sets(NAMES), st.sets(NAMES), st.sets(NAMES))
def test_after_lost_events_all_that_stayed_counts_as_changed(asked: set[str], known: set[str], now: set[str]) -> None:
    ledger = Ledger()
    for name in asked - known:
        ledger.vanished(name)
    for name in known - asked:
        ledger.appeared(name)
    ledger.replaced(known, now)
    assert take(ledger) == (now - asked, now & asked, asked - now)


@given(st.sets(NAMES), st.lists(st.tuples(st.sampled_from(["touch", "remove", "ask"]), NAMES)))
def test_changes_one_after_the_other_are_as_if_they_were_asked_for_at_once(
    there: set[str], steps: list[tuple[str, str]]
) -> None:
    whole, part, now = Ledger(), Ledger(), set(there)
    together = Changes()
    for step, name in [*steps, ("ask", "")]:
        if step == "touch":
            for ledger in (whole, part):
                (ledger.changed if name in now else ledger.appeared)(name)
            now.add(name)
        elif step == "remove" and name in now:
            for ledger in (whole, part):
                ledger.vanished(name)
            now.remove(name)
        elif step == "ask":
            together = together.then(part.take(None))
    assert together == whole.take(None)
