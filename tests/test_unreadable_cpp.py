"""A source file that is not UTF-8 may have uses that neither clangd's index nor the comparison with the text knows."""

import json
from pathlib import Path

from asking import Ask, asking, skip_without

skip_without("clangd")

HEADER = "#pragma once\nnamespace space { int one(int); }\n"
UNIT = b'#include "a.h"\n// caf\xe9\nint b() { return space::one(2); }\n'


def test_uses_in_a_file_that_is_not_utf_8_are_said_not_to_be_searched(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text(HEADER)
    (tmp_path / "a.cc").write_text('#include "a.h"\nint a() { return space::one(1); }\n')
    (tmp_path / "b.cc").write_bytes(UNIT)
    commands = [{"directory": str(tmp_path), "file": name, "command": f"c++ -c {name}"} for name in ("a.cc", "b.cc")]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands))

    async def question(ask: Ask) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="cpp://a.h#2:11")
        assert {one["location"]["file"] for one in answer["references"]} == {"a.h", "a.cc"}
        assert "not UTF-8, so not searched for space: b.cc" in answer["status"]

    asking("clangd", tmp_path, question)
