"""What `lm_clangd_status` says of the server and its index: real clangd."""

from __future__ import annotations

import json
import time
from datetime import datetime
from pathlib import Path

from asking import Ask, asking, skip_without

skip_without("clangd")


def test_status_tells_of_the_server_its_database_its_index_and_what_is_not_in_it(tmp_path: Path) -> None:
    began = time.time()
    (tmp_path / "a.h").write_text("int a();\n")
    for name in ("a", "unusable", "new"):
        (tmp_path / f"{name}.cpp").write_text(f'#include "a.h"\nint {name}_() {{ return a(); }}\n')
    database = tmp_path / "compile_commands.json"
    commands = {"a.cpp": "c++ -c a.cpp", "unusable.cpp": "g++ -march=nope -c unusable.cpp"}
    entries = [{"directory": str(tmp_path), "file": file, "command": command} for file, command in commands.items()]
    database.write_text(json.dumps(entries))

    async def question(ask: Ask) -> None:
        await ask("find_symbol_definitions_by_name", symbol_name="a_")
        status = await ask("lm_clangd_status")
        assert "clangd version " in status["clangdVersion"]
        assert Path(status["clangdPath"]).name == "clangd"
        assert status["compilationDatabase"] == str(database)
        assert (status["filesCompiled"], status["filesIndexed"], status["filesLeftOut"]) == (2, 2, 1)  # a.cpp and a.h
        assert datetime.fromisoformat(status["indexChanged"]).timestamp() > began - 2
        assert status["filesFailed"] == 1
        (failed,) = status["firstFailed"].items()
        assert failed[0] == "unusable.cpp"
        assert "cannot be used" in failed[1]
        assert status["memoryBytes"] > 1_000_000

    asking("clangd", tmp_path, question)
