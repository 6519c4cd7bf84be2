"""Files that no extension tells are in a language too: by their names, or by the first line of a script."""

import asyncio
import json
import os
import re
from pathlib import Path

import pytest

from languages.served import BOUND, ask, served, write
from lsp_mcp.lsp.checking import Checking

BASH = {
    "lib.sh": "greet() {\n  echo hi\n}\n",
    "bin/run": "#!/usr/bin/env bash\n. ./lib.sh\ngreet\n",
    ".bashrc": "greet\n",
    "LICENSE": "greet\n",
}
PYTHON = {
    "shop/__init__.py": "",
    "shop/core.py": "def scale(n):\n    return n\n",
    "bin/measure": "#!/usr/bin/env python3\nfrom shop.core import scale\n\nscale(1)\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
}


NODE = {
    "package.json": "{}",
    "lib.js": "exports.plus = function plus(n) { return n + 1 };\n",
    "bin/tool": "#!/usr/bin/env node\nconst { plus } = require('../lib.js');\nconsole.log(plus(1);\n",
    "use.js": "const = 1;\n",
}


@pytest.mark.parametrize(
    ("backend", "files", "symbol", "places"),
    [
        ("bash-language-server", BASH, "greet", ["lib.sh:1", ".bashrc:1", "bin/run:3"]),
        ("basedpyright", PYTHON, "scale", ["shop/core.py:1", "bin/measure:2", "bin/measure:4"]),
    ],
    ids=["shell", "python"],
)
def test_uses_in_scripts_without_an_extension_are_found(
    tmp_path: Path, backend: str, files: dict[str, str], symbol: str, places: list[str]
) -> None:
    write(tmp_path, files)
    answer = json.loads(ask(backend, tmp_path, "find_symbol_references_by_anchor", symbol_anchor=symbol, format="json"))
    found = {f"{one['location']['file']}:{one['location']['line']}" for one in answer["references"]}
    assert found == set(places)


def test_a_rename_changes_scripts_without_an_extension(tmp_path: Path) -> None:
    write(tmp_path, PYTHON)
    ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="scale", new_name="grow")
    assert (tmp_path / "bin/measure").read_text() == PYTHON["bin/measure"].replace("scale", "grow")


def test_a_script_that_is_deleted_or_written_is_noticed(tmp_path: Path) -> None:
    write(tmp_path, PYTHON)
    open_workspace = served("basedpyright")

    async def asked() -> list[set[str]]:
        found = []
        async with open_workspace(tmp_path) as call:
            for step in ("first", "deleted", "back"):
                if step == "deleted":
                    os.unlink(tmp_path / "bin/measure")  # noqa: PTH108 (the loop is ours)
                elif step == "back":
                    write(tmp_path, {"bin/other": PYTHON["bin/measure"]})
                arguments = {"symbol_anchor": "scale", "format": "json"}
                answer = json.loads(await asyncio.wait_for(call("find_symbol_references_by_anchor", arguments), BOUND))
                found.append({one["location"]["file"] for one in answer["references"]})
        return found

    assert asyncio.run(asked()) == [
        {"shop/core.py", "bin/measure"}, {"shop/core.py"}, {"shop/core.py", "bin/other"},
    ]  # fmt: skip


def test_a_makefile_and_a_dockerfile_have_outlines(tmp_path: Path) -> None:
    pytest.importorskip("tree_sitter_language_pack")
    write(
        tmp_path,
        {
            "Makefile": "CFLAGS := -O2\n\nall: build\n\nbuild:\n\tcc $(CFLAGS) main.c\n",
            "Dockerfile.dev": "FROM debian AS build\nARG VERSION=1\n",
            "CMakeLists.txt": "set(SOURCES a.c)\nadd_library(parts ${SOURCES})\n",
        },
    )
    for name, symbols in {
        "Makefile": ["CFLAGS", "all", "build"],
        "Dockerfile.dev": ["build", "VERSION"],
        "CMakeLists.txt": ["SOURCES", "parts"],
    }.items():
        answer = ask("syntax", tmp_path, "list_symbols_in_file", file_path=name)
        assert all(symbol in answer for symbol in symbols), answer


def test_an_error_in_a_script_without_an_extension_is_found(tmp_path: Path) -> None:
    write(tmp_path, NODE)
    answer = ask("typescript", tmp_path, "check")
    assert answer.startswith("3 errors in 2 files")
    assert "js://bin/tool#\n3:20| ')' expected." in answer
    assert "status: complete" in answer


def test_files_over_which_the_server_dies_are_named_and_the_others_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Checking, "_is_script", lambda *_: False)  # tsc 7.0 dies if it is asked about a closed one
    more = {f"many/m{number}.js": f"const m{number} = ;\n" for number in range(9)}
    write(tmp_path, NODE | more)
    answer = ask("typescript", tmp_path, "check")
    assert "not checked until they change, because typescript crashed then: bin/tool" in answer
    counted = re.match(r"Not checked: [1-4] files\. Errors known so far: (\d+) errors\.", answer)
    assert counted is not None, answer
    assert int(counted[1]) >= 7  # of eleven: at most four files are asked about at a time
