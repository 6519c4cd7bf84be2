"""C++20 modules that clangd builds itself: uses in importers are found, and changes of a module take effect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from asking import Asked, asking, skip_without

MODULE = """export module math;
export int twice(int n) { return n + n; }
export struct Box { int size; };
"""
FILES = {
    "math.cppm": MODULE,
    "a.cpp": "import math;\nint f() { Box b{1}; return twice(2) + b.size; }\n",
    "b.cpp": "import math;\nint g() { return twice(3); }\n",
}


def places(answer: dict[str, Any]) -> list[str]:
    found = [one["location"] for one in answer["references"]]
    return [f"{at['file']}:{at['line']}:{at['character']}" for at in found]


def test_uses_in_importers_are_found_and_a_changed_module_is_read_again(tmp_path: Path) -> None:
    skip_without("clangd")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    commands = [{"directory": ".", "file": name, "command": f"clang++ -std=c++20 -c {name}"} for name in FILES]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands))

    async def question(ask: Asked) -> None:
        twice = await ask("find_symbol_references_by_anchor", symbol_anchor="a.cpp:2:twice")
        assert places(twice) == ["a.cpp:2:28", "b.cpp:2:18", "math.cppm:2:12"]
        size = await ask("find_symbol_references_by_anchor", symbol_anchor="math.cppm:3:size")
        assert places(size) == ["a.cpp:2:41", "math.cppm:3:25"] or not size["status"].startswith("complete")
        (tmp_path / "math.cppm").write_text(MODULE.replace("\n", "\n\n", 1))
        twice = await ask("find_symbol_references_by_anchor", symbol_anchor="a.cpp:2:twice")
        assert places(twice) == ["a.cpp:2:28", "b.cpp:2:18", "math.cppm:3:12"]
        (tmp_path / "math.cppm").write_text(MODULE.replace("twice", "thrice"))
        assert not (await ask("find_symbol_references_by_anchor", symbol_anchor="a.cpp:2:twice"))["references"]
        errors = await ask("check")
        assert {one["location"]["file"] for one in errors["new"]} == {"a.cpp", "b.cpp"}

    asking("clangd", tmp_path, question)
