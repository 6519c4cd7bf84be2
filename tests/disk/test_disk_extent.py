"""How far a workspace reaches, and what is told of one that is too large."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from disk.disk_helpers import Open, told, write
from lsp_mcp.disk import Watch, descriptors, extent
from lsp_mcp.disk import feed as feeds
from lsp_mcp.disk.extent import Extent, TooLargeError
from lsp_mcp.disk.feed import FeedHub
from lsp_mcp.disk.mounts import other_mounts
from lsp_mcp.errors import ConfigError, UnavailableError

linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify and mountinfo are Linux's")
METHODS = ["scan", *(["inotify"] if sys.platform == "linux" else [])]


async def silent(done: float, total: float | None, message: str) -> None:
    pass


def many(root: Path, folders: int, files: int) -> None:
    for folder in range(folders):
        (root / f"d{folder}").mkdir(parents=True)
        for file in range(files):
            (root / f"d{folder}" / f"{file}.go").touch()


@pytest.mark.parametrize("method", METHODS)
def test_a_folder_with_too_many_files_is_not_watched_and_keeps_nothing(root: Path, method: Any) -> None:
    many(root, 20, 20)
    watch = Watch([root], method=method, most_files=100)
    with pytest.raises(TooLargeError, match="more than 100 files"):
        watch.start()
    assert watch.files_read < 200, "it stops where it is too much"
    assert watch.fileno() is None


@pytest.mark.parametrize("method", METHODS)
def test_files_that_come_later_are_not_too_many(root: Path, method: Any) -> None:
    watch = Watch([root], method=method, most_files=10)
    watch.start()
    many(root, 5, 5)
    assert len(watch.changes().created) == 25
    watch.close()


def test_a_workspace_that_is_too_large_is_refused_with_the_way_out_and_taken_once_it_is_not(root: Path) -> None:
    many(root, 3, 5)

    async def ask() -> None:
        hub = FeedHub(root, (), most_files=10)
        for _ in range(2):
            with pytest.raises(ConfigError, match=r"more than 10 files\. Start lsp-mcp in one project, or pass"):
                await hub.wait(30, silent)
        for file in (root / "d0").iterdir():
            file.unlink()
        for file in (root / "d1").iterdir():
            file.unlink()
        await hub.wait(30, silent)
        assert len(list(hub.files())) == 5
        hub.close()

    asyncio.run(ask())


def test_reading_is_told_and_bounded_and_goes_on_for_the_next_question(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(root, 3, 1)
    held, told_ = threading.Event(), list[str]()
    monkeypatch.setattr(feeds, "_REPORT_EACH", 0.01)
    monkeypatch.setattr(feeds, "_LEAST_WAIT", 0.05)
    read = Extent.read

    def slowly(self: Extent, count: int) -> None:
        read(self, count)
        held.wait(60)

    monkeypatch.setattr(Extent, "read", slowly)

    async def report(done: float, total: float | None, message: str) -> None:
        told_.append(message)

    async def ask() -> None:
        hub = FeedHub(root, ())
        with pytest.raises(UnavailableError, match=r"is still being read, 3 files so far\. Ask again later"):
            await hub.wait(0, report)
        held.set()
        await hub.wait(60, report)
        assert len(list(hub.files())) == 3
        hub.close()

    asyncio.run(ask())
    assert "reading the workspace: 3 files" in told_


def test_a_workspace_that_is_closed_is_read_no_further(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many(root, 30, 1)
    reading, closed, folders = threading.Event(), threading.Event(), list[int]()
    read = Extent.read

    def slowly(self: Extent, count: int) -> None:
        folders.append(count)
        reading.set()
        closed.wait(60)
        read(self, count)

    monkeypatch.setattr(Extent, "read", slowly)

    async def begin() -> None:
        hub = FeedHub(root, ())
        starting = asyncio.create_task(hub.start())
        await asyncio.to_thread(reading.wait, 60)
        hub.close()
        closed.set()
        await asyncio.wait([starting])

    asyncio.run(begin())  # waits for the thread
    assert len(folders) == 1


@linux
@pytest.mark.parametrize("method", ["auto"], indirect=True)
def test_a_workspace_leaves_watches_to_others_and_is_scanned_instead(
    open_watch: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = tmp_path / "max_user_watches"
    limit.write_text("20\n")
    monkeypatch.setattr(descriptors, "_LIMIT", limit)
    many(root, 20, 1)
    watched = open_watch(root)
    changes = watched.changes()
    assert changes.note == ("watching by scan: more than 10 folders, the share of fs.inotify.max_user_watches")
    write(root / "d7" / "new.go")
    assert told(watched.changes(), root)[0] == {"d7/new.go"}


MOUNTS = r"""22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:50 / /home/me/my\040code rw shared:1 master:2 - nfs4 host:/export rw
24 22 0:5 / /proc rw - proc proc rw
25 24 0:6 / /proc/sys/fs/binfmt_misc rw - binfmt_misc none rw
26 22 254:0 /srv /home/me/bound rw - ext4 /dev/vda rw
27 22 0:60 / /home/me/tmp rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        ("/home/me", {"/home/me/my code": "nfs4", "/home/me/tmp": "tmpfs"}),
        ("/home/me/my code", {}),
        ("/home/me/bound", {}),
        ("/proc", {"/proc/sys/fs/binfmt_misc": "binfmt_misc"}),
        ("/home/m", {}),
    ],
)
def test_what_is_mounted_below_a_folder_from_elsewhere_is_found(folder: str, found: dict[str, str]) -> None:
    assert other_mounts(folder, MOUNTS) == found


@pytest.mark.parametrize("method", METHODS, indirect=True)
def test_what_is_mounted_below_the_root_is_left_out_and_told_if_it_may_have_sources(
    open_watch: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = {str(root / "other"): "xfs", str(root / "proc"): "proc"}
    monkeypatch.setattr(extent, "mounts_below", lambda path: mounts if path == str(root) else {})
    for name in ("own", "other", "proc"):
        write(root / name / "a.go")
    watched = open_watch(root)
    assert {path.parent.name for path in watched.files()} == {"own"}
    note = watched.changes().note or ""
    assert f"another file system, not watched: {root / 'other'}" in note
    assert "proc" not in note
    write(root / "other" / "b.go")
    write(root / "own" / "b.go")
    assert told(watched.changes(), root)[0] == {"own/b.go"}
