"""A module of CommonJS that is one function is used under whatever name those who load it give it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from languages.served import ask, write

LOADING = {
    "package.json": '{"name": "sample", "version": "1.0.0"}\n',
    "lib/index.js": "module.exports = require('./make');\n",
    "a.js": "const build = require('./lib/make');\nbuild();\n",
    "b.js": "const make = require('./lib');\nmake();\n",
    "c.js": "const { make } = require('./other');\nmake();\n",
    "other.js": "exports.make = () => 2;\n",
}


@pytest.mark.parametrize(
    "exported",
    [
        "module.exports = make;\nfunction make() { return 1 }\n",
        "exports = module.exports = make;\nfunction make() { return 1 }\n",
        "module.exports = exports = make;\nfunction make() { return 1 }\n",
    ],
)
def test_uses_and_calls_under_any_name_are_found(tmp_path: Path, exported: str) -> None:
    write(tmp_path, LOADING | {"lib/make.js": exported})
    answer = json.loads(
        ask(
            "typescript",
            tmp_path,
            "find_symbol_references_by_anchor",
            symbol_anchor="lib/make.js:2:make",
            wait=True,
            format="json",
        )
    )
    found = {(one["location"]["file"], one["location"]["line"]) for one in answer["references"]}
    assert found >= {("a.js", 1), ("a.js", 2), ("b.js", 1), ("b.js", 2), ("lib/make.js", 1), ("lib/make.js", 2)}
    assert not any(file in ("c.js", "other.js") for file, _ in found)
    assert answer["status"] == "complete"
    calls = json.loads(ask("typescript", tmp_path, "find_calls", symbol="lib/make.js:2:make", format="json"))
    assert {one["location"]["file"] for one in calls["callers"]} == {"a.js", "b.js"}


def test_a_use_without_any_name_is_a_gap(tmp_path: Path) -> None:
    files = {
        "lib/make.js": "module.exports = make;\nfunction make() { return 1 }\n",
        "d.js": "run(require('./lib'));\n",
    }
    write(tmp_path, LOADING | files)
    answer = ask("typescript", tmp_path, "find_symbol_references_by_anchor", symbol_anchor="lib/make.js:2:make")
    assert "status: uses where its module is loaded are not listed: d.js 1" in answer


def test_callers_that_the_check_finds_count_for_the_limit(tmp_path: Path) -> None:
    users = {f"u{number}.js": "const build = require('./lib/make');\nbuild();\n" for number in range(5)}
    write(tmp_path, LOADING | {"lib/make.js": "module.exports = make;\nfunction make() { return 1 }\n"} | users)
    answer = ask("typescript", tmp_path, "find_calls", symbol="lib/make.js:2:make", limit=3)
    assert answer.startswith("Found 7 callers of make.")
    assert answer.count("calls at") == 3
    assert "capped at 3 of 7; pass a greater limit" in answer
