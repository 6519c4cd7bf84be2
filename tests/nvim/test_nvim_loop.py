"""Read, edit, check and refactor through a Neovim whose buffers hold what is not saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from asking import skip_without
from fakes.bounded import bounded
from fakes.callers import somebody
from nvim.neovims import skip_without_nvim
from nvim.truth_helpers import GO, C, Kind, desk

skip_without_nvim()
skip_without("gopls")
skip_without("clangd")


@pytest.mark.parametrize("kind", [GO, C], ids=lambda kind: kind.server)
@bounded
async def test_the_loop_of_an_agent_works_on_text_that_is_not_saved(kind: Kind, tmp_path: Path) -> None:
    kind.write(tmp_path, use=1, other=1)
    user, other = f"use{kind.suffix}", f"other{kind.suffix}"
    async with desk(tmp_path, user, servers=[kind.server]) as at:
        at.client = somebody()
        assert (await at.call("check")).json["new"] == []
        typed = kind.using("use", 2, above=3)
        await at.type_text(user, typed)

        read = (await at.call("read_symbol", symbols=[f"{user}:use"])).json
        (source,) = read["symbols"]
        assert source["text"].count("arget()") == 2
        assert source["text"] in typed
        assert "unsaved" in read["status"]

        # Refused if the text is not the one that was read; done in the buffer, which stays unsaved.
        edit = {"symbol": f"{user}:use", "action": "replace_body"}
        refused = await at.refused("edit_symbol", **edit, code="{ }", expect="00000000")
        assert source["hash"] in refused
        assert await at.buffer_text(user) == typed
        made = (await at.call("edit_symbol", **edit, code="{\n  missing();\n}", expect=source["hash"])).json
        assert [one["message"] for one in made["new"] if "missing" in one["message"]]
        assert "not saved in Neovim" in made["status"]
        assert "missing()" in (await at.buffer_text(user) or "")
        assert (tmp_path / user).read_text() == kind.using("use", 1)

        checked = (await at.call("check")).json
        assert {one["location"]["file"] for one in checked["new"]} == {user}
        assert "unsaved" in checked["status"]

        await at.type_text(user, typed)
        after = (await at.call("check")).json
        assert after["new"] == []
        assert {one["file"] for one in after["fixed"]} == {user}

        # What no buffer holds is written.
        await at.call("edit_symbol", symbol=f"{other}:other", action="insert_before", code="// Said.")
        assert "// Said." in (tmp_path / other).read_text()


@bounded
async def test_a_refactoring_of_unsaved_text_is_done_in_the_buffer(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    async with desk(tmp_path, "use.go") as at:
        await at.type_text("use.go", "package a\n\nfunc use() int {\n\tx := Target()\n\tx++\n\treturn x\n}\n")
        offered = (await at.call("refactor", target="use.go:4-5")).json
        assert "Extract function" in offered["actions"]
        made = (
            await at.call("refactor", target="use.go:4-5", action="extract function", options={"name": "more"})
        ).json
        assert made["new"] == []
        assert "more()" in (await at.buffer_text("use.go") or "")
        assert (tmp_path / "use.go").read_text() == GO.using("use", 1)
