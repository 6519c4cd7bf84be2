"""What a watch does when its method fails: nothing is lost, and the note says so."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from disk.disk_helpers import Open, told, write
from lsp_mcp.disk import Watch, watch
from lsp_mcp.disk.changes import Ledger
from lsp_mcp.disk.extent import Extent
from lsp_mcp.disk.mounts import network_mount
from lsp_mcp.disk.snapshot import Snapshot

linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
by = pytest.mark.parametrize


def fail(code: int) -> OSError:
    return OSError(code, os.strerror(code))


def fail_to_watch(monkeypatch: pytest.MonkeyPatch, fails: Callable[[str], OSError | None]) -> None:
    """Let the kernel refuse the watches for which `fails` has an error."""
    from inotify_simple import INotify

    def add_watch(self: Any, path: str, mask: int) -> int:
        if error := fails(path):
            raise error
        return int(real(self, path, mask))

    real = INotify.add_watch
    monkeypatch.setattr(INotify, "add_watch", add_watch)


def run_out_of_watches(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    seen: set[str] = set()

    def fails(path: str) -> OSError | None:
        seen.add(path)
        return fail(errno.ENOSPC) if len(seen) > after else None

    fail_to_watch(monkeypatch, fails)


# --- the kernel's queue ----------------------------------------------------------------------------


def overflow(folder: Path) -> None:
    """Make more events than the kernel's queue holds: two for each renaming."""
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    a, b = folder / "overflow-a", folder / "overflow-b"
    a.touch()
    for _ in range(limit // 4 + 10):
        a.rename(b)
        b.rename(a)
    a.unlink()


@linux
@by("method", ["inotify"], indirect=True)
def test_after_an_overflow_comings_and_goings_are_exact_and_the_rest_counts_as_changed(
    open_watch: Open, root: Path
) -> None:
    for name in ("stays", "goes", "sub/stays", "gone/a/goes"):
        write(root / name)
    watch = open_watch(root)
    overflow(root)
    (root / "goes").unlink()
    shutil.rmtree(root / "gone")
    write(root / "new" / "a" / "comes")
    changes = watch.changes()
    assert told(changes, root) == (
        {"new/a/comes"},
        {"stays", "sub/stays"},
        {"goes", "gone/a/goes"},
    )
    assert "lost events" in str(changes.note)
    assert not watch.changes()
    assert watch.changes().note is None
    write(root / "sub" / "stays")
    write(root / "new" / "a" / "comes")
    assert told(watch.changes(), root) == (set(), {"sub/stays", "new/a/comes"}, set())


@linux
@by("method", ["inotify"], indirect=True)
def test_after_an_overflow_only_the_watches_of_folders_that_are_gone_are_given_back(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Giving back makes events: more than 16,384 would overflow the queue again, and so on for ever.
    from inotify_simple import INotify

    for number in range(20):
        write(root / f"{number}" / "a.go")
    watched = open_watch(root)
    overflow(root)
    shutil.rmtree(root / "7")
    given_back: list[int] = []
    monkeypatch.setattr(INotify, "rm_watch", lambda _, wd: given_back.append(wd))
    watched.changes()
    assert len(given_back) == 1
    assert len(list(watched.files())) == 19


@linux
@by("method", ["inotify"], indirect=True)
def test_what_was_drained_before_an_overflow_is_still_told_right(open_watch: Open, root: Path) -> None:
    write(root / "goes")
    write(root / "returns")
    watch = open_watch(root)
    (root / "goes").unlink()
    (root / "returns").unlink()
    write(root / "comes")
    write(root / "passes")
    watch.drain()
    (root / "passes").unlink()
    write(root / "returns")
    overflow(root)
    watch.drain()
    write(root / "last")
    assert told(watch.changes(), root) == ({"comes", "last"}, {"returns"}, {"goes"})


# --- no watches ------------------------------------------------------------------------------------


@linux
@by("method", ["inotify", "auto"], indirect=True)
@by("after", [0, 1, 2])
def test_when_watches_run_out_at_the_start_the_answers_come_by_scan(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    write(root / "a" / "b" / "c.go")
    run_out_of_watches(monkeypatch, after)
    watch = open_watch(root)
    assert list(watch.files()) == [root / "a" / "b" / "c.go"]
    write(root / "a" / "b" / "c.go")
    write(root / "d.go")
    changes = watch.changes()
    assert told(changes, root) == ({"d.go"}, {"a/b/c.go"}, set())
    assert changes.note == "watching by scan: fs.inotify.max_user_watches ran out"


@linux
@by("method", ["inotify"], indirect=True)
@by("drains", [False, True])
def test_when_watches_run_out_later_nothing_is_lost(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch, drains: bool
) -> None:
    for name in ("stays", "goes", "sub/stays"):
        write(root / name)
    watch = open_watch(root)
    descriptor = watch.fileno()
    assert descriptor is not None
    run_out_of_watches(monkeypatch, 1)
    (root / "goes").unlink()
    write(root / "new" / "x" / "y" / "comes")
    if drains:
        watch.drain()
    changes = watch.changes()
    assert told(changes, root) == ({"new/x/y/comes"}, {"stays", "sub/stays"}, {"goes"})
    assert changes.note == "watching by scan: fs.inotify.max_user_watches ran out"
    assert watch.fileno() == descriptor  # tasks that wait for it can go on
    write(root / "sub" / "stays")
    watch.drain()
    assert told(watch.changes(), root) == (set(), {"sub/stays"}, set())


@linux
@by("method", ["inotify"], indirect=True)
def test_when_watches_run_out_the_ones_taken_are_given_back(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "a" / "b.go")
    watch = open_watch(root)
    run_out_of_watches(monkeypatch, 1)
    write(root / "new" / "a.go")
    watch.changes()
    descriptor = watch.fileno()
    assert "inotify wd:" not in Path(f"/proc/self/fdinfo/{descriptor}").read_text()


@linux
@by("method", ["inotify"], indirect=True)
def test_without_inotify_the_answers_come_by_scan(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import lsp_mcp.disk.descriptors as module

    def refuse(**_: object) -> None:
        raise fail(errno.EMFILE)

    monkeypatch.setattr(module, "INotify", refuse)
    watch = open_watch(root)
    assert watch.fileno() is None
    assert watch.changes().note == "watching by scan: fs.inotify.max_user_instances ran out"


@linux
@by("method", ["inotify"], indirect=True)
def test_an_overflow_after_the_fall_back_is_of_no_interest(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inotify_simple import Event, INotify, flags

    watched = open_watch(root)
    run_out_of_watches(monkeypatch, 1)
    write(root / "new" / "a.go")
    watched.changes()
    monkeypatch.setattr(INotify, "read", lambda *_, **__: [Event(-1, flags.Q_OVERFLOW, 0, "")])
    watched.drain()
    assert watched.changes().note == "watching by scan: fs.inotify.max_user_watches ran out"


# --- network file systems --------------------------------------------------------------------------


@linux
@by("method", ["auto"], indirect=True)
def test_a_network_file_system_is_watched_by_scan(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "local" / "a.go")
    write(root / "remote" / "b.go")
    monkeypatch.setattr(watch, "network_file_system", lambda path: "nfs4" if path.endswith("remote") else None)
    watched = open_watch(root / "local")
    assert watched.changes().note is None
    watched.add_root(root / "remote")
    changes = watched.changes()
    assert changes.note == f"watching by scan: {root / 'remote'} is on a network file system (nfs4)"
    assert told(changes, root) == (set(), {"local/a.go"}, set())
    write(root / "remote" / "b.go")
    assert told(watched.changes(), root) == (set(), {"remote/b.go"}, set())


MOUNTS = r"""22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:50 / /home/me/my\040code rw shared:1 master:2 - nfs4 host:/export rw
24 22 0:51 / /mnt rw - 9p C: rw
25 24 254:1 / /mnt rw - xfs /dev/vdb rw
26 22 0:52 / /data/deep/share rw - fuse.sshfs host: rw
27 22 8:1 / /usb rw - fuseblk /dev/sda1 rw
"""


@by(
    ("folder", "type_"),
    [
        ("/", "local"),
        ("/home/me", "local"),
        ("/home/me/my code", "nfs4"),
        ("/home/me/my code/project", "nfs4"),
        ("/home/me/my code too", "local"),
        ("/mnt/project", "local"),
        ("/data", "local"),
        ("/data/deep/shared", "local"),
        ("/usb/project", "local"),
    ],
)
def test_the_mount_that_holds_a_folder_decides(folder: str, type_: str) -> None:
    assert (network_mount(folder, MOUNTS) or "local") in type_.split()


# --- watchfiles ------------------------------------------------------------------------------------


@by("method", ["watchfiles"], indirect=True)
def test_when_the_sentinel_does_not_come_the_answers_come_by_scan(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "a.go")
    write(root / "b.go")
    watched = open_watch(root)
    break_watcher(watched, lambda *_: "timeout")
    write(root / "a.go")
    changes = watched.changes()
    assert told(changes, root) == (set(), {"a.go"}, set())  # exact: it has always known the signatures
    assert changes.note == "watching by scan: no events arrived"
    write(root / "sub" / "c.go")
    assert told(watched.changes(), root) == ({"sub/c.go"}, set(), set())


@by("method", ["watchfiles"], indirect=True)
def test_a_burst_is_answered_by_a_scan_since_events_may_have_been_lost(open_watch: Open, root: Path) -> None:
    write(root / "lost.go")
    watched = open_watch(root)
    lose_events_of_lost_files(watched)
    write(root / "lost.go")
    for number in range(100):
        write(root / f"{number}.go")
    assert told(watched.changes(), root) == ({f"{number}.go" for number in range(100)}, {"lost.go"}, set())


@by("method", ["watchfiles"], indirect=True)
def test_after_a_new_folder_a_second_scan_sees_what_came_before_it_was_watched(open_watch: Open, root: Path) -> None:
    watched = open_watch(root)
    lose_events_of_lost_files(watched)
    (root / "new").mkdir()
    assert not watched.changes()
    write(root / "new" / "lost.go")
    assert told(watched.changes(), root) == ({"new/lost.go"}, set(), set())


def lose_events_of_lost_files(watched: Watch) -> None:
    """Let the Rust watcher lose the events of files with "lost" in their name."""
    method: Any = watched._method

    class Forgetful:
        def watch(self, *arguments: Any) -> Any:
            found = real.watch(*arguments)
            return found if isinstance(found, str) else {(k, path) for k, path in found if "lost" not in path}

        def close(self) -> None:
            real.close()

    real, method._watcher = method._watcher, Forgetful()


def test_a_file_that_an_event_names_changed_whatever_a_coarse_clock_says(root: Path) -> None:
    write(root / "a.go")
    ledger = Ledger()
    snapshot = Snapshot(ledger, Extent())
    snapshot.learn(str(root))
    snapshot.scan([str(root)], {str(root / "a.go")})
    assert told(ledger.take(None), root) == (set(), {"a.go"}, set())


@by("method", ["watchfiles"], indirect=True)
def test_an_interrupt_while_waiting_is_passed_on_and_loses_nothing(open_watch: Open, root: Path) -> None:
    write(root / "a.go")
    watched = open_watch(root)
    restore = break_watcher(watched, lambda *_: "signal")
    write(root / "a.go")
    with pytest.raises(KeyboardInterrupt):
        watched.changes()
    restore()
    assert told(watched.changes(), root) == (set(), {"a.go"}, set())


def break_watcher(watched: Watch, behave: Callable[..., str]) -> Callable[[], None]:
    """Let the Rust watcher answer as `behave` does; returns what undoes it."""

    class Broken:
        watch = staticmethod(behave)

    method: Any = watched._method
    real, method._watcher = method._watcher, Broken()

    def restore() -> None:
        method._watcher = real

    return restore


# --- what comes and goes while a folder is read ----------------------------------------------------


@linux
@by("method", ["inotify"], indirect=True)
def test_a_name_that_changes_its_kind_while_its_folder_is_read_ends_as_a_file(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = open_watch(root)
    x = root / "p" / "x"

    def scandir(path: str) -> Any:
        if path == str(root / "p"):
            x.touch()
            x.unlink()
            x.mkdir()
        return real(path)

    real = os.scandir
    (root / "p").mkdir()
    monkeypatch.setattr(os, "scandir", scandir)
    assert not watched.changes()
    monkeypatch.undo()
    x.rmdir()
    write(x)
    assert told(watched.changes(), root) == ({"p/x"}, set(), set())


@linux
@by("method", ["inotify"], indirect=True)
def test_a_name_that_changes_its_kind_while_its_folder_is_read_ends_as_a_folder(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = open_watch(root)
    x = root / "p" / "x"

    def scandir(path: str) -> Any:
        if path == str(root / "p"):
            x.mkdir()
            x.rmdir()
            x.touch()
        return real(path)

    real = os.scandir
    (root / "p").mkdir()
    monkeypatch.setattr(os, "scandir", scandir)
    assert told(watched.changes(), root) == ({"p/x"}, set(), set())
    monkeypatch.undo()
    x.unlink()
    write(x / "y")
    assert told(watched.changes(), root) == ({"p/x/y"}, set(), {"p/x"})


@linux
@by("method", ["inotify"], indirect=True)
def test_a_file_that_was_looked_for_while_its_folder_was_away_is_found_when_the_folder_is_back(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "n").mkdir()
    watched = open_watch(root)

    def lstat(path: str) -> os.stat_result:
        (root / "n").rename(root / "t")
        try:
            return real(path)
        finally:
            (root / "t").rename(root / "n")

    real = os.lstat
    write(root / "n" / "x")
    monkeypatch.setattr(os, "lstat", lstat)
    watched.drain()
    monkeypatch.undo()
    assert told(watched.changes(), root) == ({"n/x"}, set(), set())


@linux
@by("method", ["inotify"], indirect=True)
def test_a_watch_that_is_asked_for_again_is_never_replaced(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Linux 6.18 loses events of other processes while it replaces the mask of a watch: 5 in 500,000 times.
    from inotify_simple import INotify, flags

    masks: list[int] = []

    def add_watch(self: Any, path: str, mask: int) -> int:
        masks.append(mask)
        return int(real(self, path, mask))

    real = INotify.add_watch
    monkeypatch.setattr(INotify, "add_watch", add_watch)
    watched = open_watch(root)
    write(root / "a" / "b.go")
    watched.changes()
    assert all(mask & flags.MASK_ADD for mask in masks)


# --- folders that cannot be read, or go away in the meantime ---------------------------------------------


@linux
@by("method", ["inotify"], indirect=True)
def test_a_folder_that_may_not_be_watched_is_named_and_the_rest_is_watched(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "secret" / "a.go")
    write(root / "open" / "b.go")
    locked = {str(root / "secret")}
    fail_to_watch(monkeypatch, lambda path: fail(errno.EACCES) if path in locked else None)
    watched = open_watch(root)
    write(root / "open" / "b.go")
    changes = watched.changes()
    assert told(changes, root) == (set(), {"open/b.go"}, set())
    assert changes.note == f"cannot be read: {root / 'secret'}"
    locked.clear()
    assert told(watched.changes(), root) == ({"secret/a.go"}, set(), set())
    assert watched.changes().note is None


@by("method", ["inotify", "scan", "watchfiles"], indirect=True)
def test_a_folder_that_may_not_be_read_is_named_and_the_rest_is_known(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "secret" / "a.go")
    write(root / "open" / "b.go")
    locked = {str(root / "secret")}

    def scandir(path: str) -> Any:
        if path in locked:
            raise fail(errno.EACCES)
        return real(path)

    real = os.scandir
    monkeypatch.setattr(os, "scandir", scandir)
    watched = open_watch(root)
    write(root / "open" / "b.go")
    changes = watched.changes()
    assert told(changes, root) == (set(), {"open/b.go"}, set())
    assert f"cannot be read: {root / 'secret'}" in str(changes.note)
    locked.clear()
    write(root / "new" / "c.go")  # makes watchfiles look at folders
    assert told(watched.changes(), root) == ({"secret/a.go", "new/c.go"}, set(), set())


@by("method", ["inotify", "scan", "watchfiles"], indirect=True)
def test_folders_that_vanish_while_they_are_read_are_not_there(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abcd":
        write(root / name / "x.go")
        write(root / name / "sub" / "y.go")

    def scandir(path: str) -> Any:
        if path == str(root / "a") or path == str(root / "b" / "sub"):
            shutil.rmtree(path)
        found = real(path)
        if path == str(root / "c"):
            shutil.rmtree(path)
        return found

    real = os.scandir
    monkeypatch.setattr(os, "scandir", scandir)
    watched = open_watch(root)
    monkeypatch.undo()
    watched.changes()
    assert told_files(watched, root) == {"b/x.go", "d/x.go", "d/sub/y.go"}


def told_files(watched: Watch, root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in watched.files()}
