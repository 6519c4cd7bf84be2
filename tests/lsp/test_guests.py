"""Files of other builds: a server has those of one build open, for as long as a proof asks about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lsp_mcp.adapters import Adapter, Language
from lsp_mcp.disk.files import Files
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.life.guests import Guests, file_of
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.uris import uri_path

NAMES = ("a_arm.txt", "b_arm.txt", "a_mips.txt", "a.txt")


class Opened:
    """Documents of files whose names tell their builds, and the names of the open ones in order."""

    def __init__(self, root: Path) -> None:
        for name in NAMES:
            (root / name).write_text("text\n")
        language = Language(id="plaintext", name="Text", scheme="txt", extensions=(".txt",))
        adapter = Adapter(name="fake", title="", command=(), languages=(language,))
        self.root, self.open = root, list[str]()
        self.documents = Documents(Plugin(adapter), Files(), self._notify)
        self.guests = Guests(self.documents, lambda path: frozenset(path.stem.split("_")[1:]))

    def visit(self, name: str) -> list[str]:
        self.guests.visit(self.root / name)
        return self.open

    def _notify(self, method: str, params: Any) -> None:
        name = uri_path(params["textDocument"]["uri"]).name
        if method.endswith("didOpen"):
            self.open.append(name)
        elif method.endswith("didClose"):
            self.open.remove(name)


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return Opened(tmp_path)


def test_visiting_a_file_of_another_build_closes_those_of_the_one_before(opened: Opened) -> None:
    assert opened.visit("a_arm.txt") == ["a_arm.txt"]
    assert opened.visit("b_arm.txt") == ["a_arm.txt", "b_arm.txt"]
    assert opened.visit("a_mips.txt") == ["a_mips.txt"]
    opened.guests.leave()
    assert not opened.open


def test_what_was_open_before_stays_open(opened: Opened) -> None:
    opened.documents.open(opened.root / "a_arm.txt")
    opened.visit("a_arm.txt")
    assert opened.visit("a_mips.txt") == ["a_arm.txt", "a_mips.txt"]
    opened.guests.leave()
    assert opened.open == ["a_arm.txt"]


def test_a_file_that_the_server_is_asked_about_stays_open_until_it_has_answered(opened: Opened) -> None:
    opened.visit("a_arm.txt")
    with opened.guests.asking(opened.root / "a_arm.txt"):
        assert opened.visit("a_mips.txt") == ["a_arm.txt", "a_mips.txt"]
    assert opened.visit("a_mips.txt") == ["a_mips.txt"]


def test_a_question_about_a_file_that_was_closed_so_opens_it_again(opened: Opened) -> None:
    opened.visit("a_arm.txt")
    opened.visit("a_mips.txt")
    with opened.guests.asking(opened.root / "a_arm.txt"):
        assert opened.open == ["a_arm.txt"]
    with opened.guests.asking(opened.root / "a.txt"):  # which was never opened
        assert opened.open == ["a_arm.txt"]


def test_what_an_edit_is_made_for_stays_open_though_a_proof_asks_about_it(opened: Opened) -> None:
    opened.visit("a_arm.txt")
    with opened.guests.asking(opened.root / "a_arm.txt"):
        opened.guests.leave()
        opened.guests.stay(opened.root / "a_arm.txt")
    assert opened.visit("a_mips.txt") == ["a_arm.txt", "a_mips.txt"]
    opened.guests.leave()
    assert opened.open == ["a_arm.txt"]


def test_a_new_server_has_the_same_guests(opened: Opened) -> None:
    opened.visit("a_arm.txt")
    opened.open.clear()
    opened.documents.reopen_all()
    assert opened.open == ["a_arm.txt"]
    assert opened.visit("a_mips.txt") == ["a_mips.txt"]


def test_a_question_about_a_file_that_was_closed_for_room_opens_it_again(opened: Opened) -> None:
    opened.visit("a_arm.txt")
    opened.documents.close(opened.root / "a_arm.txt")
    with opened.guests.asking(opened.root / "a_arm.txt"):
        assert opened.open == ["a_arm.txt"]


def test_a_request_may_be_about_a_file() -> None:
    at = {"uri": "file:///a/b.txt"}
    assert file_of({"textDocument": at, "position": {"line": 0, "character": 0}}) == Path("/a/b.txt")
    assert file_of({"item": at}) == Path("/a/b.txt")
    assert file_of({"textDocument": {"uri": "jdt://contents/b.class"}}) is None
    assert file_of({"query": "b"}) is None
