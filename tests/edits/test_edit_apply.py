"""`edits.apply`: all of a plan reaches the disk, byte for byte, or nothing does."""

import errno
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fakes.full_disk import full_disk
from lsp_mcp.edits.apply import AppliedEdit, apply_plan
from lsp_mcp.edits.journal import Journal, take_back_unfinished, take_news
from lsp_mcp.edits.plan import (
    CreateFile,
    DeleteFile,
    EditPlan,
    FileChange,
    RenameFile,
    Step,
    plan_workspace_edit,
)
from lsp_mcp.edits.policy import EditPolicy
from lsp_mcp.errors import EditError
from lsp_mcp.protocol.lsp import Range, WorkspaceEdit
from lsp_mcp.text import PositionEncoding, Text
from lsp_mcp.uris import path_uri


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def change(path: Path, before: str, after: str) -> FileChange:
    return FileChange(path, Text(before), after, ())


def apply(root: Path, *steps: Step) -> AppliedEdit:
    return apply_plan(EditPolicy(root).check(EditPlan(steps)))


def write(path: Path, content: str | bytes = "old\n", mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)
    return path


def tree(folder: Path) -> dict[str, object]:
    """All there is in `folder`: kind, mode and content by relative name."""

    def describe(path: Path) -> object:
        if path.is_symlink():
            return "link to", str(path.readlink())
        mode = path.lstat().st_mode
        return mode, path.read_bytes() if stat.S_ISREG(mode) else None

    return {str(path.relative_to(folder)): describe(path) for path in sorted(folder.rglob("*"))}


def contents(folder: Path) -> dict[str, bytes]:
    """The content of each file in `folder` by relative name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(root: Path, *steps: Step, match: str) -> None:
    """The steps are refused and leave all as it was, also outside the root."""
    before = tree(root.parent)
    with pytest.raises(EditError, match=match) as caught:
        apply(root, *steps)
    assert "othing was changed" in str(caught.value)
    assert tree(root.parent) == before


# --- bytes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "line", "character"),
    [
        ('// été\nfmt.Println("é漢字", Foo(), "x")\n', 1, 19),
        ('fmt.Println("😀👩‍👩‍👧e\u0301", Foo(), "x")\n', 0, 28),
        ("package p\r\n\r\nfunc Foo() {}\r\n", 2, 5),
        ("\ufeffFoo\r\n", 0, 1),
        ("a\r\nb\nc\rd Foo\n\n", 2, 4),
        ("x\x00\x0c\u2028\u0085Foo", 0, 5),
    ],
    ids=["accents and CJK", "emoji", "CRLF", "BOM", "mixed line ends", "no final newline"],
)
def test_only_the_renamed_name_changes_in_the_files_bytes(root: Path, content: str, line: int, character: int) -> None:
    path = write(root / "a.go", content)
    range_: Range = {
        "start": {"line": line, "character": character},
        "end": {"line": line, "character": character + 3},
    }
    edit: WorkspaceEdit = {"changes": {path_uri(path): [{"range": range_, "newText": "Renämed"}]}}
    encoding = PositionEncoding("utf-16", lone_cr_ends_line=False)
    plan = plan_workspace_edit(edit, lambda _: Text(content), encoding, lambda _: None)

    assert apply_plan(EditPolicy(root).check(plan)) == AppliedEdit()
    assert path.read_bytes() == content.encode().replace(b"Foo", "Renämed".encode())
    assert content.count("Foo") == 1


def test_an_empty_plan_touches_nothing(root: Path) -> None:
    assert apply(root) == AppliedEdit()


def test_a_file_that_is_changed_twice_gets_the_last_text(root: Path) -> None:
    path = write(root / "a.go", "1")
    apply(root, change(path, "1", "2"), change(path, "2", "3"))
    assert path.read_bytes() == b"3"


# --- a file's mode, owner and links -----------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664, 0o4711])
def test_a_file_keeps_its_mode(root: Path, mode: int) -> None:
    path = write(root / "a.sh", "old", mode)
    apply(root, change(path, "old", "new"))
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_file_keeps_its_owner(root: Path) -> None:
    path = write(root / "a.go", "old")
    if os.geteuid() == 0:
        os.chown(path, 65534, 65533)
    owner = path.stat().st_uid, path.stat().st_gid
    apply(root, change(path, "old", "new"))
    assert (path.stat().st_uid, path.stat().st_gid) == owner


def test_a_symlink_stays_and_its_target_changes(root: Path) -> None:
    target = write(root / "sub/real.go", "old")
    link = root / "link.go"
    link.symlink_to("sub/real.go")
    apply(root, change(link, "old", "new"))
    assert str(link.readlink()) == "sub/real.go"
    assert not target.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_root_that_is_reached_through_a_symlink_holds_its_files(root: Path) -> None:
    write(root / "a.go", "old")
    alias = root.parent / "alias"
    alias.symlink_to(root)
    apply(alias, change(alias / "a.go", "old", "new"))
    apply(root, change(alias / "a.go", "new", "newer"))
    assert (root / "a.go").read_bytes() == b"newer"


def test_the_other_names_of_a_hard_linked_file_keep_the_old_text(root: Path) -> None:
    path = write(root / "a.go", "old")
    (root / "b.go").hardlink_to(path)
    apply(root, change(path, "old", "new"))
    assert (path.read_bytes(), (root / "b.go").read_bytes()) == (b"new", b"old")


def test_a_disk_without_hard_links_will_do(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(root / "a.go", "old", 0o755)
    monkeypatch.setattr(os, "link", no_links)
    apply(root, change(path, "old", "new"))
    assert tree(root) == {"a.go": (stat.S_IFREG | 0o755, b"new")}


def test_a_disk_that_has_neither_links_nor_room_is_left_as_it_was(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half_a_copy(_: Path, backup: Path) -> None:
        backup.write_bytes(b"ol")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = write(root / "a.go", "old")
    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(shutil, "copy2", half_a_copy)
    refused(root, change(path, "old", "new"), match="No space left")


def no_links(*_: object, **__: object) -> None:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


# --- what is refused -------------------------------------------------------------------------------


def test_a_file_that_another_program_changed_is_refused(root: Path) -> None:
    path = write(root / "a.go", "theirs")
    refused(root, change(path, "old", "new"), match=r"a\.go was changed by another program")


@pytest.mark.parametrize("theirs", ["old\r\n", "\ufeffold\n", "old"])
def test_line_ends_marks_and_final_newlines_count_as_changes(root: Path, theirs: str) -> None:
    path = write(root / "a.go", theirs)
    refused(root, change(path, "old\n", "new\n"), match="another program")


def test_one_changed_file_keeps_all_others_from_changing(root: Path) -> None:
    a, b = write(root / "a.go", "old"), write(root / "b.go", "theirs")
    refused(root, change(a, "old", "new"), RenameFile(a, root / "c.go"), change(b, "old", "new"), match=r"b\.go")


def test_a_file_that_is_changed_while_the_texts_are_written_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = write(root / "a.go", "old"), write(root / "b.go", "old")
    fsync = os.fsync

    def meddle(descriptor: int) -> None:
        fsync(descriptor)
        a.write_bytes(b"theirs")

    monkeypatch.setattr(os, "fsync", meddle)
    with pytest.raises(EditError, match=r"a\.go was changed by another program.*Nothing was changed"):
        apply(root, change(a, "old", "new"), change(b, "old", "new"))
    assert contents(root) == {"a.go": b"theirs", "b.go": b"old"}


def test_a_mode_that_is_changed_while_the_texts_are_written_is_seen(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(root / "a.go", "old")
    fsync = os.fsync

    def meddle(descriptor: int) -> None:
        fsync(descriptor)
        path.chmod(0o755)

    monkeypatch.setattr(os, "fsync", meddle)
    with pytest.raises(EditError, match="Another program"):
        apply(root, change(path, "old", "new"))
    assert tree(root) == {"a.go": (stat.S_IFREG | 0o755, b"old")}


def test_a_missing_file_is_refused(root: Path) -> None:
    refused(root, change(root / "a.go", "", "new"), match=r"No such file.*a\.go")


@pytest.mark.parametrize("content", [b"\xff\xfeo\0l\0d\0", b"caf\xe9", b"\xed\xa0\x80"])
def test_a_file_that_is_not_utf_8_is_refused(root: Path, content: bytes) -> None:
    path = write(root / "a.go", content)
    refused(root, change(path, content.decode("utf-8", "replace"), "new"), match="not UTF-8")


def test_a_new_text_that_is_not_utf_8_is_refused(root: Path) -> None:
    path = write(root / "a.go", "old")
    refused(root, change(path, "old", "half a pair: \ud83d"), match="utf-8")


def test_a_folder_a_fifo_and_a_device_are_refused_without_waiting(root: Path) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "fifo")
    (root / "zero").symlink_to("/dev/zero")
    refused(root, change(root / "folder", "", "new"), match="not a regular file")
    refused(root, change(root / "fifo", "", "new"), match="not a regular file")
    refused(root, change(root / "zero", "", "new"), match="outside the workspace")


def test_a_read_only_file_is_refused_even_for_root(root: Path) -> None:
    path = write(root / "a.go", "old", 0o444)
    other = write(root / "b.go", "old")
    refused(root, change(path, "old", "new"), match="read-only")
    refused(root, DeleteFile(path), match="read-only")
    refused(root, CreateFile(path, overwrite=True), match="read-only")
    refused(root, RenameFile(other, path, overwrite=True), match="read-only")
    refused(root, DeleteFile(root / "sub"), DeleteFile(path), match="not there")


def test_a_folder_with_something_read_only_in_it_is_not_deleted(root: Path) -> None:
    write(root / "p/q/a.go", "old", 0o444)
    refused(root, DeleteFile(root / "p", recursive=True), match=r"a\.go is read-only")


def outside(root: Path) -> Iterator[tuple[str, Path]]:
    write(root.parent / "outside/a.go", "old")
    write(root.parent / "root-not/a.go", "old")
    (root / "folder").symlink_to("../outside")
    (root / "file.go").symlink_to("../outside/a.go")
    (root / "sub").mkdir()
    yield "beside the root", root.parent / "outside/a.go"
    yield "with the root's name in front", root.parent / "root-not/a.go"
    yield "by dots", root / "sub/../../outside/a.go"
    yield "by dots through nothing", root / "none/../../outside/a.go"
    yield "by a symlinked folder", root / "folder/a.go"
    yield "the root", root
    yield "the root by dots", root / "sub/.."
    yield "above the root by dots", root / ".."


def test_no_path_leads_out_of_the_root(root: Path) -> None:
    inside = write(root / "in.go", "old")
    for how, path in [*outside(root), ("by a symlinked file", root / "file.go")]:
        refused(root, change(inside, "old", "new"), change(path, "old", "new"), match="outside the workspace")
        assert inside.read_bytes() == b"old", how


def test_no_create_rename_or_delete_leads_out_of_the_root(root: Path) -> None:
    inside = write(root / "in.go", "old")
    for how, path in outside(root):
        for step in (
            CreateFile(path, overwrite=True, ignore_if_exists=True),
            RenameFile(inside, path, overwrite=True),
            RenameFile(path, root / "new.go"),
            DeleteFile(path, recursive=True),
        ):
            refused(root, change(inside, "old", "new"), step, match="outside the workspace")
            assert inside.exists(), how
    refused(root, CreateFile(root / "folder/new.go"), match="outside the workspace")
    refused(root, RenameFile(inside, root / "folder/new/new.go"), match="outside the workspace")


def test_a_folder_that_is_renamed_takes_no_way_out_along(root: Path) -> None:
    write(root.parent / "outside/a.go", "old")
    (root / "p").mkdir()
    (root / "p/link").symlink_to("../../outside")
    q = root / "q"
    refused(root, RenameFile(root / "p", q), change(q / "link/a.go", "old", "new"), match="outside")
    refused(root, RenameFile(root / "p", q), DeleteFile(q / "link/a.go"), match="outside")


def test_a_symlink_that_leads_out_may_itself_be_renamed_and_deleted(root: Path) -> None:
    write(root.parent / "outside/a.go", "old")
    (root / "link").symlink_to("../outside")
    apply(root, RenameFile(root / "link", root / "other"))
    apply(root, DeleteFile(root / "other"))
    assert tree(root.parent).keys() == {"outside", "outside/a.go", "root"}


def test_a_file_that_is_changed_by_two_names_is_refused(root: Path) -> None:
    path = write(root / "a.go", "old")
    (root / "b.go").symlink_to("a.go")
    refused(root, change(path, "old", "1"), change(root / "b.go", "old", "2"), match="two names")


# --- create, rename, delete ------------------------------------------------------------------------


def test_a_file_is_created_with_the_folders_it_needs_and_its_text(root: Path) -> None:
    path = root / "p/q/a.go"
    assert apply(root, CreateFile(path), change(path, "", "new")) == AppliedEdit()
    assert path.read_bytes() == b"new"


def test_a_created_file_has_the_mode_that_any_program_would_give_it(root: Path) -> None:
    (root / "ordinary").touch()
    apply(root, CreateFile(root / "a.go"))
    assert (root / "a.go").stat().st_mode == (root / "ordinary").stat().st_mode


def test_creating_what_is_there_depends_on_the_options(root: Path) -> None:
    path = write(root / "a.sh", "old", 0o755)
    refused(root, CreateFile(path), match="there already")
    assert apply(root, CreateFile(path, ignore_if_exists=True)) == AppliedEdit()
    assert path.read_bytes() == b"old"
    overwritten = apply(root, CreateFile(path, overwrite=True, ignore_if_exists=True), change(path, "", "new"))
    assert overwritten == AppliedEdit()
    assert tree(root) == {"a.sh": (stat.S_IFREG | 0o755, b"new")}


def test_a_file_is_renamed_with_its_changes_before_and_after(root: Path) -> None:
    a, b = write(root / "a.go", "1", 0o755), root / "p/b.go"
    applied = apply(root, change(a, "1", "2"), RenameFile(a, b), change(b, "2", "3"))
    assert applied == AppliedEdit(renamed=((a, b),))
    assert tree(root).keys() == {"p", "p/b.go"}
    assert tree(root)["p/b.go"] == (stat.S_IFREG | 0o755, b"3")


def test_a_folder_is_renamed_with_all_that_is_in_it(root: Path) -> None:
    write(root / "p/a.go", "package p")
    write(root / "p/sub/data.bin", b"\xff")
    q = root / "q"
    applied = apply(root, RenameFile(root / "p", q), change(q / "a.go", "package p", "package q"))
    assert applied == AppliedEdit(renamed=((root / "p", q),))
    assert contents(root) == {"q/a.go": b"package q", "q/sub/data.bin": b"\xff"}


def test_files_change_places(root: Path) -> None:
    a, b, c = write(root / "a.go", "a"), write(root / "b.go", "b"), root / "c.go"
    apply(root, RenameFile(a, c), RenameFile(b, a), RenameFile(c, b), change(a, "b", "b!"))
    assert (a.read_bytes(), b.read_bytes(), c.exists()) == (b"b!", b"a", False)


def test_a_new_file_takes_the_name_of_one_that_was_renamed(root: Path) -> None:
    a, b = write(root / "a.go", "old"), root / "b.go"
    apply(root, RenameFile(a, b), CreateFile(a), change(a, "", "new"), change(b, "old", "older"))
    assert (a.read_bytes(), b.read_bytes()) == (b"new", b"older")


def test_renaming_onto_what_is_there_depends_on_the_options(root: Path) -> None:
    a, b = write(root / "a.go", "a"), write(root / "b.go", "b")
    write(root / "p/c.go")
    refused(root, RenameFile(a, b), match=r"b\.go, which is there")
    refused(root, RenameFile(a, root / "p", overwrite=True), match="p, which is there")
    assert apply(root, RenameFile(a, b, ignore_if_exists=True)) == AppliedEdit()
    assert b.read_bytes() == b"b"
    apply(root, RenameFile(a, b, overwrite=True, ignore_if_exists=True))
    assert tree(root).keys() == {"b.go", "p", "p/c.go"}
    assert b.read_bytes() == b"a"


def test_renaming_what_is_not_there_or_into_itself_is_refused(root: Path) -> None:
    write(root / "p/a.go")
    refused(root, RenameFile(root / "none", root / "q"), match="not there")
    refused(root, RenameFile(root / "p", root / "p/q"), match="in it")


def test_a_file_and_a_folder_are_deleted(root: Path) -> None:
    a, p = write(root / "a.go"), write(root / "p/q/b.go").parent.parent
    (p / "link").symlink_to("../keep")
    write(root / "keep/c.go")
    assert apply(root, DeleteFile(a), DeleteFile(p, recursive=True)) == AppliedEdit()
    assert tree(root).keys() == {"keep", "keep/c.go"}


def test_deleting_what_is_not_there_or_not_empty_depends_on_the_options(root: Path) -> None:
    write(root / "p/a.go")
    refused(root, DeleteFile(root / "none"), match="not there")
    assert apply(root, DeleteFile(root / "none", ignore_if_not_exists=True)) == AppliedEdit()
    refused(root, DeleteFile(root / "p"), match="not empty")


def test_a_folder_that_the_plan_itself_empties_is_empty(root: Path) -> None:
    a, b = write(root / "p/a.go", "1"), write(root / "p/b.go")
    apply(root, change(a, "1", "2"), RenameFile(a, root / "a.go"), DeleteFile(b), DeleteFile(root / "p"))
    assert tree(root).keys() == {"a.go"}
    assert (root / "a.go").read_bytes() == b"2"


# --- failing half way ------------------------------------------------------------------------------

SYSTEM_CALLS = ["replace", "rename", "mkdir", "rmdir", "unlink", "open", "link", "chmod", "fsync", "chown"]


def fail(monkeypatch: pytest.MonkeyPatch, at: Callable[[int], bool], error: BaseException | None = None) -> list[str]:
    """Makes the calls fail whose count, from 1, is `at`; returns the names of the calls so far."""
    calls: list[str] = []

    def failing(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            calls.append(name)
            if at(len(calls)):
                raise error or OSError(errno.EIO, os.strerror(errno.EIO), *args[:1])
            return real(*args, **kwargs)

        return call

    for name in SYSTEM_CALLS:
        monkeypatch.setattr(os, name, failing(name))
    return calls


def big_plan(root: Path) -> tuple[Step, ...]:
    a = write(root / "a.go", "a\r\n", 0o755)
    write(root / "b.go", "b")
    write(root / "p/c.go", "package p")
    write(root / "gone/deep/d.go", "d")
    write(root / "taken.go", "taken")
    (root / "link.go").symlink_to("b.go")
    return (
        change(a, "a\r\n", "A\r\n"),
        change(root / "link.go", "b", "B"),
        RenameFile(root / "p", root / "x/q"),
        change(root / "x/q/c.go", "package p", "package q"),
        CreateFile(root / "new/e.go"),
        change(root / "new/e.go", "", "e"),
        DeleteFile(root / "gone", recursive=True),
        RenameFile(a, root / "taken.go", overwrite=True),
    )


def test_whichever_system_call_fails_all_is_done_or_nothing(tmp_path: Path) -> None:
    done = tmp_path / "done/root"
    apply(done, *big_plan(done))
    outcomes = set()
    for nth in range(1, 200):
        root = tmp_path / f"{nth}/root"
        steps = big_plan(root)
        before = tree(root)
        with pytest.MonkeyPatch.context() as monkeypatch:
            calls = fail(monkeypatch, lambda count, nth=nth: count == nth)  # type: ignore[misc]
            try:
                applied = apply(root, *steps)
            except EditError as error:
                assert "Nothing was changed" in str(error)
                assert tree(root) == before, f"call {nth}, {calls[nth - 1]}"
                outcomes.add("nothing")
            else:
                left = {name for path in applied.leftovers for name in [str(path.relative_to(root))]}
                there = {n: v for n, v in tree(root).items() if not any(n.startswith(start) for start in left)}
                assert there == tree(done), f"call {nth}, {calls[nth - 1] if nth <= len(calls) else 'none'}"
                outcomes.add("done")
        if len(calls) < nth:
            break
    else:
        pytest.fail("there are more calls than were tried")
    assert outcomes == {"nothing", "done"}
    assert nth > 30


def test_an_edit_whose_process_is_killed_at_any_moment_is_taken_back_or_done_by_the_next(tmp_path: Path) -> None:
    done = tmp_path / "done/root"
    apply(done, *big_plan(done))
    outcomes = set()
    for nth in range(1, 300):
        root = tmp_path / f"{nth}/root"
        steps = big_plan(root)
        before = tree(root)
        pid = os.fork()
        if pid == 0:
            calls = 0

            def dying(real: Callable[..., Any]) -> Callable[..., Any]:
                def call(*args: Any, **kwargs: Any) -> Any:
                    nonlocal calls
                    calls += 1
                    if calls == nth:  # noqa: B023 (this process is of this round alone)
                        os._exit(9)
                    return real(*args, **kwargs)

                return call

            for name in [*SYSTEM_CALLS, "write"]:
                setattr(os, name, dying(getattr(os, name)))
            try:
                apply(root, *steps)
            finally:
                os._exit(0)
        _, status = os.waitpid(pid, 0)
        take_back_unfinished(root)
        assert tree(root) in (before, tree(done)), f"killed at call {nth}"
        outcomes.add("nothing" if tree(root) == before else "done")
        if os.waitstatus_to_exitcode(status) == 0:
            break
    else:
        pytest.fail("there are more calls than were tried")
    assert outcomes == {"nothing", "done"}
    assert nth > 30


def killed_after_the_first_replacement(root: Path, *steps: Step) -> None:
    pid = os.fork()
    if pid == 0:
        replaces: list[Path] = []
        replace = os.replace

        def dies_after_the_first(old: Path, new: Path) -> None:
            if replaces:
                os._exit(9)
            replaces.append(new)
            replace(old, new)

        os.replace = dies_after_the_first  # type: ignore[assignment]
        try:
            apply(root, *steps)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def test_what_was_changed_after_a_process_was_killed_is_not_taken_back_and_is_told_once(root: Path) -> None:
    a, b = write(root / "a.go", "old a"), write(root / "b.go", "old b")
    killed_after_the_first_replacement(root, change(a, "old a", "new a"), change(b, "old b", "new b"))
    assert a.read_text() == "new a"
    a.write_text("fixed by hand")
    apply(root, change(b, "old b", "later"))
    assert (a.read_text(), b.read_text()) == ("fixed by hand", "later")
    assert sorted(path.name for path in root.iterdir()) == ["a.go", "b.go"], "nothing of ours stays in the workspace"
    (told,) = take_news(root)
    assert f"undone but for this: {a} (it was changed since); its text before that edit is in " in told
    assert Path(told.rpartition(" is in ")[2]).read_text() == "old a"
    assert not take_news(root)


def test_a_new_file_that_was_changed_after_a_process_was_killed_is_told(root: Path) -> None:
    a, new = write(root / "a.go", "old a"), root / "new.go"
    killed_after_the_first_replacement(root, CreateFile(new), change(a, "old a", "new a"))
    new.write_text("more")
    take_back_unfinished(root)
    assert a.read_text() == "old a" and new.read_text() == "more"
    assert take_news(root) == [
        f"an earlier edit was interrupted, and undone but for this: {new} was created and is still there "
        "(it was changed since)"
    ]


def test_an_edit_that_was_killed_is_undone_from_any_root_that_overlaps_its_own(root: Path) -> None:
    for other, is_undone in [(root / "sub", True), (root.parent, True), (root.parent / "beside", False)]:
        a, b = write(root / "sub/a.go", "old a"), write(root / "b.go", "old b")
        killed_after_the_first_replacement(root, change(a, "old a", "new a"), change(b, "old b", "new b"))
        take_back_unfinished(other)
        assert (a.read_text() == "old a") == is_undone, other
        assert not take_news(other)


def test_what_could_not_be_undone_is_told_where_it_concerns_the_root(root: Path) -> None:
    a, b = write(root / "sub/a.go", "old a"), write(root / "b.go", "old b")
    killed_after_the_first_replacement(root, change(a, "old a", "new a"), change(b, "old b", "new b"))
    a.write_text("fixed by hand")
    take_back_unfinished(root / "sub")
    assert not take_news(root.parent / "beside")
    assert [str(a) in one for one in take_news(root / "other")] == [True]


def test_an_edit_that_was_killed_in_another_container_is_left_to_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache is shared, and each container has its own checkout at the same path."""
    write(root / "new.go", "moved there by a commit")
    with monkeypatch.context() as patch:
        patch.setattr("os.uname", lambda: SimpleNamespace(nodename="another"))
        there = Journal(root)
        there.begin("move", root / "new.go", root / "old.go")
        assert there._descriptor is not None
        os.close(there._descriptor)  # as the kernel does for a killed process
    take_back_unfinished(root)
    assert [path.name for path in root.iterdir()] == ["new.go"]
    monkeypatch.setattr("os.uname", lambda: SimpleNamespace(nodename="another"))
    take_back_unfinished(root)
    assert [path.name for path in root.iterdir()] == ["old.go"] and not there._path.exists()


def test_a_journal_without_room_for_a_step_is_given_up(root: Path) -> None:
    journal = Journal(root)
    with full_disk(room=10):
        journal.begin("draft", root / "a.go")
    assert not journal._path.exists()
    journal.begin("draft", root / "b.go")  # with room again
    assert not journal.take_back() and not journal._path.exists()


@pytest.mark.parametrize("line", ['{"kind":"draft","path":"p","of":"a later version"}', "no JSON", "[1]", '"x"'])
def test_a_journal_that_cannot_be_read_hinders_no_edit(root: Path, line: str) -> None:
    a = write(root / "a.go", "old a")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(Journal, "close", lambda self: os.close(self._descriptor))
        journal = Journal(root)
        journal._path.write_text(f"{line}\n")
        journal.close()
    apply(root, change(a, "old a", "new a"))
    assert a.read_text() == "new a" and not journal._path.exists()


def test_an_interrupt_half_way_is_passed_on_and_leaves_nothing_changed(root: Path) -> None:
    steps = big_plan(root)
    before = tree(root)
    with pytest.MonkeyPatch.context() as monkeypatch:
        names: list[str] = []
        monkeypatch.setattr(os, "rename", interrupting(names))
        with pytest.raises(KeyboardInterrupt):
            apply(root, *steps)
    assert names
    assert tree(root) == before


def interrupting(names: list[str]) -> Callable[..., None]:
    real = os.rename

    def rename(old: Path, new: Path) -> None:
        names.append(str(old))
        if len(names) == 2:
            raise KeyboardInterrupt
        real(old, new)

    return rename


def test_a_failure_that_cannot_be_undone_names_each_file_and_where_its_old_text_is(root: Path) -> None:
    a, b = write(root / "a.go", "old a"), write(root / "b.go", "old b")
    replaces = []
    replace = os.replace

    def fails_after_the_first(old: Path, new: Path) -> None:
        replaces.append(new)
        if len(replaces) > 1:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(new))
        replace(old, new)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(os, "replace", fails_after_the_first)
        with pytest.raises(EditError) as caught:
            apply(root, change(a, "old a", "new a"), change(b, "old b", "new b"))

    [backup] = [path for path in root.iterdir() if path.name.startswith(".")]
    assert f"{a} has its new text, and its old text is in {backup}" in str(caught.value)
    assert str(b) not in str(caught.value).split("undone:")[1]
    assert "othing was changed" not in str(caught.value)
    assert (a.read_bytes(), b.read_bytes(), backup.read_bytes()) == (b"new a", b"old b", b"old a")


def test_what_cannot_be_removed_at_the_end_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(root / "a.go", "old")
    unlink = os.unlink

    def keeps_backups(name: Path, **options: Any) -> None:
        if Path(name).exists():
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(name))
        unlink(name, **options)

    monkeypatch.setattr(os, "unlink", keeps_backups)
    applied = apply(root, change(path, "old", "new"))
    assert path.read_bytes() == b"new"
    assert [left.read_bytes() for left in applied.leftovers] == [b"old"]


def test_a_file_that_appears_where_one_is_to_be_created_survives(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, new = write(root / "a.go", "old"), root / "new.go"
    replace = os.replace

    def meddle(old: Path, target: Path) -> None:
        replace(old, target)
        if target == a and not new.exists():
            new.write_bytes(b"theirs")

    monkeypatch.setattr(os, "replace", meddle)
    with pytest.raises(EditError, match=r"exists.*new\.go"):
        apply(root, change(a, "old", "new"), CreateFile(new))
    assert contents(root) == {"a.go": b"old", "new.go": b"theirs"}


# --- what other programs see -----------------------------------------------------------------------


def test_a_temporary_file_is_hidden_and_looks_like_no_source(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(root / "sub/a.go", "old")
    seen: list[Path] = []
    replace = os.replace

    def look(old: Path, new: Path) -> None:
        seen.extend(path.parent.iterdir())
        replace(old, new)

    monkeypatch.setattr(os, "replace", look)
    apply(root, change(path, "old", "new"))
    temporaries = set(seen) - {path}
    assert temporaries
    assert all(p.name.startswith(".lsp-mcp-") and p.suffix == ".tmp" for p in temporaries)
    assert tree(root).keys() == {"sub", "sub/a.go"}


def test_a_reader_never_sees_a_part_of_a_file_nor_none(root: Path) -> None:
    texts = ["a" * 300_000, "b" * 500_000]
    path = write(root / "a.go", texts[0])
    whole = {text.encode() for text in texts}
    stop, started, partial = threading.Event(), threading.Event(), list[object]()
    reads = 0

    def read() -> None:
        nonlocal reads
        while not stop.is_set() and not partial:
            try:
                content = path.read_bytes()
            except OSError as error:
                partial.append(error)
            else:
                if content not in whole:
                    partial.append(len(content))
            reads += 1
            started.set()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert started.wait(10)
        for turn in range(60):
            apply(root, change(path, texts[turn % 2], texts[(turn + 1) % 2]))
    finally:
        stop.set()
        reader.join(10)
    assert partial == []
    assert reads > 1
