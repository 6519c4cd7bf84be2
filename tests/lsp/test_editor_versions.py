"""The versions of an editor's documents are put into one order, whatever the editor calls them."""

from __future__ import annotations

import itertools
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.lsp.life.editor_versions import EditorVersions
from lsp_mcp.text import Text

PATH = Path("/a.cpp")
# Typing makes a text of a higher version, opening again one of any version, a lower one too.
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("typed"), st.sampled_from("xyz")),
        st.tuples(st.just("opened"), st.integers(0, 6)),
        st.tuples(st.just("reread"), st.none()),
    ),
    max_size=30,
)


@given(STEPS)
def test_a_later_text_has_a_higher_serial_and_the_same_text_the_same(steps: list[tuple[str, str | int]]) -> None:
    versions = EditorVersions(itertools.count(1).__next__)
    version, text = 0, "x"
    last = versions.note(PATH, version, Text(text))
    noted: dict[int, int] = {version: last}  # serial by version, as the server knows it, of the present opening
    for step, value in steps:
        match step:
            case "typed":
                version += 1
                same, text = value == text, str(value)
                serial = versions.note(PATH, version, Text(text))
                assert serial == last if same else serial > last
                assert versions.is_uncertain(PATH) or not same
                noted[version] = last = serial
            case "opened":
                version = int(value)
                versions.opened(PATH)
                assert versions.is_uncertain(PATH)
                serial = versions.note(PATH, version, Text(text))
                assert serial > last
                noted, last = {version: serial}, serial
            case _:
                wire_version, serial = versions.reread(PATH, version)
                assert serial > last
                assert versions.wire_version(PATH, version) == wire_version
                assert not versions.is_uncertain(PATH)
                assert versions.note(PATH, version, Text(text)) == serial  # nothing was typed since then
                noted[wire_version] = last = serial
    # What is said of a version that the opening before had too may be about that one.
    for known, serial in noted.items():
        assert versions.serial(PATH, known) in (serial, -1)
    wire_version, serial = versions.reread(PATH, version)
    assert versions.serial(PATH, wire_version) == serial
    assert {known: versions.serial(PATH, known) for known in noted} == noted  # what was said before has come


def test_what_is_said_of_an_opening_before_counts_for_nothing() -> None:
    versions = EditorVersions(itertools.count(1).__next__)
    versions.note(PATH, 5, Text("x"))
    ours, _ = versions.reread(PATH, 5)
    versions.opened(PATH)
    serial = versions.note(PATH, 3, Text("y"))
    assert [versions.serial(PATH, version) for version in (5, 2, ours)] == [-1, -1, -1]
    assert versions.serial(PATH, 3) == serial


def test_a_version_that_two_openings_have_counts_once_one_of_ours_was_answered() -> None:
    versions = EditorVersions(itertools.count(1).__next__)
    versions.note(PATH, 5, Text("x"))
    versions.opened(PATH)
    serial = versions.note(PATH, 5, Text("y"))
    assert versions.serial(PATH, 4) == -1
    ours, later = versions.reread(PATH, 5)
    assert versions.serial(PATH, ours) == later > serial
    assert versions.serial(PATH, 5) == serial


def test_what_another_program_had_read_again_counts_for_nothing() -> None:
    versions = EditorVersions(itertools.count(1).__next__)
    versions.note(PATH, 5, Text("x"))
    ours, _ = versions.reread(PATH, 5)
    assert versions.serial(PATH, ours + 1) == -1


def test_what_the_editor_tells_is_taken_note_of_though_the_server_speaks_of_it_first() -> None:
    versions = EditorVersions(itertools.count(1).__next__)
    first = versions.note(PATH, 5, Text("x"))
    said = versions.serial(PATH, 6)
    assert said > first
    assert versions.note(PATH, 6, Text("y")) == said


def test_what_was_typed_before_a_version_of_ours_is_read_with_it() -> None:
    versions = EditorVersions(itertools.count(1).__next__)
    versions.note(PATH, 5, Text("x"))
    ours, _ = versions.reread(PATH, 5)
    typed = versions.note(PATH, 6, Text("y"))  # waited for; the server goes straight to ours, which came after it
    versions.reread_after(PATH, ours, 6)
    assert versions.serial(PATH, ours) == typed
    assert versions.wire_version(PATH, 6) == ours


def test_what_was_typed_before_a_version_of_ours_is_read_with_it_though_we_hear_of_it_later() -> None:
    versions = EditorVersions(itertools.count(1).__next__)
    versions.note(PATH, 5, Text("x"))
    ours, serial = versions.reread(PATH, 5)
    versions.reread_after(PATH, ours, 6)
    assert versions.serial(PATH, ours) == serial
    assert versions.note(PATH, 6, Text("y")) == serial
