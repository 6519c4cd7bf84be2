"""What the page's files must have in common."""

from __future__ import annotations

import re

from lsp_mcp.data import data_folder

BEGIN = {"main.js", "stream_worker.js"}  # what nothing imports


def test_all_modules_are_loaded_at_once() -> None:
    folder = data_folder("web") / "board"
    preloaded = set(re.findall(r'modulepreload" href="/static/([\w.]+)"', (folder / "index.html").read_text("utf-8")))
    assert preloaded == {path.name for path in folder.glob("*.js")} - BEGIN


def test_modules_stay_small() -> None:
    sizes = {
        path.name: len(path.read_text("utf-8").splitlines()) for path in (data_folder("web") / "board").glob("*.js")
    }
    assert {name: lines for name, lines in sizes.items() if lines > 330} == {}
