"""`check` with clangd says of random edits what the compiler says: judged by clang without clangd."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

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
