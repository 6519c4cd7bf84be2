"""`uris`: a path and its URI are one thing in two spellings."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.errors import PathError
from lsp_mcp.uris import path_uri, uri_path

names = st.binary(min_size=1, max_size=12).filter(lambda name: b"\0" not in name and b"/" not in name)
paths = st.lists(names, max_size=4).map(lambda parts: Path("/" + os.fsdecode(b"/".join(parts))))


@given(paths)
def test_a_path_comes_back_from_its_uri(path: Path) -> None:
    assert uri_path(path_uri(path)) == path


@given(paths)
def test_a_uri_needs_no_more_than_ascii_and_no_reserved_character(path: Path) -> None:
    uri = path_uri(path)
    assert uri.isascii()
    assert not set(uri.removeprefix("file://")) & set(' ?#[]\\"<>|{}^`\n')


@given(paths, st.data())
def test_it_does_not_matter_what_else_a_server_escapes(path: Path, data: st.DataObject) -> None:
    escaped = "".join(
        f"%{ord(c):02{data.draw(st.sampled_from('xX'))}}" if len(c) == 1 and data.draw(st.booleans()) else c
        for c in re.findall("%..|.", path_uri(path).removeprefix("file:///"))
    )
    assert uri_path(f"file:///{escaped}") == path


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/a/b.go", "file:///a/b.go"),
        ("/a b/c#d/100%/what?.go", "file:///a%20b/c%23d/100%25/what%3F.go"),
        ("/été/漢字/😀.go", "file:///%C3%A9t%C3%A9/%E6%BC%A2%E5%AD%97/%F0%9F%98%80.go"),
        ("/a/%20", "file:///a/%2520"),
        ("/", "file:///"),
    ],
)
def test_a_uri_is_spelled_as_editors_spell_it(path: str, uri: str) -> None:
    assert path_uri(Path(path)) == uri
    assert uri_path(uri) == Path(path)


@pytest.mark.parametrize("uri", ["FILE:///a/b", "file:/a/b", "file://localhost/a/b", "file:///a%2fb", "file:///a/b"])
def test_every_form_of_a_local_file_uri_is_understood(uri: str) -> None:
    assert uri_path(uri) == Path("/a/b")


def test_characters_that_a_server_forgot_to_escape_are_taken_as_they_are() -> None:
    assert uri_path("file:///a b/é+&=@:[1].go") == Path("/a b/é+&=@:[1].go")


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "jdt://contents/x.class",
        "/a/b",
        "file:",
        "file://",
        "file:a",
        "",
        "file:///a#L1",
        "file:///a?x=1",
        "file://server/a",
        "file:///a%00b",
    ],
)
def test_what_names_no_local_file_is_refused_with_its_own_words(uri: str) -> None:
    with pytest.raises(PathError) as caught:
        uri_path(uri)
    assert repr(uri) in str(caught.value)


def test_a_relative_path_has_no_uri() -> None:
    with pytest.raises(PathError, match="relative"):
        path_uri(Path("a/b"))
