"""What a request that fails, or is not answered in time, would have told is named as missing.

Each request that clangd gets for a question fails once, and the answer must be the same, or say so.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.budget import Budget
from lsp_mcp.errors import LspMcpError, RefusedError, SilentError
from lsp_mcp.features.types import overrides, subtypes
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.sessions.reported import Reported
from lsp_mcp.wire.peer import Peer

FILES = {
    "base.h": """#pragma once
namespace n {
struct Base { virtual int run(int n); int plain(); };
typedef Base Other;
inline int helper(int n) { return n; }
}
#define CALL(x) helper(x)
#define MAKE(name) struct name : n::Base { int run(int n) override { return n; } };
""",
    "base.cpp": """#include "base.h"
int n::Base::run(int n) { return helper(n); }
int n::Base::plain() { return run(1); }
""",
    "mid.h": """#pragma once
#include "base.h"
namespace n { class Late; struct Mid : Base { int run(int n) override; }; }
""",
    "mid.cpp": """#include "mid.h"
int n::Mid::run(int n) { return Base::run(n); }
namespace n { class Late : public Other { public: int run(int n) override { return n; } }; }
int late() { n::Mid m; return m.run(2); }
""",
    "low.cpp": """#include "mid.h"
struct Low : n::Mid { int run(int n) override { return n; } };
MAKE(Made)
int low() { Low one; Made two; return one.run(1) + two.run(2); }
""",
    "use.cpp": """#include "mid.h"
using n::Base;
using n::helper;
int use(Base *b, Base &c) {
  int m = helper(1);
#ifdef OTHER
  m = helper(2);
  b->run(m);
#endif
  return b->run(m) + c.plain() + CALL(3);
}
int called() { n::Mid m; return use(&m, m); }
""",
    "other.cpp": "namespace o { struct Base { int run(int n) { return n; } }; int helper(int n) { return n; } }\n",
    "out.cpp": '#include "base.h"\nint out() { n::Base b; return b.run(4) + n::helper(5); }\n',
    "tick.cpp": "int tick;\n",
}
LEFT_OUT = ("out.cpp",)
RUN, BASE, HELPER = "base.h:3:run", "base.h:3:Base", "base.h:5:helper"
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("find_symbol_references_by_anchor", {"symbol_anchor": RUN}),
    ("find_symbol_references_by_anchor", {"symbol_anchor": BASE}),
    ("find_symbol_references_by_anchor", {"symbol_anchor": HELPER}),
    ("find_symbol_references_by_anchor", {"symbol_anchor": "use.cpp:5:m"}),
    ("find_calls", {"symbol": HELPER}),
    ("find_implementations", {"symbol": BASE}),
    ("find_implementations", {"symbol": "low.cpp:2:run"}),
    ("find_type_hierarchy_by_anchor", {"symbol_anchor": BASE}),
    ("find_impact", {"symbols": [HELPER]}),
    ("rename_symbol_by_anchor", {"symbol_anchor": "base.h:3:plain", "new_name": "simple", "apply": False}),
]
SHORT = 0.2  # seconds for the parts of an answer of which one is not told in time
IN_TIME = ("textDocument/documentSymbol", "textDocument/prepareTypeHierarchy", "textDocument/symbolInfo")


class Requests:
    """The requests that clangd gets; `failing` is the one that does not go well, by its method and number."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.failing: tuple[str, int] | None = None
        self.is_silent = False
        self.bounds: list[tuple[ModuleType, str, float, float]] = []  # with a request that fails, and else

    def fail(self, failing: tuple[str, int] | None) -> None:
        """From now on, `failing` does not go well, and answers have little time for their parts; None: all."""
        self.failing = failing
        for module, name, short, long in self.bounds:
            setattr(module, name, short if failing else long)

    async def met(self, method: str) -> None:
        number = self.seen.count(method)
        self.seen.append(method)
        if self.failing == (method, number):
            if self.is_silent:
                await asyncio.sleep(0.5)  # longer than the bounds of the parts of an answer that this test sets
                raise SilentError("it does not answer")
            raise RefusedError("it has failed", -32001)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Requests:
    found, request = Requests(), Peer.request

    async def met(self: Peer, method: str, *arguments: Any, **named: Any) -> Any:
        if method not in ("initialize", "shutdown"):
            await found.met(method)
        return await request(self, method, *arguments, **named)

    monkeypatch.setattr(Peer, "request", met)
    # Each answer in full, as the first one of a session.
    monkeypatch.setattr(Reported, "take", lambda self, caller, gaps: (list(gaps), []))
    return found


def test_an_answer_without_what_a_failed_request_would_have_told_says_so(tmp_path: Path, requests: Requests) -> None:
    _asked(tmp_path, requests, SessionOptions())


def test_an_answer_without_what_was_not_told_in_time_says_so(
    tmp_path: Path, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests.is_silent = True
    # The answer that others are compared with has its full time.
    allowed = Budget._allowed
    monkeypatch.setattr(Budget, "_allowed", lambda self, took: SHORT if requests.failing else allowed(self, took))
    for module, name, value in (
        (subtypes, "_SHARE", SHORT / 60),
        (overrides, "_SHARE", SHORT / 60),
    ):
        requests.bounds.append((module, name, value, getattr(module, name)))
        monkeypatch.setattr(module, name, value)
    _asked(tmp_path, requests, SessionOptions(request_timeout=60), IN_TIME, most=2)


def _asked(
    root: Path, requests: Requests, options: SessionOptions, methods: tuple[str, ...] = (), most: int = 20
) -> None:
    """Ask all questions, and each again with each request failing that it needed: the first `most` of each method.

    With `methods` only those.
    """
    skip_without("clangd")
    for name, text in FILES.items():
        (root / name).write_text(text)
    units = [name for name in FILES if name.endswith(".cpp") and name not in LEFT_OUT]
    command = {"directory": str(root), "command": "c++ -std=c++17 -c "}
    database = [{**command, "file": name, "command": command["command"] + name} for name in units]
    (root / "compile_commands.json").write_text(json.dumps(database))
    changes = 0

    async def question(ask: Ask) -> None:
        async def asked_again(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
            nonlocal changes
            changes += 1  # nothing that was said before is known
            (root / "tick.cpp").write_text(f"int tick{changes};\n")
            requests.seen.clear()
            try:
                return await ask(name, **arguments)
            except LspMcpError as error:
                return {"error": str(error)}

        requests.fail(None)
        for name, arguments in QUESTIONS:
            await asked_again(
                name, arguments
            )  # clangd names a definition, not a declaration, once it has read the file
            whole = await asked_again(name, arguments)
            assert "error" not in whole, whole
            asked = Counter(method for method in requests.seen if not methods or method in methods)
            for method, number in [(one, number) for one in asked for number in range(min(asked[one], most))]:
                requests.fail((method, number))
                answer = await asked_again(name, arguments)
                requests.fail(None)
                status = answer.get("status", "error")
                is_told = status != whole["status"] and not status.startswith("complete")
                assert is_told or (status, _places(answer)) == (whole["status"], _places(whole)), (
                    f"{name} {arguments} without {method} {number}: {answer}"
                )

    asking("clangd", root, question, options)


def _places(answer: Any) -> list[str]:
    """The places that an answer has, without how they are worded."""
    if isinstance(answer, list):
        return sorted(place for one in answer for place in _places(one))
    if not isinstance(answer, dict):
        return []
    own = [json.dumps(answer["location"])] if "location" in answer else []
    return sorted([*own, *_places(list(answer.values()))])
