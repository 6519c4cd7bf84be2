"""Files in which something may no longer fit a type (`features.renaming.fitting`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.bounded import bounded
from features.test_passed_whole import Barrels
from lsp_mcp.edits.plan import FileChange, TextChange
from lsp_mcp.features.renaming import fitting
from lsp_mcp.text import Text

FILES = {
    "one.ts": "export class One { size = 1 }\nexport const first = 1;\nconst { size } = new One();\n",
    "two.ts": 'import { One } from "./one";\nexport const two = new One();\n',
    "three.ts": 'import { two } from "./two";\nexport default two;\n',
    "apart.ts": 'import { other } from "./other";\n',
}


def renamed(backend: Any, line: int, old: str, new: str) -> FileChange:
    path = backend.root / "one.ts"
    text = Text(path.read_text())
    span = next(span for span in text.words(old) if span.start.line == line)
    return FileChange(path, text, "", ()).with_changes([TextChange(span, old, new)])


@bounded
@pytest.mark.parametrize(
    ("line", "old", "new", "found"),
    [
        (1, "size", "length", ["two.ts", "three.ts"]),
        (3, "size", "length: size", ["two.ts", "three.ts"]),
        (3, "size", "size: length", []),
        (2, "first", "second", []),
    ],
)
async def test_files_that_get_a_member_from_others_are_found_and_none_for_other_names(
    line: int, old: str, new: str, found: list[str], tmp_path: Path
) -> None:
    backend: Any = Barrels(tmp_path, "typescript", FILES)
    files, left = await fitting.fitting(backend, [renamed(backend, line, old, new)], "length" if found else "second")
    assert [path.name for path in files] == found
    assert not left


@bounded
async def test_what_is_too_much_to_try_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend: Any = Barrels(tmp_path, "typescript", FILES)
    monkeypatch.setattr(fitting, "_MOST", 1)
    files, left = await fitting.fitting(backend, [renamed(backend, 1, "size", "length")], "length")
    assert [path.name for path in files] == ["two.ts"]
    assert [gap.text for gap in left] == ["not tried in 1 file that may depend on it; run check"]


@bounded
async def test_where_types_fit_by_their_names_no_file_is_looked_for(tmp_path: Path) -> None:
    backend: Any = Barrels(tmp_path, "gopls", {"one.ts": FILES["one.ts"]})
    assert await fitting.fitting(backend, [renamed(backend, 1, "size", "length")], "length") == ({}, [])
    assert not backend.asked
