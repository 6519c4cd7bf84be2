"""What one of several owners of a watch is told of."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from lsp_mcp.adapters import load_adapter
from lsp_mcp.disk.feed import FeedHub
from lsp_mcp.sessions.languages import OtherLanguages


def test_the_libraries_that_one_server_watches_are_nothing_to_another(tmp_path: Path) -> None:
    root, libraries = tmp_path / "root", tmp_path / "libraries"
    for file in (root / "main.py", libraries / "array.h", libraries / "page.ts"):
        file.parent.mkdir(exist_ok=True)
        file.write_text("")

    async def told() -> None:
        hub = FeedHub(root, set())
        python, others = hub.feed(), hub.feed()
        languages = OtherLanguages([load_adapter("clangd"), load_adapter("typescript")], hub.feed())
        try:
            await python.start()
            python.watch_also([libraries])
            assert Counter(python.paths()) == Counter(
                map(str, (root / "main.py", libraries / "array.h", libraries / "page.ts"))
            )
            assert [*others.paths()] == [str(root / "main.py")]
            assert [*others.files()] == [root / "main.py"]
            assert others.files_named({"array.h"}) == []
            assert python.files_named({"main.py", "page.ts"}) == [root / "main.py"]
            assert await languages.present() == ([], [])
            (libraries / "more.h").write_text("")
            assert await languages.present() == ([], [])
            (root / "own.h").write_text("")
            found, missing = await languages.present()
            assert len(found) + len(missing) == 1
        finally:
            hub.close()

    asyncio.run(told())
