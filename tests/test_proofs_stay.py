"""What the server said about places stays known after an edit that cannot affect it, and only then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from asking import Asked, asking, skip_without
from lsp_mcp.uris import uri_path
from lsp_mcp.wire.peer import Peer

FILES = {
    "go.mod": "module example.com/m\n\ngo 1.24\n",
    "home/home.go": "package home\n\ntype Box struct{}\n\nfunc (b Box) Open() int { return 1 }\n",
    "door/door.go": "package door\n\ntype Door struct{}\n\nfunc (d Door) Open() int { return 2 }\n",
    "use/use.go": 'package use\n\nimport (\n\t"example.com/m/door"\n\t"example.com/m/home"\n)\n\n'
    "var Box = home.Box{}.Open()\n\nvar Door = door.Door{}.Open()\n",
    "apart/apart.go": "package apart\n\nfunc Apart() int { return 1 }\n",
}
UNITS = {
    "home.cc": '#include "home.h"\nint Box::Open() { return 1; }\n',
    "door.cc": '#include "door.h"\nint Door::Open() { return 2; }\n',
    "use.cc": '#include "door.h"\n#include "home.h"\nint box = Box().Open();\nint door = Door().Open();\n',
    "apart.cc": "int apart() { return 1; }\n",
}
CPP = {
    "home.h": "#pragma once\nstruct Box { int Open(); };\n",
    "door.h": "#pragma once\nstruct Door { int Open(); };\n",
    **UNITS,
    "compile_commands.json": json.dumps(
        [{"directory": ".", "file": name, "command": f"c++ -c {name}"} for name in UNITS]
    ),
}


class Explained:
    """The files in which the server is asked what a place means."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, is_go: bool = True) -> None:
        self.files: list[str] = []
        request = Peer.request

        async def recorded(peer: Peer, method: str, params: Any, **named: Any) -> Any:
            if method == ("textDocument/definition" if is_go else "textDocument/symbolInfo"):
                self.files.append(uri_path(params["textDocument"]["uri"]).name)
            return await request(peer, method, params, **named)

        monkeypatch.setattr(Peer, "request", recorded)

    def taken(self) -> list[str]:
        """Those since the last call."""
        taken, self.files = self.files, []
        return sorted(set(taken))


def written(root: Path, files: dict[str, str] = FILES) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, "utf-8")


def edit(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text("utf-8")
    assert old in text
    (root / name).write_text(text.replace(old, new), "utf-8")


async def used(ask: Asked, anchor: str = "home/home.go:5:Open", file: str = "use/use.go") -> list[int]:
    """The lines of `file` that use the symbol."""
    answer = await ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
    assert answer["status"] == "complete"
    places = [one["location"] for one in answer["references"]]
    return [place["line"] for place in places if place["file"] == file]


def test_after_an_edit_elsewhere_the_server_is_not_asked_again_about_places_of_other_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("gopls")
    written(tmp_path)

    async def question(ask: Asked) -> None:
        explained = Explained(monkeypatch)
        assert await used(ask) == [8]
        assert explained.taken() == ["home.go", "use.go"]
        for number in range(3):
            edit(tmp_path, "apart/apart.go", f"return {number + 1}", f"return {number + 2}")
            assert await used(ask) == [8]
            assert set(explained.taken()) <= {"home.go"}  # about the symbol itself

    asking("gopls", tmp_path, question)


def test_after_an_edit_of_a_package_the_server_is_asked_about_it_and_what_imports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("gopls")
    written(tmp_path)

    async def question(ask: Asked) -> None:
        explained = Explained(monkeypatch)
        assert await used(ask) == [8]
        explained.taken()
        # The field of an embedded type: what `Open` of a Door means changes without a change of its user.
        text = 'package door\n\nimport "example.com/m/home"\n\ntype Door struct{ home.Box }\n'
        (tmp_path / "door/door.go").write_text(text, "utf-8")
        assert await used(ask) == [8, 10]
        (tmp_path / "door/door.go").write_text(FILES["door/door.go"], "utf-8")
        explained.taken()
        assert await used(ask) == [8]
        assert "use.go" in explained.taken()

    asking("gopls", tmp_path, question)


def test_after_a_new_file_the_server_is_asked_about_every_place_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("gopls")
    written(tmp_path)

    async def question(ask: Asked) -> None:
        explained = Explained(monkeypatch)
        assert await used(ask) == [8]
        asked = explained.taken()
        (tmp_path / "apart/new.go").write_text("package apart\n\nfunc New() int { return 1 }\n", "utf-8")
        assert await used(ask) == [8]
        assert explained.taken() == asked

    asking("gopls", tmp_path, question)


async def used_in_cpp(ask: Asked) -> list[int]:
    """The lines of `use.cc` that use the method of Box."""
    return await used(ask, "home.h:2:Open", "use.cc")


def test_after_an_edit_clangd_is_not_asked_again_about_places_that_do_not_include_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("clangd")
    written(tmp_path, CPP)

    async def question(ask: Asked) -> None:
        explained = Explained(monkeypatch, is_go=False)
        assert await used_in_cpp(ask) == [3]
        assert {"door.h", "use.cc"} <= set(explained.taken())
        for number in range(3):
            edit(tmp_path, "apart.cc", f"return {number + 1}", f"return {number + 2}")
            assert await used_in_cpp(ask) == [3]
            assert not explained.taken()

    asking("clangd", tmp_path, question)


@pytest.mark.parametrize(
    ("name", "old", "new", "found"),
    [
        # A header: what includes it means something else.
        ("door.h", "struct Door { int Open(); };", '#include "home.h"\nstruct Door : Box {};', [3, 4]),
        # A source that has the word: it may be another definition of what others declare.
        ("apart.cc", "int apart", "struct Door { int Open(); };\nint apart", [3]),
    ],
)
def test_after_an_edit_clangd_is_asked_again_about_places_that_may_mean_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, old: str, new: str, found: list[int]
) -> None:
    skip_without("clangd")
    written(tmp_path, CPP)

    async def question(ask: Asked) -> None:
        explained = Explained(monkeypatch, is_go=False)
        assert await used_in_cpp(ask) == [3]
        explained.taken()
        if name == "door.h":
            (tmp_path / "door.cc").write_text('#include "door.h"\n', "utf-8")
        edit(tmp_path, name, old, new)
        assert await used_in_cpp(ask) == found
        assert explained.taken()

    asking("clangd", tmp_path, question)
