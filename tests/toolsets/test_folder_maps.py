"""The map of a folder keeps to the limit that its caller names, in each form."""

from __future__ import annotations

import json
from pathlib import Path

from asking import Asked, asking, skip_without

skip_without("gopls")

FILES, FUNCTIONS = 30, 40


def test_a_map_keeps_its_limit_as_json_too(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.com/a\n\ngo 1.23\n")
    (tmp_path / "many").mkdir()
    for file in range(FILES):
        functions = "".join(f"func ReadsEverythingOf{file}x{one}() {{}}\n\n" for one in range(FUNCTIONS))
        (tmp_path / "many" / f"file{file}.go").write_text(f"package many\n\n{functions}")

    async def question(ask: Asked) -> None:
        for most in (10_000, 2_000):  # the first is what callers get who name none
            named = {} if most == 10_000 else {"max_bytes": most}
            answer = await ask("list_symbols_in_file", file_path="many", **named)
            assert f"{FILES * FUNCTIONS:,} symbols in {FILES} files" in answer["message"]
            assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()) <= most

    asking("gopls", tmp_path, question)
