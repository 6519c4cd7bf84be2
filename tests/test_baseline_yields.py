"""The baseline of `check` is taken while nobody asks: a question stops it, and any change leaves none."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from asking import Asked, asking, skip_without
from lsp_mcp.evidence import background
from lsp_mcp.wire.peer import Peer

FILES = {
    "go.mod": "module example.com/m\n\ngo 1.24\n",
    "old.go": "package m\n\nfunc Old() int { return missing }\n",
    "use.go": "package m\n\nvar Used = Old()\n",
}
ANCHOR = "old.go:3:Old"


class Recorded:
    """What a server is asked: `checking` is set while it checks all files, which it does once it `may`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.checking, self.may = asyncio.Event(), asyncio.Event()
        self.checks = self.stopped = 0
        self.answered_beside: list[str] = []  # methods of requests that were answered while it checked
        request = Peer.request

        async def recorded(peer: Peer, method: str, params: Any, **named: Any) -> Any:
            if method != "workspace/executeCommand" or "diagnose" not in str(params):
                answer = await request(peer, method, params, **named)
                if self.checking.is_set():
                    self.answered_beside.append(method)
                return answer
            self.checks += 1
            self.checking.set()
            try:
                await self.may.wait()
                return await request(peer, method, params, **named)
            except asyncio.CancelledError:
                self.stopped += 1
                raise
            finally:
                self.checking.clear()

        monkeypatch.setattr(Peer, "request", recorded)
        monkeypatch.setattr(background, "_QUIET", 0.0)


def written(root: Path) -> None:
    for name, text in FILES.items():
        (root / name).write_text(text, "utf-8")


async def uses(ask: Asked) -> None:
    answer = await ask("find_symbol_references_by_anchor", symbol_anchor=ANCHOR)
    assert len(answer["references"]) == 2


def test_a_question_stops_the_baseline_which_is_taken_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without("gopls")
    written(tmp_path)

    async def question(ask: Asked) -> None:
        asked = Recorded(monkeypatch)
        await uses(ask)
        await asked.checking.wait()
        await uses(ask)
        assert (asked.checks, asked.stopped, asked.answered_beside) == (1, 1, [])
        asked.may.set()
        await ask.proven()
        (tmp_path / "use.go").write_text(FILES["use.go"] + "\nvar _ = other\n", "utf-8")
        check = await ask("check")
        assert check["message"] == "1 new error in 1 file, none fixed, 1 remaining."

    asking("gopls", tmp_path, question)


def test_a_baseline_that_is_taken_is_not_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without("gopls")
    written(tmp_path)

    async def question(ask: Asked) -> None:
        asked = Recorded(monkeypatch)
        asked.may.set()
        for _ in range(3):
            await uses(ask)
            await ask.proven()
        assert asked.checks == 1

    asking("gopls", tmp_path, question)


def test_a_change_before_the_baseline_is_taken_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without("gopls")
    written(tmp_path)

    async def question(ask: Asked) -> None:
        asked = Recorded(monkeypatch)
        await uses(ask)
        await asked.checking.wait()
        (tmp_path / "use.go").write_text(FILES["use.go"] + "\nvar _ = other\n", "utf-8")
        asked.may.set()
        await uses(ask)
        await ask.proven()
        assert (await ask("check"))["message"] == "2 errors in 2 files; no baseline: all are shown."

    asking("gopls", tmp_path, question)
