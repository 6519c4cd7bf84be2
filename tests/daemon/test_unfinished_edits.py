"""Edits whose process was killed half way, as sessions of other roots find them: with real daemons and a real gopls."""

from __future__ import annotations

from pathlib import Path

from asking import skip_without
from shared_daemon import SOURCES, Desk, answer, killed_half_way

skip_without("gopls")

WHOLE = SOURCES["a.go"]
RENAMED = WHOLE.replace("One", "Uno")
USES = ("find_symbol_references_by_anchor", {"symbol_anchor": "One", "format": "compact"})


def test_a_session_that_runs_below_the_root_of_an_edit_finds_no_half_of_it(desk: Desk) -> None:
    with desk.client() as client:
        assert "Found 2 references" in answer(client.call(USES[0], **USES[1]))
        killed_half_way(desk)
        assert "Found 2 references" in answer(client.call(USES[0], **USES[1]))
    assert (desk.root / "a.go").read_text() == WHOLE


def test_what_cannot_be_undone_is_in_the_next_answer_with_the_place_of_the_old_text(desk: Desk) -> None:
    with desk.client() as client:
        client.call(USES[0], **USES[1])
        killed_half_way(desk)
        (desk.root / "a.go").write_text(f"{RENAMED}\nvar mine = 1\n")
        failed = client.call("find_symbol_references_by_anchor", symbol_anchor="Nothing", format="compact")
        assert failed["isError"], "an error has no room for it: it is told with the next answer"
        whole = client.call(USES[0], symbol_anchor="Uno", format="compact")
        assert "Found 2 references" in whole["content"][0]["text"]
        news = whole["content"][1]["text"]
        assert (
            news.startswith("an earlier edit was interrupted, and undone but for this: ")
            and "a.go (it was changed" in news
        )
        assert Path(news.rpartition(" is in ")[2]).read_text() == WHOLE
        assert len(client.call(USES[0], symbol_anchor="Uno", format="compact")["content"]) == 1
    assert sorted(path.name for path in desk.root.iterdir()) == ["a.go", "go.mod"]
