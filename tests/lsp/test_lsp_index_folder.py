"""Where a server keeps its index: each process has its own, and nothing stale is in it when a server begins."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.cache_folders import cache_folder, checkouts_gone
from lsp_mcp.private_files import open_private
from lsp_mcp.servers.clangd.compilation.database import Database, read_database
from lsp_mcp.servers.clangd.compilation.includes import Includes
from lsp_mcp.servers.clangd.compilation.index_folder import IndexFolder
from lsp_mcp.servers.clangd.rules import COMPILATION as RULES

ADAPTER = load_adapter("clangd")

# Another process that has the first folder of a root until its input ends.
HOLDER = """
import sys
from pathlib import Path
from lsp_mcp.servers.clangd.compilation.index_folder import IndexFolder
from lsp_mcp.servers.clangd.rules import COMPILATION
folder = IndexFolder(Path(sys.argv[1]), "clangd", COMPILATION)
print(folder.folder, flush=True)
sys.stdin.read()
"""


class Checkout:
    """A checkout with a build, and a server's index of it that is as good as one: a shard for each file."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.root.mkdir()
        self.flags: dict[str, str] = {}
        self.opened: list[IndexFolder] = []
        self.write("lib.h", "int f();\n")
        self.write("mid.h", '#include "lib.h"\n')
        for name, header in (("a.cpp", "mid.h"), ("b.cpp", "lib.h"), ("c.cpp", "none.h")):
            self.write(name, f'#include "{header}"\n')
            self.flags[name] = "-O2"

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.write_text(text, "utf-8")
        return path

    def files(self) -> list[Path]:
        return sorted(path for path in self.root.iterdir() if path.is_file())

    def database(self) -> Database:
        """Not below the root, so that it is not a file of the workspace."""
        file = self.root.parent / "compile_commands.json"
        entries = [
            {"directory": str(self.root), "file": name, "command": f"c++ {flags} {name}"}
            for name, flags in self.flags.items()
        ]
        file.write_text(json.dumps(entries), "utf-8")
        return read_database(file, self.root)

    def open(self, shared: Path | None = None) -> IndexFolder:
        folder = IndexFolder(self.root, "clangd", RULES, shared)
        self.opened.append(folder)
        return folder

    def prepare(self, folder: IndexFolder) -> set[str]:
        """Begin with `folder` as it is now; which files still have their shard then. Then all have one again."""
        files = self.files()
        includes = Includes(RULES.include_pattern)
        folder.prepare(files, [path for path in files if ADAPTER.language_of(path)], self.database(), includes)
        left = shards(folder)
        folder.index.mkdir(parents=True, exist_ok=True)
        for path in files:
            (folder.index / f"{path.name}.0123456789ABCDEF.idx").touch()
        return left


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Checkout]:
    monkeypatch.setenv("LSP_MCP_CACHE", str(tmp_path / "cache"))
    checkout = Checkout(tmp_path)
    yield checkout
    for folder in checkout.opened:
        folder.close()


def shards(folder: IndexFolder) -> set[str]:
    """The files that have a shard."""
    return {path.name.split(".0123")[0] for path in folder.index.glob("*.idx")}


ALL = {"lib.h", "mid.h", "a.cpp", "b.cpp", "c.cpp"}


# --- whose folder ------------------------------------------------------------------------------------


def test_it_is_where_the_environment_says_by_root_and_server(checkout: Checkout, tmp_path: Path) -> None:
    folder = checkout.open().folder
    assert cache_folder() == tmp_path / "cache"
    assert re.fullmatch(r"indexes/root-[0-9a-f]{12}/clangd/0", str(folder.relative_to(tmp_path / "cache")))
    other = IndexFolder(tmp_path, "clangd", RULES)
    assert other.folder.parent.parent != folder.parent.parent
    other.close()


def test_without_that_it_is_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LSP_MCP_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "lsp-mcp"


def test_who_comes_while_one_is_in_use_gets_the_next_and_later_the_first_again(checkout: Checkout) -> None:
    first, second = checkout.open(), checkout.open()
    assert [first.folder.name, second.folder.name] == ["0", "1"]
    first.close()
    third = checkout.open()
    assert third.folder == first.folder
    assert checkout.open().folder.name == "2"


def settle(folder: IndexFolder) -> None:
    """As if the shards were written a while ago."""
    for shard in folder.index.iterdir():
        os.utime(shard, (0, 0))


def test_who_comes_while_one_is_in_use_begins_with_its_index(checkout: Checkout) -> None:
    first = checkout.open()
    checkout.prepare(first)
    settle(first)
    first.incomplete(checkout.root / "b.cpp")
    checkout.write("c.cpp", "int more;\n")
    second = checkout.open()
    assert checkout.prepare(second) == {"a.cpp", "mid.h", "lib.h"}
    assert shards(first) == ALL
    first.close()
    # That b.cpp is to be indexed again is still known there.
    assert checkout.prepare(checkout.open()) == {"a.cpp", "mid.h", "lib.h"}


def test_shards_that_were_written_just_now_are_not_taken_over(checkout: Checkout) -> None:
    first = checkout.open()
    checkout.prepare(first)
    settle(first)
    next(first.index.glob("lib.h.*")).touch()
    assert checkout.prepare(checkout.open()) == ALL - {"lib.h"}


def test_an_index_without_a_list_of_its_files_is_not_taken_over(checkout: Checkout) -> None:
    first = checkout.open()
    checkout.prepare(first)
    settle(first)
    (first.folder / "files.json").unlink()
    assert checkout.prepare(checkout.open()) == set()


def test_another_process_has_a_folder_until_it_ends_however_it_does(checkout: Checkout) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(checkout.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout
        theirs = Path(holder.stdout.readline().strip())
        assert theirs.name == "0"
        assert checkout.open().folder.name == "1"
    finally:
        holder.kill()
        holder.communicate()
    assert checkout.open().folder == theirs


def test_when_all_are_taken_or_none_can_be_made_a_folder_for_once_does(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsp_mcp.servers.clangd.compilation.index_folder._MOST", 1)
    checkout.open()
    taken = checkout.open()
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("LSP_MCP_CACHE", str(tmp_path / "a file"))
    impossible = checkout.open()
    for folder in (taken, impossible):
        assert not folder.folder.is_relative_to(tmp_path / "cache")
        assert checkout.prepare(folder) == set()
        assert checkout.prepare(folder) == ALL
        folder.close()
        assert not folder.folder.exists()


@pytest.mark.parametrize("unwritable", ["files.json", RULES.database])
def test_of_a_folder_that_could_not_be_written_nothing_is_trusted_next_time(
    checkout: Checkout, unwritable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkout.open()
    checkout.prepare(folder)
    checkout.write("lib.h", "int g();\n")

    def opened(path: Path, flags: int) -> int:
        if unwritable in path.name:  # as on a full or read-only disk; permissions don't count for root
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return open_private(path, flags)

    with monkeypatch.context() as patch, pytest.raises(OSError, match=unwritable):
        patch.setattr("lsp_mcp.private_files.open_private", opened)
        checkout.prepare(folder)
    assert shards(folder) == {"c.cpp"}
    assert checkout.prepare(folder) == set()


def test_the_first_index_of_a_checkout_removes_those_of_checkouts_that_are_gone(
    checkout: Checkout, tmp_path: Path
) -> None:
    roots = [tmp_path / name for name in ("gone", "there")]
    folders = []
    for root in roots:
        root.mkdir()
        folder = IndexFolder(root, "clangd", RULES)
        folder.close()
        folders.append(folder.folder)
    roots[0].rmdir()
    assert [folder.exists() for folder in folders] == [True, True]
    checkout.open()
    assert [folder.exists() for folder in folders] == [False, True]
    assert checkouts_gone(checkout.root) == [roots[0]], "which is named, although something else came first"
    assert checkouts_gone(roots[1]) == []


def test_what_another_container_keeps_in_the_same_cache_is_not_removed(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("os.uname", lambda: SimpleNamespace(nodename="another"))
        folder = IndexFolder(there, "clangd", RULES)
    there.rmdir()  # as seen from here
    checkout.open()
    assert folder.folder.exists()
    assert checkouts_gone(checkout.root) == [there], "it may be the image that the cache came with"
    folder.close()


def test_what_is_kept_stays_when_the_disk_is_full(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = checkout.open()
    checkout.prepare(kept)
    was_full = kept.is_full
    with monkeypatch.context() as patch:
        patch.setattr("lsp_mcp.cache_folders._LEAST", 2**62)
        assert kept.is_full and not was_full
        kept.close()
        other = checkout.open()
        assert not other.is_full and checkout.prepare(other) == set()
        other.close()
    again = checkout.open()
    assert again.folder == kept.folder and checkout.prepare(again) == ALL


# --- what is in it -----------------------------------------------------------------------------------


def test_the_server_gets_the_database_with_absolute_paths(checkout: Checkout) -> None:
    folder = checkout.open()
    checkout.prepare(folder)
    written = read_database(folder.folder / RULES.database, checkout.root)
    commands = {path: entry["command"] for path, (entry,) in written.commands.items()}
    before = {path: entry["command"] for path, (entry,) in checkout.database().commands.items()}
    flags = " ".join(RULES.added_flags)
    assert flags
    assert commands == {path: command.replace("c++ ", f"c++ {flags} ", 1) for path, command in before.items()}
    assert {entry["directory"] for (entry,) in written.commands.values()} == {str(checkout.root)}
    assert {path.name for path in written.commands} == {"a.cpp", "b.cpp", "c.cpp"}


def test_what_did_not_change_keeps_its_index_in_the_next_process_too(checkout: Checkout) -> None:
    folder = checkout.open()
    assert checkout.prepare(folder) == set()
    assert checkout.prepare(folder) == ALL
    folder.close()
    assert checkout.prepare(checkout.open()) == ALL


def made_again(checkout: Checkout) -> None:
    """The same files as another checkout has them, in a new container: with other times and inodes."""
    for path in checkout.files():
        content = path.read_bytes()
        path.rename(path.with_suffix(".old"))
        path.write_bytes(content)
        path.with_suffix(".old").unlink()


def test_what_has_the_same_content_keeps_its_index_in_a_new_container(checkout: Checkout) -> None:
    folder = checkout.open()
    checkout.prepare(folder)
    folder.keep()
    made_again(checkout)
    checkout.write("b.cpp", "int other;\n")
    assert checkout.prepare(folder) == ALL - {"b.cpp"}
    checkout.flags["c.cpp"] = "-O3"
    folder.keep()
    made_again(checkout)
    assert checkout.prepare(folder) == ALL - {"c.cpp"}


def test_contents_do_not_count_if_the_process_was_killed(checkout: Checkout) -> None:
    folder = checkout.open()
    checkout.prepare(folder)
    made_again(checkout)
    assert checkout.prepare(folder) == set()


def test_the_content_of_a_file_that_changed_in_the_meantime_does_not_count(checkout: Checkout) -> None:
    # The server may have indexed what it was then.
    folder = checkout.open()
    checkout.prepare(folder)
    before = (checkout.root / "mid.h").read_text()
    checkout.write("mid.h", "int other;\n")
    checkout.write("mid.h", before)
    folder.keep()
    assert checkout.prepare(folder) == {"b.cpp", "c.cpp"}


def test_what_includes_a_header_elsewhere_that_changed_goes(checkout: Checkout, tmp_path: Path) -> None:
    header = tmp_path / "none.h"
    header.write_text("int n;\n")
    folder = checkout.open()

    def left(*headers: Path) -> set[str]:
        includes = Includes(RULES.include_pattern)
        files = checkout.files()
        folder.prepare(files, [path for path in files if ADAPTER.language_of(path)], checkout.database(), includes)
        folder.prepare_elsewhere(headers, includes)
        kept = shards(folder)
        checkout.prepare(folder)
        return kept

    checkout.prepare(folder)
    assert left(header) == ALL - {"c.cpp"}, "it may be new"
    assert left(header) == ALL
    header.write_text("int m;\n")
    assert left(header) == ALL - {"c.cpp"}
    folder.keep()
    header.unlink()
    header.write_text("int m;\n")
    assert left(header) == ALL, "another file with the same content"
    header.unlink()
    header.write_text("int m;\n")
    assert left(header) == ALL - {"c.cpp"}, "the process was killed"
    header.unlink()
    assert left() == ALL - {"c.cpp"}


@pytest.mark.parametrize("what", ["a variable", "the user's settings"])
def test_an_index_that_was_compiled_in_another_environment_goes(
    checkout: Checkout, what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = checkout.open()
    checkout.prepare(folder)
    folder.keep()
    if what == "a variable":
        monkeypatch.setenv("CPLUS_INCLUDE_PATH", "/opt/include")
    else:
        (tmp_path / "config" / "clangd").mkdir(parents=True)
        (tmp_path / "config" / "clangd" / "config.yaml").write_text("CompileFlags: {Add: -DA}\n")
    assert checkout.prepare(folder) == set()
    assert checkout.prepare(folder) == ALL


@pytest.mark.parametrize(
    ("changed", "stale"),
    [
        ("lib.h", {"lib.h", "mid.h", "a.cpp", "b.cpp"}),
        ("mid.h", {"mid.h", "a.cpp"}),
        ("b.cpp", {"b.cpp"}),
        ("none.h", {"c.cpp"}),  # it comes into being
    ],
)
@pytest.mark.parametrize("same_process", [True, False])
def test_the_index_of_what_changed_and_of_all_that_includes_it_goes(
    checkout: Checkout, changed: str, stale: set[str], same_process: bool
) -> None:
    folder = checkout.open()
    checkout.prepare(folder)
    checkout.write(changed, "// now longer than it was\n")
    if not same_process:
        folder.close()
        folder = checkout.open()
    assert checkout.prepare(folder) == ALL - stale


def test_the_index_of_what_includes_a_file_that_is_gone_goes(checkout: Checkout) -> None:
    folder = checkout.open()
    checkout.prepare(folder)
    (checkout.root / "lib.h").unlink()
    assert checkout.prepare(folder) == {"c.cpp"}


def test_a_changed_file_with_another_extension_makes_its_includers_stale(checkout: Checkout) -> None:
    checkout.write("table.inc", "1, 2\n")
    checkout.write("c.cpp", 'int t[] = {\n#include "table.inc"\n};\n')
    folder = checkout.open()
    checkout.prepare(folder)
    checkout.write("table.inc", "1, 2, 3\n")
    assert checkout.prepare(folder) == ALL - {"c.cpp"}


def test_what_a_file_included_before_it_changed_is_of_no_more_interest(checkout: Checkout) -> None:
    folder = checkout.open()
    checkout.prepare(folder)
    checkout.write("b.cpp", "int nothing_included;\n")
    checkout.prepare(folder)
    checkout.write("lib.h", "int g(); // changed\n")
    assert checkout.prepare(folder) == {"b.cpp", "c.cpp"}


def test_other_flags_make_that_one_file_stale_and_what_it_includes(checkout: Checkout) -> None:
    folder = checkout.open()
    checkout.prepare(folder)
    checkout.flags["b.cpp"] = "-O2 -DEXTRA"
    assert checkout.prepare(folder) == ALL - {"b.cpp", "lib.h"}
    del checkout.flags["c.cpp"]
    assert checkout.prepare(folder) == ALL - {"c.cpp"}


def test_a_file_that_the_server_could_not_index_whole_is_indexed_again_next_time(checkout: Checkout) -> None:
    folder = checkout.open()
    checkout.prepare(folder)
    folder.incomplete(checkout.root / "b.cpp")
    folder.incomplete(checkout.root / "lib.h")
    folder.close()
    folder = checkout.open()
    assert checkout.prepare(folder) == ALL - {"b.cpp", "lib.h"}
    assert checkout.prepare(folder) == ALL


def test_what_a_stale_file_includes_is_stale_too_though_it_is_as_it_was(checkout: Checkout) -> None:
    # The part of a header says where its functions are defined: in the file that was indexed with it, once.
    folder = checkout.open()
    checkout.prepare(folder)
    checkout.write("a.cpp", '#include "mid.h"\n// no definition any more\n')
    assert checkout.prepare(folder) == {"b.cpp", "c.cpp"}


def test_how_many_files_of_each_name_are_in_the_index_its_shards_say(checkout: Checkout) -> None:
    folder = checkout.open()
    assert folder.indexed_names() == {}
    checkout.prepare(folder)
    (folder.index / "lib.h.FEDCBA9876543210.idx").touch()  # another folder's
    (folder.index / "lib.h").touch()
    assert folder.indexed_names() == {name: 1 + (name == "lib.h") for name in ALL}


def test_what_the_preprocessor_may_leave_out_is_known_without_reading_again(checkout: Checkout) -> None:
    checkout.write("c.cpp", "#ifdef A\nint c;\n#endif\n")
    folder = checkout.open()
    checkout.prepare(folder)
    files = checkout.files()
    includes = Includes(RULES.include_pattern)
    sources = [path for path in files if ADAPTER.language_of(path)]
    folder.prepare(files, sources, checkout.database(), includes)
    assert {path.name for path, scan in includes.known.items() if scan.conditional} == {"c.cpp"}


@pytest.mark.parametrize("how", ["missing", "cut off", "something else"])
def test_without_a_list_of_the_files_as_they_were_the_whole_index_goes(checkout: Checkout, how: str) -> None:
    folder = checkout.open()
    checkout.prepare(folder)
    known = folder.folder / "files.json"
    if how == "missing":
        known.unlink()
    elif how == "cut off":
        known.write_bytes(known.read_bytes()[:-9])
    else:
        known.write_text("[1, 2]")
    assert checkout.prepare(folder) == set()
    assert checkout.prepare(folder) == ALL


def test_files_in_the_index_that_are_not_shards_are_left_alone(checkout: Checkout) -> None:
    folder = checkout.open()
    checkout.prepare(folder)
    other = folder.index / "lib.h"
    other.write_text("")
    checkout.write("lib.h", "int g();\n")
    checkout.prepare(folder)
    assert other.exists()


def test_names_that_are_not_text_are_not_an_obstacle(checkout: Checkout) -> None:
    checkout.write("d\udcff.h", "")
    (checkout.root / "d.cpp").write_bytes(b'#include "d\xff.h"\n// \xe9t\xe9\n')
    checkout.flags["d.cpp"] = "-O2"
    folder = checkout.open()
    checkout.prepare(folder)
    checkout.write("d\udcff.h", "int changed;\n")
    assert checkout.prepare(folder) == ALL
    folder.incomplete(checkout.root / "d\udcff.h")
    assert checkout.prepare(folder) == ALL | {"d.cpp"}


def test_the_index_of_an_editor_gets_no_database_and_loses_only_what_is_stale(
    checkout: Checkout, tmp_path: Path
) -> None:
    folder = checkout.open(tmp_path / "build")
    assert folder.index == tmp_path / "build" / RULES.index_folder
    checkout.prepare(folder)
    checkout.write("mid.h", '#include "lib.h"\n// changed\n')
    assert checkout.prepare(folder) == ALL - {"mid.h", "a.cpp", "lib.h"}
    assert not (tmp_path / "build" / RULES.database).exists()
