"""What a watch promises, by each method, on a real file system."""

from __future__ import annotations

import mmap
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from disk.disk_helpers import Open, listing, told, write


def run_python(script: str, *arguments: str) -> None:
    """Run `script` in another process to its end."""
    subprocess.run([sys.executable, "-c", script, *arguments], check=True)


def text_of(path: Path) -> str:
    """The content of a file that may be gone in the meantime."""
    try:
        return path.read_text()
    except OSError:
        return ""


# --- single files ----------------------------------------------------------------------------------


def test_what_was_there_at_the_start_is_known_and_no_change(open_watch: Open, root: Path) -> None:
    write(root / "go.mod")
    write(root / "a" / "b.go")
    watch = open_watch(root)
    assert not watch.changes()
    assert set(watch.files()) == {root / "go.mod", root / "a" / "b.go"}
    assert list(watch.files("go.mod")) == [root / "go.mod"]
    assert list(watch.files("*.go")) == [root / "a" / "b.go"]
    assert list(watch.files("*.py")) == []


def test_a_file_is_created_changed_and_deleted(open_watch: Open, root: Path) -> None:
    watch = open_watch(root)
    write(root / "a.go")
    assert told(watch.changes(), root) == ({"a.go"}, set(), set())
    write(root / "a.go")
    assert told(watch.changes(), root) == (set(), {"a.go"}, set())
    (root / "a.go").unlink()
    assert told(watch.changes(), root) == (set(), set(), {"a.go"})
    assert not watch.changes()


def test_a_file_that_came_and_went_was_never_there(open_watch: Open, root: Path) -> None:
    watch = open_watch(root)
    write(root / "a.go")
    (root / "a.go").unlink()
    write(root / "d" / "a.go")
    shutil.rmtree(root / "d")
    assert not watch.changes()


def test_a_file_that_went_and_came_back_changed(open_watch: Open, root: Path) -> None:
    write(root / "a.go")
    watch = open_watch(root)
    (root / "a.go").unlink()
    write(root / "a.go")
    assert told(watch.changes(), root) == (set(), {"a.go"}, set())


def test_a_save_by_rename_is_a_change_of_the_file_alone(open_watch: Open, root: Path) -> None:
    write(root / "a.go")
    watch = open_watch(root)
    write(root / ".a.go.tmp")
    (root / ".a.go.tmp").replace(root / "a.go")
    assert told(watch.changes(), root) == (set(), {"a.go"}, set())


def test_a_renamed_file_is_deleted_and_created(open_watch: Open, root: Path) -> None:
    write(root / "a.go")
    watch = open_watch(root)
    (root / "a.go").rename(root / "b.go")
    assert told(watch.changes(), root) == ({"b.go"}, set(), {"a.go"})


def test_a_write_by_another_process_is_seen(open_watch: Open, root: Path) -> None:
    write(root / "a.go")
    watch = open_watch(root)
    run_python("import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('z' * 999999)", str(root / "a.go"))
    assert told(watch.changes(), root) == (set(), {"a.go"}, set())


def test_a_file_that_is_still_open_for_writing_is_seen_when_the_write_returned(open_watch: Open, root: Path) -> None:
    write(root / "a.go")
    watch = open_watch(root)
    with (root / "a.go").open("ab", buffering=0) as file:
        file.write(b"more")
        assert told(watch.changes(), root) == (set(), {"a.go"}, set())


@pytest.mark.parametrize("method", ["inotify", "scan"], indirect=True)  # watchfiles drops CLOSE_WRITE
def test_a_write_through_a_memory_map_is_seen_once_it_is_closed(open_watch: Open, root: Path) -> None:
    (root / "a.go").write_bytes(b"x" * 4096)
    watch = open_watch(root)
    with (root / "a.go").open("r+b") as file, mmap.mmap(file.fileno(), 4096) as mapped:
        mapped[0:4] = b"func"
        mapped.flush()
    assert told(watch.changes(), root) == (set(), {"a.go"}, set())


def test_300_writes_each_asked_about_at_once_are_all_seen(open_watch: Open, root: Path) -> None:
    watch = open_watch(root)
    missed = []
    for number in range(300):
        path = root / f"{number % 7}.go"
        write(path)
        changes = watch.changes()
        if changes.created | changes.changed != {path}:
            missed.append(number)
    assert missed == []


def test_300_writes_by_another_process_each_asked_about_at_once_are_all_seen(open_watch: Open, root: Path) -> None:
    watch = open_watch(root)
    script = """
import pathlib, sys
for number, _ in enumerate(sys.stdin):
    pathlib.Path(sys.argv[1]).write_text("y" * number)
    print(flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(root / "a.go")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdin
        assert writer.stdout
        missed = []
        for number in range(300):
            writer.stdin.write(b"\n")
            writer.stdin.flush()
            writer.stdout.readline()
            if not watch.changes():
                missed.append(number)
        writer.stdin.close()
    assert missed == []


def test_a_name_that_is_not_text_is_a_name_like_others(open_watch: Open, root: Path) -> None:
    watch = open_watch(root)
    path = root / os.fsdecode(b"caf\xe9.go")
    try:
        write(path)
    except OSError:
        pytest.skip("the file system wants names that are text")
    assert watch.changes().created == {path}
    write(path)
    assert watch.changes().changed == {path}
    path.unlink()
    assert watch.changes().deleted == {path}


def test_only_regular_files_are_files(open_watch: Open, root: Path) -> None:
    watch = open_watch(root)
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    assert not watch.changes()
    assert list(watch.files()) == []


def test_a_write_through_another_hard_link_is_seen_by_scan_only(open_watch: Open, root: Path, method: str) -> None:
    # The kernel names only the link that was written by, and walking to learn who has several costs too much.
    write(root / "a.go")
    (root.parent / "b.go").hardlink_to(root / "a.go")
    watch = open_watch(root)
    write(root.parent / "b.go")
    assert bool(watch.changes()) == (method == "scan")


# --- many files and folders ------------------------------------------------------------------------


def test_a_branch_switch_of_3000_files_is_one_exact_change(open_watch: Open, root: Path) -> None:
    for number in range(2000):
        write(root / f"p{number % 50}" / f"{number}.go")
    watch = open_watch(root)
    for number in range(3000):
        path = root / f"p{number % 50}" / f"{number}.go"
        if number < 1000:
            path.unlink()
        else:
            write(path)
    created, changed, deleted = told(watch.changes(), root)
    assert created == {f"p{number % 50}/{number}.go" for number in range(2000, 3000)}
    assert changed == {f"p{number % 50}/{number}.go" for number in range(1000, 2000)}
    assert deleted == {f"p{number % 50}/{number}.go" for number in range(1000)}
    assert not watch.changes()


def test_a_new_folder_comes_with_all_that_is_in_it(open_watch: Open, root: Path) -> None:
    watch = open_watch(root)
    write(root / "a" / "b" / "c" / "d.go")
    write(root / "a" / "e.go")
    assert told(watch.changes(), root) == ({"a/b/c/d.go", "a/e.go"}, set(), set())
    write(root / "a" / "b" / "c" / "d.go")
    assert told(watch.changes(), root) == (set(), {"a/b/c/d.go"}, set())


def test_questions_during_a_checkout_by_another_process_miss_nothing(open_watch: Open, root: Path) -> None:
    watch = open_watch(root)
    script = """
import pathlib, shutil, sys
root = pathlib.Path(sys.argv[1])
for number in range(150):
    folder = root / f"p{number}" / "q" / "r"
    folder.mkdir(parents=True)
    for name in "abc":
        (folder / f"{name}.go").write_text("w" * number)
    if number % 3 == 0:
        (root / f"p{number}").rename(root / f"moved{number}")
    if number % 5 == 0:
        shutil.rmtree(root / f"moved{number - number % 3}", ignore_errors=True)
"""
    known: dict[Path, str] = {}
    with subprocess.Popen([sys.executable, "-c", script, str(root)]) as writer:
        ended = False
        while not ended:
            ended = writer.poll() is not None
            changes = watch.changes()
            assert not changes.created & known.keys()
            assert changes.changed | changes.deleted <= known.keys()
            for path in changes.deleted:
                del known[path]
            for path in changes.created | changes.changed:
                known[path] = text_of(path)
    assert {path.relative_to(root).as_posix() for path in known} == listing(root)
    assert all(path.read_text() == text for path, text in known.items())
    assert {path.relative_to(root).as_posix() for path in watch.files()} == listing(root)


def test_files_of_a_renamed_folder_are_followed_to_its_new_name(open_watch: Open, root: Path) -> None:
    write(root / "old" / "sub" / "a.go")
    write(root / "old" / "b.go")
    watch = open_watch(root)
    (root / "old").rename(root / "new")
    assert told(watch.changes(), root) == (
        {"new/sub/a.go", "new/b.go"},
        set(),
        {"old/sub/a.go", "old/b.go"},
    )
    write(root / "new" / "sub" / "a.go")
    assert told(watch.changes(), root) == (set(), {"new/sub/a.go"}, set())


def test_a_folder_moved_below_a_new_folder_is_followed(open_watch: Open, root: Path) -> None:
    write(root / "old" / "sub" / "a.go")
    watch = open_watch(root)
    (root / "new").mkdir()
    (root / "old").rename(root / "new" / "old")
    assert told(watch.changes(), root) == ({"new/old/sub/a.go"}, set(), {"old/sub/a.go"})
    write(root / "new" / "old" / "sub" / "a.go")
    assert told(watch.changes(), root) == (set(), {"new/old/sub/a.go"}, set())
    write(root / "old" / "sub" / "a.go")
    assert told(watch.changes(), root) == ({"old/sub/a.go"}, set(), set())


def test_folders_that_swap_their_names_have_all_files_changed(open_watch: Open, root: Path) -> None:
    write(root / "a" / "same.go")
    write(root / "b" / "same.go")
    write(root / "b" / "more.go")
    watch = open_watch(root)
    (root / "a").rename(root / "t")
    (root / "b").rename(root / "a")
    (root / "t").rename(root / "b")
    assert told(watch.changes(), root) == ({"a/more.go"}, {"a/same.go", "b/same.go"}, {"b/more.go"})
    write(root / "a" / "same.go")
    assert told(watch.changes(), root) == (set(), {"a/same.go"}, set())


def test_a_folder_moved_out_takes_its_files_along_and_back(open_watch: Open, root: Path) -> None:
    write(root / "a" / "b" / "c.go")
    watch = open_watch(root)
    (root / "a").rename(root.parent / "outside")
    assert told(watch.changes(), root) == (set(), set(), {"a/b/c.go"})
    write(root.parent / "outside" / "b" / "c.go")
    assert not watch.changes()
    (root.parent / "outside").rename(root / "back")
    assert told(watch.changes(), root) == ({"back/b/c.go"}, set(), set())


def test_a_deleted_folder_takes_its_files_along(open_watch: Open, root: Path) -> None:
    write(root / "a" / "b" / "c.go")
    watch = open_watch(root)
    shutil.rmtree(root / "a")
    assert told(watch.changes(), root) == (set(), set(), {"a/b/c.go"})
    write(root / "a" / "b" / "c.go")
    assert told(watch.changes(), root) == ({"a/b/c.go"}, set(), set())


def test_a_file_and_a_folder_can_follow_each_other_under_one_name(open_watch: Open, root: Path) -> None:
    write(root / "x")
    watch = open_watch(root)
    (root / "x").unlink()
    write(root / "x" / "a.go")
    assert told(watch.changes(), root) == ({"x/a.go"}, set(), {"x"})
    shutil.rmtree(root / "x")
    write(root / "x")
    assert told(watch.changes(), root) == ({"x"}, set(), {"x/a.go"})


# --- ignored folders and symlinks ------------------------------------------------------------------


def test_ignored_folders_are_as_if_they_were_not_there(open_watch: Open, root: Path) -> None:
    write(root / ".git" / "HEAD")
    write(root / "a" / "node_modules" / "x" / "i.js")
    watch = open_watch(root)
    assert list(watch.files()) == []
    write(root / ".git" / "HEAD")
    write(root / "a" / "node_modules" / "x" / "i.js")
    write(root / "b" / "node_modules" / "y.js")
    assert not watch.changes()


def test_a_folder_that_gets_or_loses_an_ignored_name_goes_or_comes(open_watch: Open, root: Path) -> None:
    write(root / "a" / "x.js")
    watch = open_watch(root)
    (root / "a").rename(root / "node_modules")
    assert told(watch.changes(), root) == (set(), set(), {"a/x.js"})
    (root / "node_modules").rename(root / "a")
    assert told(watch.changes(), root) == ({"a/x.js"}, set(), set())


def test_a_root_in_an_ignored_folder_is_watched(open_watch: Open, root: Path) -> None:
    write(root / "node_modules" / "x" / "i.js")
    watch = open_watch(root)
    watch.add_root(root / "node_modules" / "x")
    assert not watch.changes()
    write(root / "node_modules" / "x" / "i.js")
    write(root / "node_modules" / "y" / "i.js")
    assert told(watch.changes(), root) == (set(), {"node_modules/x/i.js"}, set())


def test_a_symlinked_file_changes_with_its_target(open_watch: Open, root: Path) -> None:
    target = root.parent / "target.go"
    write(target)
    (root / "link.go").symlink_to(target)
    watch = open_watch(root)
    assert list(watch.files()) == [root / "link.go"]
    write(target)
    assert told(watch.changes(), root) == (set(), {"link.go"}, set())
    assert not watch.changes()
    target.unlink()
    assert told(watch.changes(), root) == (set(), set(), {"link.go"})
    write(target)
    assert told(watch.changes(), root) == ({"link.go"}, set(), set())
    (root / "link.go").unlink()
    assert told(watch.changes(), root) == (set(), set(), {"link.go"})
    write(target)
    assert not watch.changes()


def test_a_symlink_made_later_is_a_file_when_it_leads_to_one(open_watch: Open, root: Path) -> None:
    watch = open_watch(root)
    (root / "link.go").symlink_to(root.parent / "target.go")
    assert not watch.changes()
    write(root.parent / "target.go")
    assert told(watch.changes(), root) == ({"link.go"}, set(), set())
    (root / "link.go").unlink()
    write(root / "link.go")
    assert told(watch.changes(), root) == (set(), {"link.go"}, set())
    write(root.parent / "target.go")
    assert not watch.changes()


def test_a_symlinked_folder_is_not_followed(open_watch: Open, root: Path) -> None:
    outside = root.parent / "outside"
    write(outside / "a.go")
    (root / "before").symlink_to(outside)
    watch = open_watch(root)
    (root / "after").symlink_to(outside)
    (root / "loop").symlink_to(root)
    write(outside / "a.go")
    write(outside / "b.go")
    assert not watch.changes()
    assert list(watch.files()) == []


def test_a_folder_that_a_symlink_replaces_takes_its_files_along(open_watch: Open, root: Path) -> None:
    write(root / "a" / "x.go")
    watch = open_watch(root)
    (root / "a").rename(root.parent / "outside")
    (root / "a").symlink_to(root.parent / "outside")
    assert told(watch.changes(), root) == (set(), set(), {"a/x.go"})


# --- roots -----------------------------------------------------------------------------------------


def test_a_root_may_be_a_symlink_and_keeps_the_path_it_was_given(open_watch: Open, root: Path) -> None:
    write(root / "a.go")
    given = root.parent / "given"
    given.symlink_to(root)
    watch = open_watch(given)
    assert list(watch.files()) == [given / "a.go"]
    write(root / "a.go")
    assert told(watch.changes(), given) == (set(), {"a.go"}, set())


def test_a_root_added_above_knows_what_is_there_and_tells_each_change_once(open_watch: Open, root: Path) -> None:
    write(root / "module" / "a.go")
    write(root / "go.work")
    watch = open_watch(root / "module")
    write(root / "module" / "b.go")
    watch.add_root(root)
    assert told(watch.changes(), root) == ({"module/b.go"}, set(), set())
    assert {path.relative_to(root).as_posix() for path in watch.files()} == listing(root)
    assert len(list(watch.files())) == 3
    write(root / "module" / "a.go")
    write(root / "go.work")
    (root / "module" / "b.go").unlink()
    assert told(watch.changes(), root) == (set(), {"module/a.go", "go.work"}, {"module/b.go"})
    shutil.rmtree(root / "module")
    assert told(watch.changes(), root) == (set(), set(), {"module/a.go"})
    write(root / "module" / "a.go")
    assert told(watch.changes(), root) == ({"module/a.go"}, set(), set())


def test_a_root_added_above_one_that_was_just_replaced_hides_no_change(open_watch: Open, root: Path) -> None:
    write(root / "module" / "a.go")
    write(root / "module" / "b.go")
    watch = open_watch(root / "module")
    shutil.rmtree(root / "module")
    write(root / "module" / "a.go")
    write(root / "module" / "c.go")
    watch.add_root(root)
    assert told(watch.changes(), root) == ({"module/c.go"}, {"module/a.go"}, {"module/b.go"})


def test_a_root_added_inside_changes_nothing(open_watch: Open, root: Path) -> None:
    write(root / "module" / "a.go")
    watch = open_watch(root)
    watch.add_root(root / "module")
    watch.add_root(root / "coming")
    watch.add_root(root)
    write(root / "module" / "a.go")
    write(root / "coming" / "b.go")
    assert told(watch.changes(), root) == ({"coming/b.go"}, {"module/a.go"}, set())
    assert len(list(watch.files())) == 2
    shutil.rmtree(root / "coming")
    assert told(watch.changes(), root) == (set(), set(), {"coming/b.go"})


def test_a_root_that_is_not_there_is_watched_once_it_is(open_watch: Open, root: Path) -> None:
    watch = open_watch(root, root.parent / "later")
    assert "no such folder" in str(watch.changes().note)
    write(root.parent / "later" / "a.go")
    assert watch.changes().created == {root.parent / "later" / "a.go"}
    write(root.parent / "later" / "a.go")
    changes = watch.changes()
    assert changes.changed == {root.parent / "later" / "a.go"}
    assert "no such folder" not in str(changes.note)


def test_a_root_that_is_deleted_and_made_again_is_watched_again(open_watch: Open, root: Path) -> None:
    write(root / "a.go")
    write(root / "sub" / "b.go")
    watch = open_watch(root)
    shutil.rmtree(root)
    changes = watch.changes()
    assert told(changes, root) == (set(), set(), {"a.go", "sub/b.go"})
    assert "no such folder" in str(changes.note)
    write(root / "a.go")
    assert told(watch.changes(), root) == ({"a.go"}, set(), set())
    write(root / "a.go")
    assert told(watch.changes(), root) == (set(), {"a.go"}, set())


def test_a_root_replaced_between_two_questions_is_watched_again(open_watch: Open, root: Path) -> None:
    write(root / "a.go")
    write(root / "b.go")
    watch = open_watch(root)
    shutil.rmtree(root)
    write(root / "a.go")
    assert told(watch.changes(), root) == (set(), {"a.go"}, {"b.go"})
    write(root / "a.go")
    write(root / "sub" / "c.go")
    assert told(watch.changes(), root) == ({"sub/c.go"}, {"a.go"}, set())


def test_a_root_whose_parent_is_renamed_is_gone(open_watch: Open, root: Path) -> None:
    write(root / "inner" / "a.go")
    watch = open_watch(root / "inner")
    root.rename(root.parent / "elsewhere")
    assert told(watch.changes(), root) == (set(), set(), {"inner/a.go"})
    write(root.parent / "elsewhere" / "inner" / "a.go")
    assert not watch.changes()


def test_one_folder_under_two_roots_is_told_under_both(open_watch: Open, root: Path) -> None:
    (root.parent / "alias").symlink_to(root)
    watch = open_watch(root, root.parent / "alias")
    write(root / "sub" / "a.go")
    expected = {root / "sub" / "a.go", root.parent / "alias" / "sub" / "a.go"}
    assert watch.changes().created == expected
    write(root / "sub" / "a.go")
    assert watch.changes().changed == expected


# --- the queue -------------------------------------------------------------------------------------


def readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])


@pytest.mark.parametrize("method", ["inotify"], indirect=True)
def test_draining_empties_the_queue_and_loses_nothing(open_watch: Open, root: Path) -> None:
    write(root / "a.go")
    watch = open_watch(root)
    descriptor = watch.fileno()
    assert descriptor is not None
    assert not readable(descriptor)
    write(root / "a.go")
    write(root / "new" / "b.go")
    assert readable(descriptor)
    watch.drain()
    assert not readable(descriptor)
    write(root / "new" / "c.go")
    (root / "a.go").unlink()
    assert told(watch.changes(), root) == ({"new/b.go", "new/c.go"}, set(), {"a.go"})


@pytest.mark.parametrize("method", ["watchfiles", "scan"], indirect=True)
def test_a_method_without_a_queue_has_nothing_to_drain(open_watch: Open, root: Path) -> None:
    watch = open_watch(root)
    assert watch.fileno() is None
    write(root / "a.go")
    watch.drain()
    assert told(watch.changes(), root) == ({"a.go"}, set(), set())


def test_closing_twice_and_without_a_start_is_fine(open_watch: Open, root: Path) -> None:
    watch = open_watch(root)
    watch.close()
    watch.close()
