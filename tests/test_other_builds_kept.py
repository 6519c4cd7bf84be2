"""What other systems' views said is kept by what it depends on, between questions and sessions, and only as long."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from asking import Asked, asking, skip_without
from lsp_mcp.cache_folders import checkout_folder
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.text import Text
from lsp_mcp.uris import uri_path
from lsp_mcp.wire.peer import Peer

FILES = {
    "go.mod": "module example.com/m\n\ngo 1.24\n",
    "use.go": 'package m\n\nimport "example.com/m/base"\n\nvar Use = size()\n\ntype Box struct{ base.Base }\n\n'
    "func (b Box) Close() int { return b.Number }\n",
    "size_plan9.go": "package m\n\nfunc size() int { return Box{}.Close() }\n\nvar more = size()\n\n"
    "func (b Box) size() int { return 1 }\n",
    "size_linux.go": "package m\n\nfunc size() int { return 2 }\n",
    "base/base.go": "package base\n\ntype Base struct{ Number int }\n",
    "apart/apart.go": "package apart\n\nfunc Apart() int { return 1 }\n",
}
FUNCTION = ["use.go:5", "size_linux.go:3", "size_plan9.go:3", "size_plan9.go:5"]
METHOD = ["use.go:9", "size_plan9.go:3"]
ASKED = {"size_plan9.go"}


class Other:
    """The files of another system that are opened, or about whose uses the server is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: set[str] = set()
        request, tell_open = Peer.request, Documents._tell_open

        async def recorded(peer: Peer, method: str, params: Any, **named: Any) -> Any:
            if method == "textDocument/references":
                self._note(uri_path(params["textDocument"]["uri"]))
            return await request(peer, method, params, **named)

        def opened(documents: Documents, path: Path, text: Text) -> Any:
            self._note(path)
            return tell_open(documents, path, text)

        monkeypatch.setattr(Peer, "request", recorded)
        monkeypatch.setattr(Documents, "_tell_open", opened)

    def _note(self, path: Path) -> None:
        if "plan9" in path.name:
            self.files.add(path.name)

    def taken(self) -> set[str]:
        """Those since the last call."""
        taken, self.files = self.files, set()
        return taken


async def uses(ask: Asked, anchor: str = "use.go:5:size") -> list[str]:
    """The places of the symbol, in the order of the answer."""
    answer = await ask("find_symbol_references_by_anchor", symbol_anchor=anchor, format="json")
    assert answer["status"].startswith("complete")
    places = [one["location"] for one in answer["references"]]
    return [f"{place['file']}:{place['line']}" for place in places]


def edit(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text("utf-8")
    assert old in text
    (root / name).write_text(text.replace(old, new), "utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    skip_without("gopls")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def in_session(root: Path, question: Callable[[Asked], Awaitable[None]]) -> None:
    asking("gopls", root, question)


def test_a_new_session_asks_no_view_of_another_system_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other, answers, asked = Other(monkeypatch), [], []

    async def question(ask: Asked) -> None:
        answers.extend([await uses(ask, anchor) for anchor in ("use.go:5:size", "use.go:9:Close")])
        asked.append(other.taken())

    for _ in range(2):
        in_session(root, question)
    assert sorted(answers[0]) == sorted(FUNCTION)
    assert sorted(answers[1]) == sorted(METHOD)
    assert answers[2:] == answers[:2]
    assert asked == [ASKED, set()]


def test_after_an_edit_of_a_package_that_does_not_matter_no_view_of_another_system_is_asked_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(root, "size_plan9.go", "func (b Box) size() int { return 1 }\n", "")  # see the next test
    other = Other(monkeypatch)

    async def question(ask: Asked) -> None:
        first = await uses(ask)
        assert other.taken() == ASKED
        for number in range(3):
            edit(root, "apart/apart.go", f"return {number + 1}", f"return {number + 2}")
            assert await uses(ask) == first
            assert not other.taken()

    in_session(root, question)


def test_which_methods_belong_together_is_asked_again_after_any_edit(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Other(monkeypatch)

    async def question(ask: Asked) -> None:
        first = await uses(ask, "use.go:9:Close")
        assert other.taken() == ASKED
        edit(root, "apart/apart.go", "return 1", "return 2")
        assert await uses(ask, "use.go:9:Close") == first
        assert other.taken() == ASKED

    in_session(root, question)


@pytest.mark.parametrize(
    ("name", "old", "new", "found"),
    [
        ("size_plan9.go", "var more = size()", "var more = 1", FUNCTION[:3]),
        ("base/base.go", "Number int", "Number, More int", FUNCTION),  # imported by the package that has the word
        ("go.mod", "go 1.24", "go 1.23", FUNCTION),
    ],
)
@pytest.mark.parametrize("is_new_session", [False, True])
def test_what_matters_makes_the_views_of_other_systems_be_asked_again(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, old: str, new: str, found: list[str], is_new_session: bool
) -> None:
    other = Other(monkeypatch)

    async def first(ask: Asked) -> None:
        assert sorted(await uses(ask)) == sorted(FUNCTION)
        assert other.taken() == ASKED
        if not is_new_session:
            edit(root, name, old, new)
            await again(ask)

    async def again(ask: Asked) -> None:
        assert sorted(await uses(ask)) == sorted(found)
        assert other.taken() == ASKED

    in_session(root, first)
    if is_new_session:
        edit(root, name, old, new)
        in_session(root, again)


def test_other_settings_of_the_build_make_the_views_of_other_systems_be_asked_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Other(monkeypatch)

    async def question(ask: Asked) -> None:
        assert sorted(await uses(ask)) == sorted(FUNCTION)
        assert other.taken() == ASKED

    in_session(root, question)
    monkeypatch.setenv("GOFLAGS", "-tags=other")
    in_session(root, question)


def test_what_was_kept_and_is_damaged_is_asked_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Other(monkeypatch)

    async def question(ask: Asked) -> None:
        assert sorted(await uses(ask)) == sorted(FUNCTION)
        assert other.taken() == ASKED

    in_session(root, question)
    (kept,) = (checkout_folder(root) / "gopls.other-builds").iterdir()
    kept.write_bytes(kept.read_bytes()[:-5])
    in_session(root, question)


def test_a_rename_in_a_new_session_changes_the_files_of_another_system_too(root: Path) -> None:
    async def asked(ask: Asked) -> None:
        assert sorted(await uses(ask)) == sorted(FUNCTION)

    async def renamed(ask: Asked) -> None:
        arguments = {"symbol_anchor": "use.go:5:size", "new_name": "length", "format": "json"}
        answer = await ask("rename_symbol_by_anchor", **arguments, apply=False)
        assert {one["file"] for one in answer["file_edits"]} == {"use.go", "size_linux.go", "size_plan9.go"}

    in_session(root, asked)
    in_session(root, renamed)
