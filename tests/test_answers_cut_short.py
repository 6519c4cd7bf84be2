"""A bound or a fault that ends part of an answer early leaves no silent hole: what the answer lacks is named.

Each declaration of another system is one that gopls knows in a view of its own, so each can be lost by itself.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.errors import LspMcpError, RefusedError, SilentError
from lsp_mcp.requests import other_builds
from lsp_mcp.wire.peer import Peer

SYSTEMS = ("386", "arm", "arm64", "riscv64", "amd64")
OTHERS = ("386", "arm", "riscv64")
"""Systems that no machine which runs the tests has."""
FILES = {
    "go.mod": "module example.com/m\n\ngo 1.24\n",
    **{f"size_{s}.go": f"package m\n\nconst MaxSize = {n}\n\nfunc grow() {{}}\n" for n, s in enumerate(SYSTEMS)},
    "use.go": "package m\n\nvar half, double = MaxSize / 2, MaxSize * 2\n\nfunc Use() { grow() }\n",
    "more_riscv64.go": "package m\n\nfunc more() int { grow(); return MaxSize }\n",
    "sub/use.go": 'package sub\n\nimport "example.com/m"\n\nvar Most = m.MaxSize\n',
}
SIZES = frozenset({"use.go", "sub/use.go", "more_riscv64.go", *(f"size_{system}.go" for system in SYSTEMS)})
CALLERS = frozenset({"use.go", "more_riscv64.go"})
Fault = Callable[[], Awaitable[Any]]


def written(root: Path) -> None:
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


async def nothing() -> None:
    return None


async def no_places() -> list[Any]:
    return []


async def a_refusal() -> None:
    raise RefusedError("internal error")


async def a_change() -> None:
    raise RefusedError("content modified", -32801)


async def silence() -> None:
    raise SilentError("no answer in time")


async def a_hang() -> None:
    await asyncio.Event().wait()


ANSWERS = (nothing, no_places, a_refusal, a_change)
METHODS = ("references", "definition", "documentSymbol")


class Faults:
    """Answers requests of one `method` or command about `files` by `fault`, in place of the server."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.method = ""
        self.fault: Fault = nothing
        self.files: tuple[str, ...] = ()
        request = Peer.request

        async def faulty(peer: Peer, method: str, params: Any, **named: Any) -> Any:
            about = params if isinstance(params, dict) else {}
            uri = about.get("textDocument", {}).get("uri", "") or about.get("arguments", [{}])[0].get("URI", "")
            if self.method in (method.removeprefix("textDocument/"), about.get("command")) and uri.endswith(self.files):
                return await self.fault()
            return await request(peer, method, params, **named)

        monkeypatch.setattr(Peer, "request", faulty)


def named_in(answer: dict[str, Any]) -> set[str]:
    return {file for gap in answer.get("gaps", ()) for file in gap.get("files", ())}


async def lost_uses(ask: Ask) -> set[str]:
    """The files with a use that an answer neither has nor names; none if there is no answer."""
    answer = await ask("find_symbol_references_by_anchor", symbol_anchor="use.go:3:MaxSize", format="json")
    return set(SIZES) - {one["location"]["file"] for one in answer["references"]} - named_in(answer)


async def lost_callers(ask: Ask) -> set[str]:
    answer = await ask("find_calls", symbol="use.go:5:grow", format="json")
    return set(CALLERS) - {one["location"]["file"] for one in answer["callers"]} - named_in(answer)


async def lost_edits(ask: Ask) -> set[str]:
    answer = await ask(
        "rename_symbol_by_anchor", symbol_anchor="use.go:3:MaxSize", new_name="Most", apply=False, format="json"
    )
    return set(SIZES) - {one["file"] for one in answer["file_edits"]} - named_in(answer)


@pytest.mark.parametrize(
    ("lost", "methods", "faults"),
    [
        (lost_uses, METHODS, (*ANSWERS, silence, a_hang)),
        (lost_callers, METHODS, (*ANSWERS, silence, a_hang)),
        # A rename waits as long as its call may.
        (lost_edits, (*METHODS, "rename"), ANSWERS),
    ],
)
def test_what_a_fault_hides_of_other_systems_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lost: Callable[[Ask], Awaitable[set[str]]],
    methods: tuple[str, ...],
    faults: tuple[Fault, ...],
) -> None:
    skip_without("gopls")
    written(tmp_path)
    wrapper = Faults(monkeypatch)
    silent: list[tuple[str, str, tuple[str, ...], set[str]]] = []

    async def question(ask: Ask) -> None:
        assert not await lost(ask)
        about = [("size_riscv64.go",), ("more_riscv64.go",), tuple(f"_{system}.go" for system in OTHERS)]
        for number, (method, fault, files) in enumerate(itertools.product(methods, faults, about)):
            if (method, fault) == ("documentSymbol", a_hang):
                continue  # it is waited for as long as the call may take
            (tmp_path / "use.go").write_text(f"{FILES['use.go']}\n// {number}\n")  # nothing is remembered
            wrapper.method, wrapper.fault, wrapper.files = method, fault, files
            try:
                if holes := await lost(ask):
                    silent.append((method, fault.__name__, files, holes))
            except (LspMcpError, AssertionError) as error:
                print(number, method, fault.__name__, files, "no answer:", str(error)[:300])

    asking("gopls", tmp_path, question, answer_within=0.3)
    assert not silent


@pytest.mark.parametrize("opened", [0, 1, 3])
def test_files_of_other_systems_over_the_limit_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: int
) -> None:
    skip_without("gopls")
    written(tmp_path)
    monkeypatch.setattr(other_builds, "_MOST_FILES", opened)

    async def question(ask: Ask) -> None:
        for lost in (lost_uses, lost_callers, lost_edits):
            assert not await lost(ask)

    asking("gopls", tmp_path, question)


def test_other_systems_of_a_module_that_is_asked_about_from_another_one_count(tmp_path: Path) -> None:
    skip_without("gopls")
    written(tmp_path)
    requirement = "require example.com/m v0.0.0\n\nreplace example.com/m => ../\n"
    (tmp_path / "sub" / "go.mod").write_text(f"module example.com/sub\n\ngo 1.24\n\n{requirement}")

    async def question(ask: Ask) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="sub/use.go:5:MaxSize", format="json")
        assert {one["location"]["file"] for one in answer["references"]} == SIZES
        assert answer["status"].startswith("complete")

    asking("gopls", tmp_path, question)


@pytest.mark.parametrize("refused", [1, 100])
def test_a_new_package_that_the_server_wants_to_be_asked_about_again_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: int
) -> None:
    skip_without("gopls")
    written(tmp_path)
    wrapper = Faults(monkeypatch)
    left = refused

    async def changed_for_a_while() -> Any:
        nonlocal left
        left -= 1
        if not left:
            wrapper.method = ""
        raise RefusedError("content modified", -32801)

    async def question(ask: Ask) -> None:
        at = {"textDocument": {"uri": (tmp_path / "use.go").as_uri()}, "position": {"line": 3, "character": 20}}
        params = {**at, "context": {"includeDeclaration": True}}

        async def uses() -> str:
            return str(await ask("lsp_request", method="textDocument/references", params=params))

        assert "sub/use.go" in await uses()
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "new.go").write_text(FILES["sub/use.go"])
        wrapper.method, wrapper.fault, wrapper.files = "gopls.list_imports", changed_for_a_while, ("new.go",)
        if refused > 1:
            with pytest.raises(RefusedError, match="content modified"):
                await uses()
            wrapper.method = ""
        assert "new/new.go" in await uses()

    asking("gopls", tmp_path, question)
