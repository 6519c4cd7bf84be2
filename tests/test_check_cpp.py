"""`check` with clangd says of random edits what the compiler says: judged by clang without clangd."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.wire.peer import Peer

pytest.importorskip("clang.cindex")
sys.path.insert(0, str(Path(__file__).parents[1] / "truth"))
from check_truth import examine

_EDITS = 10

# Headers that include others, one that cannot be read alone, bodies and templates that units make something of.
_TREE = {
    "include/base.h": """\
#ifndef BASE_H_
#define BASE_H_
#define LIMIT 8
namespace n {
struct Base {
  int size() const;
  int size_;
};
enum Color { kRed, kBlue };
}
#endif
""",
    "include/list.h": """\
// Lists.
#pragma once
#include "base.h"
namespace n {
template <class T> int total(const T& t) { return t.size() + LIMIT; }
inline int twice(const Base& base) { return 2 * base.size_; }
}
""",
    "src/part.inc": """\
inline Part half(Part part) { return part / 2; }
""",
    "src/base.cc": """\
// The base.
#include "base.h"
int n::Base::size() const { return size_; }
""",
    "src/one.cc": """\
#include "list.h"
#include "base.h"
using Part = int;
#include "part.inc"
struct Own {
  int size() const { return half(4); }
};
int one() { return n::total(Own()); }
""",
    "src/two.cc": """\
/* Two. */
#include "list.h"
int two(const n::Base& base) { return n::twice(base) + n::kBlue; }
""",
    "src/alone.h": """\
#pragma once
int alone();
""",
}


def test_random_edits_have_the_errors_that_the_compiler_finds(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for name, text in _TREE.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, "utf-8")
    commands = [
        {"directory": str(tree), "file": name, "command": f"clang++ -std=c++17 -Iinclude -c {name}"}
        for name in _TREE
        if name.endswith(".cc")
    ]
    (tree / "compile_commands.json").write_text(json.dumps(commands), "utf-8")
    told: list[str] = []
    outcomes = examine(tree, "clangd", _EDITS, 1, tmp_path / "cache", told.append)
    assert outcomes == {"right": _EDITS}, told


_HEADER = (
    "// One for all.\n#pragma once\nnamespace n {\nint shared(int);\ninline int twice(int x) { return 2 * x; }\n}\n"
)
_USER = '// A user.\n#include "shared.h"\nint {0}(int x) {{ return n::shared(n::twice(x)); }}\n'


def test_a_check_after_a_header_has_changed_compiles_each_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is right, and what is broken, is read for the next question only when that comes, by the same server."""
    skip_without("clangd")
    (tmp_path / "shared.h").write_text(_HEADER)
    for name in ("one", "two"):
        (tmp_path / f"{name}.cpp").write_text(_USER.format(name))
    commands = [{"directory": f"{tmp_path}", "file": f, "command": f"clang++ -c {f}"} for f in ("one.cpp", "two.cpp")]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands), "utf-8")
    told: Counter[str] = Counter()
    request, notify = Peer.request, Peer.notify

    async def requested(self: Peer, method: str, *arguments: Any, **named: Any) -> Any:
        told[method] += 1
        return await request(self, method, *arguments, **named)

    def notified(self: Peer, method: str, params: Any) -> None:
        if method == "textDocument/didOpen":
            told[params["textDocument"]["uri"].rpartition("/")[2]] += 1
        notify(self, method, params)

    monkeypatch.setattr(Peer, "request", requested)
    monkeypatch.setattr(Peer, "notify", notified)

    async def question(ask: Ask) -> None:
        async def wrong(text: str) -> list[Any]:
            """The lines of the errors after that edit, and the documents that were opened to know them."""
            told.clear()
            (tmp_path / "shared.h").write_text(text)
            answer = await ask("check", all=True)
            assert answer["status"] == "complete", answer
            assert told["one.cpp"] == told["two.cpp"] == 1 >= told["shared.h"], told
            errors = [*answer["new"], *answer["remaining"]]
            return [(one["location"]["file"], one["location"]["line"]) for one in errors]

        async def uses() -> list[str]:
            answer = await ask("find_symbol_references_by_anchor", symbol_anchor="n::twice")
            return sorted(one["location"]["file"] for one in answer["references"])

        assert (await ask("check", all=True))["new"] == []
        assert await wrong(_HEADER.replace("2 * x", "3 * x")) == []
        assert await uses() == ["one.cpp", "shared.h", "two.cpp"]
        assert told["initialize"] == 0
        assert await wrong(_HEADER.replace("int shared(int)", "Gone shared(int)")) == [("shared.h", 4)]
        assert told["initialize"] == 0
        assert await uses() == ["one.cpp", "shared.h", "two.cpp"]
        assert told["initialize"] == 0, "the error is the header's own: where that is included, it means the same"
        assert await wrong(_HEADER.replace("2 * x", "y")) == [("shared.h", 5)]
        assert await wrong(_HEADER.replace("\n}", "\nint more(int x) { return twice(x); }\n}")) == []
        assert await uses() == ["one.cpp", "shared.h", "shared.h", "two.cpp"]
        assert told["initialize"] == 0

    asking("clangd", tmp_path, question)
