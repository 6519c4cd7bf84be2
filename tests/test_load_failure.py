"""A server that could not load the workspace at all finds nothing, and the answer says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.errors import AnchorError

skip_without("gopls")

_REASON = "gopls could not load the workspace: build cache is disabled by GOCACHE=off"


def test_what_go_cannot_load_for_want_of_a_cache_is_not_said_to_be_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "go.mod").write_text("module example.com/m\n\ngo 1.24\n")
    (tmp_path / "a.go").write_text("package m\n\nfunc Known() {}\n")
    monkeypatch.setenv("GOCACHE", "off")  # as where neither it nor HOME is set

    async def question(ask: Ask) -> None:
        answer = await ask("find_symbol_definitions_by_name", symbol_name="Known")
        assert not answer["definitions"]
        assert answer["status"].startswith(_REASON)
        assert answer["gaps"][0] == {"kind": "not_loaded", "hides": True}
        with pytest.raises(AnchorError, match="could not load the workspace: build cache is disabled"):
            await ask("find_calls", symbol="Known")
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="a.go:3:Known")
        assert answer["status"] == "as before: not loaded"

    asking("gopls", tmp_path, question)
