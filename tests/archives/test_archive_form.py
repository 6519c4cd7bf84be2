"""The form of test archives: what is read is what was meant, and `--update` writes what can be read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from archives.archive import Archive, Marks, Section, content, parse, shown, tool_and_words

PROSE = "Says what it tests.\n\ncrlf: a.go, c.go\nbom: b.go, c.go\nno-final-newline: c.go\n\n"


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("*.txtar")), ids=lambda path: path.stem)
def test_an_archive_is_written_as_it_was_read_and_begins_with_prose(path: Path, request: pytest.FixtureRequest) -> None:
    text = path.read_text("utf-8")
    archive = parse(text)
    assert str(archive) == text
    assert archive.prose.strip()
    assert archive.steps
    if not request.config.getoption("update"):  # else they are being written
        assert all(section.body for section in archive.steps if section.name.startswith("call")), "an answer is missing"


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.go", b"one\r\ntwo\r\n"),
        ("b.go", b"\xef\xbb\xbfone\n"),
        ("c.go", b"\xef\xbb\xbfone\r\ntwo"),
        ("d.go", b"one\r\ntwo\nthree\rfour\n"),
    ],
)
def test_bytes_that_text_cannot_show_are_told_in_the_prose(path: str, data: bytes) -> None:
    archive = Archive(PROSE, [])
    assert content(archive, path, shown(archive, path, data)) == data


def test_a_file_whose_bytes_nothing_tells_cannot_be_shown() -> None:
    with pytest.raises(AssertionError, match="no-final-newline"):
        shown(Archive(PROSE, []), "a.go", b"one")


def test_marks_name_places_in_characters_and_are_taken_out() -> None:
    marks = Marks(Path("/top"), Path("/top/root"), lambda _: "go")
    plain = marks.take("root/a b.go", 'one\r\n😀 foo(bar) //@ loc(foo, "foo") loc(bar, re"\\((bar)")\nend')
    assert plain == "one\r\n😀 foo(bar)\nend"
    words = ["anchor=@bar", "n=3", "yes=true", "text=@ no", "root=$ROOT/x"]
    assert marks.arguments(words[:1]) == {"anchor": "go://a%20b.go#2:7"}
    assert marks.arguments(["a=@foo"]) == {"a": "go://a%20b.go#2:3"}
    assert marks.arguments(words[1:3] + words[4:]) == {"n": 3, "yes": True, "root": "/top/root/x"}


def test_inside_json_a_mark_is_a_position_and_last_a_part_of_the_answer_before() -> None:
    marks = Marks(Path("/top"), Path("/top"), lambda _: "cpp")
    marks.take("a.cpp", 'int 😀foo = 1; //@ loc(foo, "foo") loc(end, ";")')
    foo, end = {"line": 1, "character": 6}, {"line": 1, "character": 13}
    last = '{"item":{"name":"@foo","children":[1,{"data":null}]}}'
    assert marks.arguments(["position=@foo"]) == {"position": foo}
    assert marks.arguments(['range={"start": @foo, "end":@end}']) == {"range": {"start": foo, "end": end}}
    assert marks.arguments(["positions=[@foo, @end]", 'text={"a":"@foo"}']) == {
        "positions": [foo, end],
        "text": {"a": "@foo"},
    }
    assert marks.arguments(["item=$LAST.item.children.1"], last) == {"item": {"data": None}}
    assert marks.arguments(['params={"item":$LAST.item}'], last) == {"params": json.loads(last)}


def test_a_call_is_spelled_as_for_a_shell() -> None:
    step = Section("call some_tool name='two words' empty=''")
    assert tool_and_words(step) == ("some_tool", ["name=two words", "empty="])
