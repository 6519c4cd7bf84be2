"""The compilation database: which one counts, and what it says."""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePath
from typing import Any

import pytest

from lsp_mcp.servers.clangd.compilation.database import Database, database_of_flags, find_database
from lsp_mcp.servers.clangd.compilation.database import read_database as read_database_of
from lsp_mcp.servers.clangd.rules import COMPILATION as RULES

NAME = "compile_commands.json"
NOT_ONE = "is not a list of objects with `directory`, `file` and `arguments` or `command`"


def put(folder: Path, content: Any = (), age: int = 0) -> Path:
    """A database in `folder`, `age` seconds old; text as it is, anything else as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / NAME
    file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    os.utime(file, (1_000_000 - age, 1_000_000 - age))
    return file


def read_database(file: Path, root: Path = Path("/no such root")) -> Database:
    return read_database_of(file, root)


# --- which one counts --------------------------------------------------------------------------------


def test_without_one_there_is_none(tmp_path: Path) -> None:
    assert find_database(tmp_path, RULES) is None


def test_the_one_in_the_root_counts_before_newer_ones_in_build_folders(tmp_path: Path) -> None:
    put(tmp_path / "build", age=0)
    old = put(tmp_path, age=100)
    assert find_database(tmp_path, RULES) == old


def test_the_folders_count_in_the_order_of_the_adapter_whatever_is_newer(tmp_path: Path) -> None:
    # Of each pattern, a folder that no pattern before it matches; each is older than all that count less.
    folders: list[str] = []
    for number, pattern in enumerate(RULES.folders):
        folder = pattern.replace("*", "x")
        if not any(PurePath(folder).match(earlier) for earlier in RULES.folders[1:number]):
            folders.append(folder)
    assert len(folders) > 10
    files = [put(tmp_path / folder, age=1000 - number) for number, folder in enumerate(reversed(folders))][::-1]
    for file in files:
        assert find_database(tmp_path, RULES) == file
        file.unlink()
    assert find_database(tmp_path, RULES) is None


@pytest.mark.parametrize("oldest_first", [True, False])
def test_of_several_in_equal_places_the_newest_counts(tmp_path: Path, oldest_first: bool) -> None:
    names = ["build-a", "build-b", "build-c"][:: 1 if oldest_first else -1]
    files = [put(tmp_path / name, age=100 - number) for number, name in enumerate(names)]
    assert find_database(tmp_path, RULES) == files[-1]


def test_one_above_the_root_counts_if_there_is_none_below_the_nearest_first(tmp_path: Path) -> None:
    root = tmp_path / "a" / "b" / "root"
    root.mkdir(parents=True)
    top = put(tmp_path / "build")
    assert find_database(root, RULES) == top
    nearer = put(tmp_path / "a" / "b" / "build", age=100)
    assert find_database(root, RULES) == nearer
    beside = put(tmp_path / "a" / "b", age=200)
    assert find_database(root, RULES) == beside
    below = put(root / "cmake-build-debug", age=300)
    assert find_database(root, RULES) == below


def test_above_the_root_only_folders_count_where_the_server_looks_itself(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    for name in ("out", "builddir", "build-x", "cmake-build-debug"):
        put(tmp_path / name)
    assert find_database(root, RULES) is None


def test_a_folder_and_a_link_to_nothing_are_not_a_database(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / NAME).symlink_to(tmp_path / "nowhere.json")
    assert find_database(tmp_path, RULES) is None
    real = put(tmp_path / "elsewhere")
    (tmp_path / "build" / NAME).unlink()
    (tmp_path / "build" / NAME).symlink_to(real)
    assert find_database(tmp_path, RULES) == tmp_path / "build" / NAME


# --- what it says ------------------------------------------------------------------------------------


def test_paths_are_relative_to_the_directory_and_that_to_the_file(tmp_path: Path) -> None:
    file = put(
        tmp_path / "build",
        [
            {"directory": ".", "file": "../src/a.cpp", "command": "c++ a.cpp"},
            {"directory": "..", "file": "./src/../src/b.cpp", "arguments": ["c++", "b.cpp"], "output": "b.o"},
            {"directory": "/abs/dir", "file": "c.cpp", "command": "c++ c.cpp"},
            {"directory": "/abs/dir", "file": "/abs/d.cpp", "command": "c++ d.cpp"},
        ],
    )
    database = read_database(file)
    assert database.problem == ""
    assert set(database.commands) == {
        tmp_path / "src" / "a.cpp",
        tmp_path / "src" / "b.cpp",
        Path("/abs/dir/c.cpp"),
        Path("/abs/d.cpp"),
    }
    ((b,),) = [database.commands[tmp_path / "src" / "b.cpp"]]
    assert b == {
        "directory": str(tmp_path),
        "file": str(tmp_path / "src" / "b.cpp"),
        "arguments": ["c++", "b.cpp"],
        "output": "b.o",
    }


def test_a_file_that_is_compiled_twice_keeps_both_commands_in_their_order(tmp_path: Path) -> None:
    entries = [{"directory": str(tmp_path), "file": "a.c", "command": f"cc -DN={n} a.c"} for n in range(3)]
    (commands,) = read_database(put(tmp_path, entries)).commands.values()
    assert [command["command"] for command in commands] == ["cc -DN=0 a.c", "cc -DN=1 a.c", "cc -DN=2 a.c"]


def test_its_text_says_the_same_in_any_folder(tmp_path: Path) -> None:
    entries = [
        {"directory": "..", "file": "b ü\udcff.cpp", "command": "c++ -DX=😀"},
        {"directory": ".", "file": "a.cpp", "arguments": ["c++"]},
        {"directory": ".", "file": "a.cpp", "arguments": ["c++", "-DTWICE"]},
    ]
    database = read_database(put(tmp_path / "build", entries))
    elsewhere = put(tmp_path / "else" / "where", database.text())
    assert read_database(elsewhere).commands == database.commands
    assert len(database.commands) == 2


def test_only_files_that_are_there_now_are_its_files(tmp_path: Path) -> None:
    entries = [{"directory": "..", "file": name, "command": "c++"} for name in ("b.cpp", "gone.cpp", "a.cpp", "dir")]
    (tmp_path / "dir").mkdir()
    for name in ("a.cpp", "b.cpp"):
        (tmp_path / name).write_text("")
    database = read_database(put(tmp_path / "build", entries))
    assert database.files() == [tmp_path / "a.cpp", tmp_path / "b.cpp"]
    assert len(database.commands) == 4


def test_an_empty_list_is_a_database_of_nothing(tmp_path: Path) -> None:
    database = read_database(put(tmp_path, []))
    assert (database.commands, database.problem) == ({}, "")


def test_a_byte_order_mark_is_not_a_problem(tmp_path: Path) -> None:
    text = json.dumps([{"directory": ".", "file": "a.cpp", "command": "c++"}])
    assert read_database(put(tmp_path, f"\ufeff{text}")).commands


def test_links_in_the_names_of_folders_are_resolved_but_not_that_of_the_file(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root)
    (root / "src" / "a.cpp").symlink_to("real.cpp")
    command = {"directory": str(tmp_path / "link"), "file": "src/a.cpp", "command": "c++ -c src/a.cpp"}
    ((path, (found,)),) = read_database(put(tmp_path, [command]), root).commands.items()
    assert path == root / "src" / "a.cpp"
    assert found == {"directory": str(root), "file": str(path), "command": "c++ -c src/a.cpp"}


def test_another_name_of_the_root_in_a_command_becomes_the_roots_own(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "build").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(root)
    entries = [
        {"directory": f"{link}/build", "file": f"{link}/a.c", "command": f"cc -I{link}/include -I{link}2 {link}/a.c"},
        {"directory": f"{link}/build", "file": f"{link}/b.c", "arguments": ["cc", f"-I{link}/include", f"{link}/b.c"]},
        {"directory": f"{root}/build", "file": "../c.c", "arguments": ["cc", f"-I{link}/include"]},
    ]
    commands = read_database(put(tmp_path, entries), root).commands
    assert commands[root / "a.c"][0]["command"] == f"cc -I{root}/include -I{link}2 {root}/a.c"
    assert commands[root / "b.c"][0]["arguments"] == ["cc", f"-I{root}/include", f"{root}/b.c"]
    assert commands[root / "c.c"][0]["arguments"] == ["cc", f"-I{link}/include"]


@pytest.mark.parametrize(
    ("command", "forced"),
    [
        ({"command": "cc -include force.h -c a.c"}, ["force.h"]),
        ({"command": "cc -includeforce.h -c a.c"}, ["force.h"]),
        ({"command": "cc -imacros sub/macros.h -c a.c"}, ["sub/macros.h"]),
        ({"command": 'cc -include "with space.h" -c a.c'}, ["with space.h"]),
        ({"arguments": ["cc", "-include", "a.h", "-include", "b.h", "-c", "a.c"]}, ["a.h", "b.h"]),
        ({"command": "cc -I include -c a.c"}, []),
        ({"command": "cc -c a.c -include"}, []),
        ({"command": "cc 'no shell takes this"}, []),
    ],
)
def test_what_a_command_includes_by_itself_is_known(tmp_path: Path, command: Any, forced: list[str]) -> None:
    entries = [{"directory": ".", "file": "a.c", **command}, {"directory": ".", "file": "other.c", "command": "cc"}]
    database = read_database(put(tmp_path, entries))
    expected = {tmp_path / "a.c": forced} if forced else {}
    assert database.forced(RULES.include_options) == expected


@pytest.mark.parametrize(
    "command",
    [
        {"command": "c++ -I../lib -c a.cpp"},
        {"command": "c++ -isystem $LIB -c a.cpp"},
        {"command": 'c++ -DA="x -I" -iquote "$LIB" -c a.cpp'},
        {"command": "c++ -I /nowhere -idirafter '../lib' -c a.cpp"},
        {"arguments": ["c++", "-I", "../lib", "-c", "a.cpp"]},
    ],
)
def test_headers_outside_are_searched_for_in_the_include_folders_of_commands(tmp_path: Path, command: Any) -> None:
    root, lib = tmp_path / "root", tmp_path / "lib"
    for path in (root / "own.h", lib / "a.h", lib / "deep" / "b.h", lib / "unused.h"):
        path.parent.mkdir(exist_ok=True, parents=True)
        path.touch()
    (lib / "folder.h").mkdir()
    if "command" in command:
        command = {"command": command["command"].replace("$LIB", str(lib)) + f" -I/usr/include -I{root} -I.."}
    entries = [{"directory": str(root), "file": "a.cpp", **command}]
    spelled = ["a.h", "deep/b.h", "folder.h", "missing.h", "own.h", "root/own.h", "stdio.h"]
    found = read_database(put(tmp_path, entries), root).headers_elsewhere(spelled, RULES, [root])
    assert found == [lib / "a.h", lib / "deep" / "b.h"]


def test_each_command_of_a_file_counts_for_what_is_included(tmp_path: Path) -> None:
    entries = [{"directory": ".", "file": "a.c", "command": f"cc -include {name}.h"} for name in "xy"]
    assert read_database(put(tmp_path, entries)).forced(["-include"]) == {tmp_path / "a.c": ["x.h", "y.h"]}


# --- flags for every file ----------------------------------------------------------------------------


def test_without_a_database_a_file_of_flags_counts_that_is_in_the_root_or_above(tmp_path: Path) -> None:
    root = tmp_path / "a" / "root"
    root.mkdir(parents=True)
    above, own = tmp_path / RULES.flags, root / RULES.flags
    above.write_text("-Wall\n")
    assert find_database(root, RULES) == above
    own.write_text("-Wall\n")
    assert find_database(root, RULES) == own
    database = put(tmp_path / "build")
    assert find_database(root, RULES) == database


def test_each_line_of_flags_is_one_for_every_source(tmp_path: Path) -> None:
    file = tmp_path / RULES.flags
    file.write_text("-Iwith space\r\n\n  -DA=1  \n", "utf-8")
    database = database_of_flags(file, [tmp_path / "a.cpp", tmp_path / "sub" / "b.c"])
    assert database.problem == ""
    assert database.commands[tmp_path / "sub" / "b.c"] == (
        {
            "directory": str(tmp_path),
            "file": str(tmp_path / "sub" / "b.c"),
            "arguments": ["clang", "-Iwith space", "-DA=1", str(tmp_path / "sub" / "b.c")],
        },
    )
    assert len(database.commands) == 2


@pytest.mark.parametrize("content", [None, b"-D\xff\n"])
def test_flags_that_cannot_be_read_are_a_problem_in_words(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / RULES.flags
    if content:
        file.write_bytes(content)
    database = database_of_flags(file, [tmp_path / "a.cpp"])
    assert database.problem.startswith("cannot be read: ")
    assert database.commands == {}


# --- what cannot be used -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "is not JSON: "),
        ('[{"directory": ".", "file"', "is not JSON: "),  # as it is while somebody writes it
        ("[]]", "is not JSON: "),
        ("null", NOT_ONE),
        ("7", NOT_ONE),
        ('"text"', NOT_ONE),
        ('{"commands": []}', NOT_ONE),
        ("[null]", NOT_ONE),
        ('["a.cpp"]', NOT_ONE),
        ('[{"directory": ".", "command": "c++"}]', NOT_ONE),
        ('[{"file": "a.cpp", "command": "c++"}]', NOT_ONE),
        ('[{"directory": 1, "file": "a.cpp", "command": "c++"}]', NOT_ONE),
        ('[{"directory": ".", "file": ["a.cpp"], "command": "c++"}]', NOT_ONE),
        ('[{"directory": ".", "file": "a.cpp"}]', NOT_ONE),
        ('[{"directory": ".", "file": "a.cpp", "arguments": []}]', NOT_ONE),
        ('[{"directory": ".", "file": "a.cpp", "arguments": "c++ a.cpp"}]', NOT_ONE),
    ],
)
def test_what_cannot_be_used_is_a_problem_in_words(tmp_path: Path, content: str, problem: str) -> None:
    database = read_database(put(tmp_path, content))
    assert database.problem.startswith(problem)
    assert database.commands == {}


def test_bytes_that_are_not_text_are_a_problem_in_words(tmp_path: Path) -> None:
    file = put(tmp_path)
    file.write_bytes(b'["\xff"]')
    assert read_database(file).problem.startswith("is not JSON: ")


def test_a_database_that_has_gone_or_is_a_folder_is_a_problem_in_words(tmp_path: Path) -> None:
    gone = read_database(tmp_path / NAME)
    assert (gone.problem, gone.signature, gone.commands) == ("cannot be read: No such file or directory", None, {})
    assert read_database(tmp_path).problem == "cannot be read: not a regular file"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "c++ -c a.cc"}, "c++ -x -c a.cc"),
        ({"command": "ccache c++ -c a.cc"}, "ccache c++ -x -c a.cc"),
        ({"command": "c++ a.cc"}, "c++ -x a.cc"),
        ({"arguments": ["ccache", "c++", "-c", "a.cc"]}, "ccache c++ -x -c a.cc"),
        ({"arguments": ["c++", "a.cc"]}, "c++ -x a.cc"),
    ],
)
def test_flags_of_ours_stand_before_those_of_the_build_and_behind_what_runs_the_compiler(
    tmp_path: Path, entry: dict[str, Any], words: str
) -> None:
    database = tmp_path / "compile_commands.json"
    database.write_text(json.dumps([{"directory": str(tmp_path), "file": "a.cc", **entry}]), "utf-8")
    (written,) = json.loads(read_database(database, tmp_path).text(["-x"]))
    assert written.get("command", " ".join(written.get("arguments", []))) == words
