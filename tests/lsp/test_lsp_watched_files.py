"""Dynamic registration: a server hears of the files that it asked for, and of no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.bounded import bounded
from fakes.workspace import FakeWorkspace, Message, do, replies, request
from lsp_mcp.disk.changes import Changes
from lsp_mcp.lsp.life import watched_files
from lsp_mcp.lsp.life.watched_files import CHANGED, CREATED, DELETED, WatchedFiles

ROOT = Path("/w")


def register(watchers: list[Any], identifier: str = "1") -> Message:
    """A server's `client/registerCapability` for `watchers`."""
    registration = {
        "id": identifier,
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": {"watchers": watchers},
    }
    return {"id": f"r{identifier}", "method": "client/registerCapability", "params": {"registrations": [registration]}}


def unregister(identifier: str = "1") -> list[Any]:
    registration = {"id": identifier, "method": "workspace/didChangeWatchedFiles"}
    return request("u", "client/unregisterCapability", {"unregisterations": [registration]})


def told(fake: FakeWorkspace, life: int = 1) -> list[set[tuple[str, int]]]:
    """What each notification named: paths relative to the folder of the root, with the kind of change."""
    above = fake.root.parent.as_uri() + "/"
    return [
        {(event["uri"].removeprefix(above), event["type"]) for event in params["changes"]}
        for params in fake.params("workspace/didChangeWatchedFiles", life)
    ]


@bounded
async def test_only_files_that_match_are_told_in_one_notification(fake: FakeWorkspace) -> None:
    old, going = fake.write("old.txt", "1"), fake.write("sub/going.md", "1")
    async with fake.session() as session:
        await session.request("fake/do", do(["send", register([{"globPattern": "**/*.{txt,md}"}])]))
        await session.sync()
        fake.write("new.txt", "1")
        fake.write("sub/deep/new.md", "1")
        fake.write("sub/new.py", "1")
        fake.write("txt", "1")
        old.write_text("2")
        going.unlink()
        await session.sync()
        await session.sync()
        answers = replies(await session.request("fake/received", {}))
    assert answers["r1"] == {"jsonrpc": "2.0", "id": "r1", "result": None}
    assert told(fake) == [
        {("root/new.txt", CREATED), ("root/sub/deep/new.md", CREATED), ("root/old.txt", CHANGED)}
        | {("root/sub/going.md", DELETED)}
    ]


@bounded
async def test_without_a_registration_nothing_is_told(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        await session.sync()
        fake.write("a.txt", "1")
        await session.sync()
        await session.request("fake/do", do())
    assert told(fake) == []


@bounded
async def test_only_the_kinds_of_change_that_were_asked_for_are_told(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "1")
    watchers = [{"globPattern": "**/*.txt", "kind": 1 | 4}, {"globPattern": "**/*.md", "kind": 2}]
    async with fake.session() as session:
        await session.request("fake/do", do(["send", register(watchers)]))
        path.write_text("2")
        fake.write("b.md", "1")
        await session.sync()
        path.unlink()
        fake.write("c.txt", "1")
        fake.write("b.md", "2")
        await session.sync()
        await session.request("fake/do", do())
    assert told(fake) == [{("root/a.txt", DELETED), ("root/c.txt", CREATED), ("root/b.md", CHANGED)}]


@bounded
async def test_after_unregistration_nothing_is_told(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        await session.request(
            "fake/do",
            do(
                ["send", register([{"globPattern": "**/*.txt"}], "1")],
                ["send", register([{"globPattern": "**/*.md"}], "2")],
                unregister("1"),
                unregister("unknown"),
            ),
        )
        fake.write("a.txt", "1")
        fake.write("a.md", "1")
        await session.sync()
        await session.request("fake/do", do(unregister("2")))
        fake.write("b.md", "1")
        await session.sync()
        await session.request("fake/do", do())
    assert told(fake) == [{("root/a.md", CREATED)}]


@bounded
@pytest.mark.parametrize("form", ["uri", "folder"])
async def test_a_relative_pattern_is_matched_below_its_base(fake: FakeWorkspace, form: str) -> None:
    uri = (fake.root / "sub").as_uri()
    base = uri if form == "uri" else {"uri": uri, "name": "sub"}
    watchers = [{"globPattern": {"baseUri": base, "pattern": "*.txt"}}]
    async with fake.session() as session:
        await session.request("fake/do", do(["send", register(watchers)]))
        await session.sync()
        fake.write("a.txt", "1")
        fake.write("sub/b.txt", "1")
        fake.write("sub/sub/c.txt", "1")
        await session.sync()
        await session.request("fake/do", do())
    assert told(fake) == [{("root/sub/b.txt", CREATED)}]


@bounded
@pytest.mark.parametrize("form", ["relative", "absolute"])
async def test_a_base_outside_the_root_is_watched_from_the_registration_on(fake: FakeWorkspace, form: str) -> None:
    beside = fake.root.parent / "beside"
    (beside / "sub").mkdir(parents=True)
    (beside / "a.txt").write_text("1")
    pattern = {"baseUri": beside.as_uri(), "pattern": "**/*.txt"} if form == "relative" else f"{beside}/**/*.txt"
    async with fake.session() as session:
        await session.sync()
        await session.request("fake/do", do(["send", register([{"globPattern": pattern}])]))
        await session.sync()
        (beside / "a.txt").write_text("2")
        (beside / "sub" / "b.txt").write_text("1")
        (beside / "sub" / "c.md").write_text("1")
        fake.write("in.txt", "1")
        await session.sync()
        await session.request("fake/do", do())
    assert told(fake) == [{("beside/a.txt", CHANGED), ("beside/sub/b.txt", CREATED)}]


@bounded
async def test_a_base_that_is_missing_is_passed_over_until_it_exists(fake: FakeWorkspace) -> None:
    later = fake.root.parent / "later"
    watcher = {"globPattern": {"baseUri": later.as_uri(), "pattern": "**/*"}}
    async with fake.session() as session:
        await session.request("fake/do", do(["send", register([watcher])]))
        await session.sync()
        later.mkdir()
        await session.sync()
        (later / "a.txt").write_text("1")
        await session.sync()
        await session.request("fake/do", do())
    assert told(fake) == [{("later/a.txt", CREATED)}]


@bounded
async def test_a_watcher_that_cannot_be_understood_does_not_take_the_others_with_it(fake: FakeWorkspace) -> None:
    watchers = [
        {"globPattern": {"baseUri": "untitled:one", "pattern": "*"}},
        {"globPattern": {"pattern": "*"}},
        {"globPattern": 5},
        {},
        None,
        {"globPattern": "**/*.txt", "kind": "create"},
    ]
    async with fake.session() as session:
        await session.request("fake/do", do(["send", register(watchers)]))
        fake.write("a.txt", "1")
        await session.sync()
        answers = replies(await session.request("fake/received", {}))
    assert answers["r1"].get("result", "error") is None
    assert told(fake) == [{("root/a.txt", CREATED)}]


@bounded
async def test_a_change_that_came_before_the_registration_is_told_with_it(fake: FakeWorkspace) -> None:
    # The server may have read the file already, and only then asks to be told.
    path, other = fake.write("a.txt", "1"), fake.write("b.py", "1")
    async with fake.session() as session:
        await session.sync()
        path.write_text("2")
        other.write_text("2")
        await session.sync()
        await session.request("fake/do", do(["send", register([{"globPattern": "**/*.txt"}])]))
        await session.request("fake/do", do(["send", register([{"globPattern": "**/*.txt"}], "2")]))
        await session.sync()
        await session.request("fake/do", do())
    assert told(fake) == [{("root/a.txt", CHANGED)}]


@bounded
async def test_a_restarted_server_hears_of_what_it_registers_itself(fake: FakeWorkspace) -> None:
    fake.script(
        {"rules": {"initialized": [["send", register([{"globPattern": "**/*.md"}])]], "test/die": [["kill"]]}},
        {"rules": {"initialized": [["send", register([{"globPattern": "**/*.txt"}])]]}},
    )
    async with fake.session() as session:
        await session.request("test/die", {})
        fake.write("a.txt", "1")
        fake.write("a.md", "1")
        await session.sync()
        await session.request("fake/do", do())
    assert told(fake) == []
    assert told(fake, life=2) == [{("root/a.txt", CREATED)}]


# --- globs -------------------------------------------------------------------------------------------


def watched(*watchers: Any) -> WatchedFiles:
    there = WatchedFiles(ROOT)
    there.register("1", {"watchers": list(watchers)})
    return there


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("**/*.go", ["a.go", "b/a.go", "b/c/a.go", ".hidden/a.go", "b/.a.go"], ["a.gox", "ago", "a.go/b", "a.GO"]),
        ("*.go", ["a.go"], ["b/a.go"]),
        ("**", ["a", "b/c/d"], []),
        ("**/*", ["a", "b/c/d", ".x"], []),
        ("**/*.{go,mod,sum}", ["a.go", "b/go.mod", "go.sum"], ["a.gomod", "a.{go"]),
        ("**/{go.mod,go.work}", ["go.mod", "b/go.work"], ["xgo.mod"]),
        ("{a,b/**}/*.go", ["a/x.go", "b/x.go", "b/c/x.go"], ["x.go", "c/x.go"]),
        ("**/a?.go", ["ab.go", "x/aé.go"], ["a.go", "abc.go", "a/.go"]),
        ("**/[a-c].go", ["a.go", "x/c.go"], ["d.go", "ab.go"]),
        ("**/[!a-c].go", ["d.go"], ["a.go"]),
        ("sub/**/x.go", ["sub/x.go", "sub/a/b/x.go"], ["x.go", "other/x.go"]),
        ("/w/sub/**", ["sub/x", "sub/a/x"], ["x", "subx/x"]),
        ("/w/sub/x.go", ["sub/x.go"], ["sub/y.go", "sub/sub/x.go"]),
        ("**/ä b.go", ["ä b.go"], ["a b.go"]),
        ("**/a(b)+.go", ["a(b)+.go"], ["ab.go", "abb.go"]),
        ("**/~x", ["~x"], ["x"]),
    ],
)
def test_globs_match_as_the_specification_says(pattern: str, matching: list[str], others: list[str]) -> None:
    there = watched({"globPattern": pattern})
    paths = [ROOT / name for name in (*matching, *others)]
    assert there.wanted(paths, CHANGED) == sorted(ROOT / name for name in matching)


def test_the_folders_outside_the_root_are_those_of_its_globs(tmp_path: Path) -> None:
    (tmp_path / "go.work").write_text("go 1.23\n")
    there = watched(
        {"globPattern": "**/*.go"},
        {"globPattern": {"baseUri": "file:///w/sub", "pattern": "*"}},
        {"globPattern": {"baseUri": "file:///other", "pattern": "**"}},
        {"globPattern": "/third/a/**/*.go"},
        {"globPattern": f"{tmp_path}/go.work"},
        {"globPattern": "/fourth/missing"},
        {"globPattern": "/w/in/go.work"},
    )
    assert there.outside_folders() == {Path("/other"), Path("/third/a"), tmp_path}


def test_the_folder_above_the_root_is_not_watched_with_all_that_is_in_it() -> None:
    for glob in ({"baseUri": "file:///home", "pattern": "**/*"}, "/home/**"):
        there = WatchedFiles(Path("/home/me/project"))
        there.register("1", {"watchers": [{"globPattern": glob}]})
        assert there.outside_folders() == set()
        assert there.wanted([Path("/home/me/project/a.ts")], CREATED) == [Path("/home/me/project/a.ts")]


@pytest.mark.parametrize("glob", ["/**/*.go", "/*.go", {"baseUri": "file:///", "pattern": "**"}])
def test_a_whole_file_system_is_not_watched_but_what_is_known_of_it_is_told(glob: Any) -> None:
    there = watched({"globPattern": glob})
    assert there.outside_folders() == set()
    if glob != "/*.go":
        assert there.wanted([ROOT / "a.go"], CREATED) == [ROOT / "a.go"]


def test_options_in_another_form_watch_nothing() -> None:
    there = WatchedFiles(ROOT)
    there.register("1", None)
    there.register("2", {})
    assert there.wanted([ROOT / "a.go"], CREATED) == []
    assert there.outside_folders() == set()


def test_changes_kept_for_a_later_registration_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_files, "_MOST_KEPT", 2)
    there = WatchedFiles(ROOT)
    there.events(Changes(created=frozenset({ROOT / "a", ROOT / "b"}), deleted=frozenset({ROOT / "c"})))
    there.events(Changes(changed=frozenset({ROOT / "d"})))
    there.register("1", {"watchers": [{"globPattern": "**"}]})
    assert there.missed() == [{"uri": "file:///w/d", "type": CHANGED}]
    assert there.missed() == []
