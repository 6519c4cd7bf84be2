"""A disk without room: an edit is not made, the daemon goes on, and with room again nothing is missing."""

from __future__ import annotations

import resource

from asking import skip_without
from fakes.full_disk import full_disk
from shared_daemon import SOURCES, Desk, answer, ask

skip_without("gopls")


def test_an_edit_for_which_there_is_no_room_changes_nothing_and_is_made_with_room(desk: Desk) -> None:
    with desk.client() as one:
        assert "Found 2 references" in ask(one)
        before = sorted(desk.root.iterdir())
        with full_disk(desk.daemon().pid):
            refused = one.call("rename_symbol_by_anchor", symbol_anchor="One", new_name="Uno")
            assert refused["isError"] and "could not be written" in answer(refused), refused
            assert "Nothing was changed." in answer(refused)
            assert (desk.root / "a.go").read_text() == SOURCES["a.go"]
            assert sorted(desk.root.iterdir()) == before
            assert "Found 2 references" in ask(one)
            assert len(desk.status()) == 1
            called = desk.run("call", "list_symbols_in_file", "file_path=a.go", "--format", "compact")
            assert "3:6 function| func One" in called.stdout, called.stderr
        renamed = one.call("rename_symbol_by_anchor", symbol_anchor="One", new_name="Uno")
        assert not renamed.get("isError"), answer(renamed)
        assert (desk.root / "a.go").read_text() == SOURCES["a.go"].replace("One", "Uno")


def test_a_daemon_starts_on_a_full_disk_says_what_ails_its_server_and_answers_with_room(desk: Desk) -> None:
    room = resource.getrlimit(resource.RLIMIT_FSIZE)
    with full_disk(), desk.client() as one:  # what it starts has no room either
        refused = one.call("find_symbol_references_by_anchor", symbol_anchor="One")
        assert refused["isError"] and "disk full?" in answer(refused)
        daemon = desk.daemon()
        assert not any(path.stat().st_size for path in desk.home.iterdir())
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, room)
        assert "Found 2 references" in ask(one)
        assert desk.daemon().pid == daemon.pid
