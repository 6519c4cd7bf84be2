"""Bad input: each gets an error that says what to do, the server lives on, and nothing on disk changes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import CallerError, MissingProgramError
from lsp_mcp.programs import find_command
from lsp_mcp.toolsets.offered import tools_without_sessions
from mcp_process import Connected, connected, raw, without_rights

LIST, FIND = "list_symbols_in_file", "find_symbol_definitions_by_name"
USES, RENAME = "find_symbol_references_by_anchor", "rename_symbol_by_anchor"

A_GO = """\
package bad

func Greet() string { return "名" + greeting } // 😀 the end

var greeting = "x"
"""

try:
    find_command(load_adapter("gopls"))
except MissingProgramError as error:
    pytest.skip(f"gopls: {error}", allow_module_level=True)


class Tree:
    """A workspace with good and bad files, one server on it, and the promise that neither is harmed."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.root = top / "root"
        files: dict[str, bytes] = {
            "root/go.mod": b"module example.com/bad\n\ngo 1.23\n",
            "root/a.go": A_GO.encode(),
            "root/deleted.go": b"package bad\n\nfunc Deleted() {}\n",
            "root/folder.go/empty": b"",
            "root/notes.txt": b"Greet\n",
            "root/binary/binary.go": b"package binary\n\nvar x = `\0`\n",
            "root/latin/latin.go": "package latin\n\nvar x = `grün`\n".encode("latin-1"),
            "root/utf16/utf16.go": "package utf16\n".encode("utf-16"),
            "root/huge/huge.go": b"package huge\n\nvar Huge = `" + b"x" * 5_000_000 + b"`\n",
            "outside/outside.go": b"package outside\n\nfunc Outside() {}\n",
        }
        for name, content in files.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_bytes(content)
        (self.root / "leaves.go").symlink_to("../outside/outside.go")
        (self.root / "leaves").symlink_to("../outside")
        (self.root / "circle.go").symlink_to("circle.go")
        (self.root / "broken.go").symlink_to("nowhere.go")
        (self.root / "testdata").mkdir()
        os.mkfifo(self.root / "testdata" / "pipe.go")  # elsewhere gopls 0.24 would wait for it

    def snapshot(self) -> dict[str, tuple[int, bytes]]:
        """When each file was written last, and its content."""
        return {
            str(path): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path in self.top.rglob("*")
        }


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return Tree(tmp_path_factory.mktemp("bad"))


@pytest.fixture(scope="module")
def shared_server(tree: Tree) -> Iterator[Connected]:
    with connected("--workspace-root", str(tree.root)) as server:
        assert "Found 2 references" in server.answer(USES, symbol_anchor="go://a.go#5:5")
        assert "Deleted" in server.answer(LIST, file_path="deleted.go")
        (tree.root / "deleted.go").unlink()
        yield server


@pytest.fixture
def server(shared_server: Connected, tree: Tree) -> Iterator[Connected]:
    """The server of all these tests: after each it still works, and no file is other than before."""
    before = tree.snapshot()
    yield shared_server
    assert "Found 2 references" in shared_server.answer(USES, symbol_anchor="go://a.go#5:5")
    assert tree.snapshot() == before


def says(error: str, *parts: str) -> None:
    """`error` has each of `parts`, and is not a defect's."""
    assert "defect" not in error
    assert len(error) < 1500
    for part in parts:
        assert part in error


# --- anchors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", [USES, RENAME])
@pytest.mark.parametrize(
    "anchor",
    [
        "go://",
        "go://a.go#3:",
        "go://a.go#3:6:6",
        "go://a.go#3:6 Greet",
        "go://a.go#-3:6",
        "go://a.go#3.5:6",
        "#3:6",
        "://a.go#3:6",
        "go://#3:6",
        "go://%FF.go#3:6",
        "go://a.go%00#3:6",
    ],
)
def test_a_malformed_anchor(server: Connected, tool: str, anchor: str) -> None:
    arguments = {"new_name": "New"} if tool == RENAME else {}
    says(server.error(tool, symbol_anchor=anchor, **arguments), repr(anchor))


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("go://a.go", "a.go names a file, not a symbol"),
        ("go://a.go#", "a.go names a file, not a symbol"),
        ("go://a.go#三:6", "a.go declares no '三:6'"),
        ("go://a.go#99999999999999999999:1", "line 99999999999999999999 is not in the document"),
    ],
)
@pytest.mark.parametrize("tool", [USES, RENAME])
def test_an_address_that_names_no_symbol(server: Connected, tool: str, address: str, told: str) -> None:
    arguments = {"new_name": "New"} if tool == RENAME else {}
    says(server.error(tool, symbol_anchor=address, **arguments), told)


@pytest.mark.parametrize("anchor", ["go://a.go#0:6", "go://a.go#3:0"])
def test_an_anchor_that_counts_from_0(server: Connected, anchor: str) -> None:
    says(server.error(USES, symbol_anchor=anchor), "counts from 0", "LINE and CHAR from 1")


@pytest.mark.parametrize("anchor", ["", "  "])
def test_an_empty_anchor(server: Connected, anchor: str) -> None:
    says(server.error(USES, symbol_anchor=anchor), "symbol_anchor is empty; pass Type.Method, FILE:LINE or go://FILE")


def test_an_anchor_past_the_end_of_the_file(server: Connected) -> None:
    says(
        server.error(USES, symbol_anchor="go://a.go#7:1"), "line 7 is not in the document, which has 5 lines", "from 1"
    )


def test_an_anchor_past_the_end_of_the_line(server: Connected) -> None:
    length = len(A_GO.split("\n")[2])
    for character in (length + 2, 999_999_999):
        error = server.error(USES, symbol_anchor=f"go://a.go#3:{character}")
        says(error, f"character {character} is not in line 3, which has {length} characters")


def test_an_anchor_on_white_space(server: Connected) -> None:
    says(
        server.error(USES, symbol_anchor="go://a.go#3:22"),
        "is not on an identifier",
        "On line 3: Greet at go://a.go#3:6",
    )


def test_an_anchor_on_an_empty_line(server: Connected) -> None:
    says(server.error(USES, symbol_anchor="go://a.go#4:1"), "is not on an identifier", "Line 4 of a.go has none")


def test_an_anchor_on_a_keyword(server: Connected) -> None:
    for character in (1, 3, 5):
        error = server.error(USES, symbol_anchor=f"go://a.go#3:{character}")
        says(error, "the keyword func", "On line 3: Greet at go://a.go#3:6")


def test_an_anchor_in_a_comment_or_a_string(server: Connected) -> None:
    for anchor in ("go://a.go#3:31", "go://a.go#3:52"):
        says(server.error(USES, symbol_anchor=anchor), "gopls", anchor)
        says(server.error(RENAME, symbol_anchor=anchor, new_name="New"), "gopls", anchor)


def test_an_anchor_in_a_deleted_file(server: Connected) -> None:
    for tool, arguments in ((USES, {}), (RENAME, {"new_name": "New"})):
        error = server.error(tool, symbol_anchor="go://deleted.go#3:6", **arguments)
        says(error, "deleted.go does not exist", "Beside it: a.go")


def test_an_anchor_in_a_file_that_never_was(server: Connected) -> None:
    says(server.error(USES, symbol_anchor="go://no/such.go#1:1"), "no/such.go does not exist", "there is no folder no")


@pytest.mark.parametrize("file", ["../outside/outside.go", "sub/../../outside/outside.go", "%2E%2E/outside/outside.go"])
def test_an_anchor_outside_the_root(server: Connected, tree: Tree, file: str) -> None:
    for tool, arguments in ((USES, {}), (RENAME, {"new_name": "New"})):
        error = server.error(tool, symbol_anchor=f"go://{file}#3:6", **arguments)
        says(error, f"outside the workspace root {tree.root}", "--workspace-root")


def test_an_absolute_anchor_outside_the_root(server: Connected, tree: Tree) -> None:
    error = server.error(USES, symbol_anchor=f"go://{tree.top}/outside/outside.go#3:6")
    says(error, "outside the workspace root", "--workspace-root")
    says(server.error(USES, symbol_anchor="go:///etc/passwd#1:1"), "/etc/passwd is outside the workspace root")


@pytest.mark.parametrize("file", ["leaves.go", "leaves/outside.go"])
def test_an_anchor_behind_a_link_that_leaves_the_root(server: Connected, tree: Tree, file: str) -> None:
    for tool, arguments in ((USES, {}), (RENAME, {"new_name": "New"})):
        error = server.error(tool, symbol_anchor=f"go://{file}#3:6", **arguments)
        says(error, "outside the workspace root", f"it is a link to {tree.top}/outside/outside.go")


def test_a_link_in_a_circle_and_one_to_nowhere(server: Connected) -> None:
    for file in ("circle.go", "broken.go"):
        says(server.error(USES, symbol_anchor=f"go://{file}#1:1"), file)
        says(server.error(LIST, file_path=file), file)


# --- names and new names -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_an_empty_name(server: Connected, name: str) -> None:
    says(server.error(FIND, symbol_name=name), "symbol_name is empty; pass a name")
    says(server.error(LIST, file_path=name), "is not a file name; pass a path relative to the workspace root")


@pytest.mark.parametrize(
    ("path", "told"),
    [("x" * 300 + ".go", "longer than 255 bytes"), ("a\0.go", "it has a NUL character")],
)
def test_a_path_to_check_that_no_file_can_have(server: Connected, path: str, told: str) -> None:
    says(server.error("check", path=path), told)


def test_a_file_is_not_renamed_to_a_name_that_no_file_can_have(server: Connected) -> None:
    says(server.error(RENAME, symbol_anchor="a.go", new_name="x" * 300 + ".go"), "longer than 255 bytes")


@pytest.mark.parametrize("name", ["", " ", "func", "two words", "3d", "a.b", "x;y", "😀", "\0"])
def test_an_impossible_new_name(server: Connected, name: str) -> None:
    expected = "go://a.go#5:5" if name.strip() else "new_name is empty; pass a valid identifier"
    says(server.error(RENAME, symbol_anchor="go://a.go#5:5", new_name=name), expected)


@pytest.mark.parametrize("name", ["\0", "*", "()", ".", "...", "/", "//", "x" * 100_000, "😀", "%", "a b c"])
def test_a_name_that_nothing_can_have(server: Connected, name: str) -> None:
    for result in (server.call(FIND, symbol_name=name), server.call(USES, symbol_anchor=name)):
        assert "defect" not in str(result)


# --- limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, -1, 10**9, 10**30, 1.5, "many", None, [1], {}])
def test_an_impossible_limit(server: Connected, limit: Any) -> None:
    for tool, arguments in (
        (LIST, {"file_path": "a.go"}),
        (FIND, {"symbol_name": "Greet"}),
        (USES, {"symbol_anchor": "go://a.go#5:5"}),
    ):
        says(server.error(tool, **arguments, limit=limit), f"{tool}: limit: ", "input should be")


def test_the_limits_that_are_possible(server: Connected) -> None:
    for limit in (1, 10_000):
        assert json.loads(server.answer(FIND, symbol_name="Greet", limit=limit))["definitions"]


# --- files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "parts"),
    [
        ("binary/binary.go", ["binary file", "NUL"]),
        ("latin/latin.go", ["is not UTF-8", "iconv"]),
        ("utf16/utf16.go", ["binary file"]),
        ("huge/huge.go", ["has a line of 5,000,013 characters"]),
        ("notes.txt", ["no backend supports notes.txt", ".go"]),
        ("go.mod", ["no backend supports go.mod"]),
        ("testdata/pipe.go", ["pipe.go is not a regular file"]),
        ("missing.go", ["missing.go does not exist", "Beside it: a.go"]),
        ("a.go/b.go", ["a.go/b.go does not exist"]),
        ("a.go\0", ["it has a NUL character"]),
        ("x" * 300 + ".go", ["a part of it is longer than 255 bytes"]),
        ("/etc/passwd", ["/etc/passwd is outside the workspace root"]),
        ("../outside/outside.go", ["outside the workspace root"]),
        ("leaves.go", ["outside the workspace root", "it is a link to"]),
        ("file:///etc/passwd", ["does not exist"]),
    ],
)
def test_a_file_that_cannot_be_read(server: Connected, file: str, parts: list[str]) -> None:
    says(server.error(LIST, file_path=file), *parts)
    encoded = file.replace("\0", "%00")
    server.error(USES, symbol_anchor=f"go://{encoded}#1:1")
    server.error(RENAME, symbol_anchor=f"go://{encoded}#1:1", new_name="New")


# --- arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        (LIST, {}, "file_path is required"),
        (LIST, {"file_path": 1}, "file_path: input should be a valid string (got 1)"),
        (LIST, {"file_path": ["a.go"]}, "file_path: input should be a valid string (got ['a.go'])"),
        (LIST, {"file_path": None}, "file_path: input should be a valid string (got None)"),
        (LIST, {"file_path": "a.go", "include_hover": "perhaps"}, "include_hover: input should be a valid boolean"),
        (LIST, {"file_path": "a.go", "include_code": 7}, "include_code: input should be a valid boolean"),
        (LIST, {"file_path": "a.go", "format": "xml"}, "format: input should be 'json' or 'compact' (got 'xml')"),
        (LIST, {"file_name": "a.go"}, "unknown argument 'file_name' (did you mean 'file_path'?)"),
        (LIST, {"file_path": "a.go", "path": "b.go"}, "unknown argument 'path' (did you mean 'file_path'?)"),
        (USES, {"symbol": "A", "target": "B"}, "unknown argument 'symbol' (did you mean 'symbol_anchor'?)"),
        (FIND, {"symbol_name": {"name": "x"}}, "symbol_name: input should be a valid string"),
        (FIND, {"names": "x", "limit": 0}, "unknown argument 'names' (did you mean 'symbol_name'?)"),
        (FIND, {"symbol_name": "x", "kind": "banana"}, "unknown kind 'banana'; available: file, module,"),
        (
            USES,
            {"symbol": "A", "line": 3},
            "unknown argument 'line' (pass symbol_anchor=FILE:LINE:COLUMN, counted from 1)",
        ),
        (RENAME, {"symbol": "A", "new_name": "B", "newName": "C"}, "unknown argument 'newName'"),
        (USES, {"symbol_anchor": True}, "symbol_anchor: input should be a valid string (got True)"),
        (RENAME, {"symbol_anchor": "go://a.go#5:5"}, "new_name is required"),
        (RENAME, {"new_name": "New"}, "symbol_anchor is required"),
        ("edit_symbol", {"symbol": "A", "code": "x"}, "action is required (one of replace, "),
        ("edit_symbol", {"symbol": "Greet", "action": "delete", "hash": "0"}, "now, not 0. Read it again"),
        (RENAME, {"symbol_anchor": "go://a.go#5:5", "new_name": 5}, "new_name: input should be a valid string (got 5)"),
        (RENAME, {"symbol_anchor": "go://a.go#5:5", "new_name": "New", "apply": "later"}, "apply: input should be"),
        (RENAME, {"symbol_anchor": "go://a.go#5:5", "new_name": "New", "dry_run": True}, "unknown argument 'dry_run'"),
    ],
)
def test_arguments_of_the_wrong_type_or_name(
    server: Connected, tool: str, arguments: dict[str, Any], problem: str
) -> None:
    says(server.error(tool, **arguments), problem)


@pytest.mark.parametrize(
    ("tool", "named", "others"),
    [
        (LIST, {"path": "a.go"}, {"file_path": "a.go"}),
        (FIND, {"symbol": "Greet"}, {"symbol_name": "Greet"}),
        (USES, {"symbol": "Greet"}, {"symbol_anchor": "Greet"}),
        ("read_symbol", {"symbol_anchor": "Greet"}, {"symbols": "Greet"}),
        ("find_calls", {"symbol_name": "Greet"}, {"symbol": "Greet"}),
        ("find_impact", {"anchor": "Greet"}, {"symbols": "Greet"}),
        ("refactor", {"symbol": "Greet"}, {"target": "Greet"}),
        ("check", {"file": "a.go"}, {"path": "a.go"}),
        (FIND, {"name": "Greet"}, {"symbol_name": "Greet"}),
        (LIST, {"filePath": "a.go"}, {"file_path": "a.go"}),
        ("read_symbol", {"symbols": '["Greet", "a.go:1"]'}, {"symbols": ["Greet", "a.go:1"]}),
    ],
)
def test_a_parameter_has_the_names_of_other_tools_for_it(
    server: Connected, tool: str, named: dict[str, Any], others: dict[str, Any]
) -> None:
    assert server.answer(tool, **named) == server.answer(tool, **others)


@pytest.mark.parametrize("file", ["go://a.go#", "go://a.go#1:1", "a.go:1", "a.go:1:1", "file://{root}/a.go"])
def test_a_file_may_be_named_by_a_place_in_it(server: Connected, tree: Tree, file: str) -> None:
    named = file.format(root=tree.root)
    for tool, argument in ((LIST, "file_path"), ("check", "path")):
        answer = server.answer(tool, **{argument: named})
        assert answer == server.answer(tool, **{argument: "a.go"}).replace('"a.go"}', f'"{named}"}}', 1)


def test_uses_in_a_file_that_cannot_be_shown_are_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.com/long\n\ngo 1.23\n")
    (tmp_path / "a.go").write_text("package long\n\nfunc Greet() {}\n\nfunc use() { Greet() }\n")
    (tmp_path / "data.go").write_text(f"package long\n\nfunc data(string) {{ Greet(); data(`{'x' * 1_100_000}`) }}\n")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with connected("--workspace-root", str(tmp_path)) as server:
        answer = json.loads(server.answer(USES, symbol_anchor="go://a.go#3:6"))
        assert len(answer["references"]) == 2
        assert answer["status"] == "1 result dropped: file gone or not readable as source"
        error = server.error(RENAME, symbol_anchor="go://a.go#3:6", new_name="Hail")
        says(error, "data.go")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_half_a_surrogate_pair_in_each_argument(tree: Tree) -> None:
    """JSON can spell it, UTF-8 cannot. The SDK's own client does not send it, and its server (2.3) does not answer."""
    before = tree.snapshot()
    with raw("--workspace-root", str(tree.root)) as server:
        server.initialize()
        for tool, arguments in (
            (LIST, {"file_path": "\ud800.go"}),
            (FIND, {"symbol_name": "\ud800"}),
            (USES, {"symbol_anchor": "go://\ud800.go#1:1"}),
            (USES, {"symbol_anchor": "\udfff"}),
            (RENAME, {"symbol_anchor": "go://a.go#5:5", "new_name": "\ud83d"}),
            (LIST, {"\ud800": 1}),
        ):
            server.send({"id": "bad", "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
            assert server.call(USES, symbol_anchor="go://a.go#5:5")["isError"] is False
    assert tree.snapshot() == before


# --- workspace roots ---------------------------------------------------------------------------------


def refused(root: Path, *arguments: str, preexec_fn: Callable[[], None] | None = None) -> str:
    """What every call answers when the root is refused; the process lives, since a client hides its last words."""
    with raw("--workspace-root", str(root), *arguments, preexec_fn=preexec_fn) as server:
        server.initialize()
        errors = [server.call(LIST, file_path="a.go") for _ in range(2)]
        assert server.process.poll() is None
    assert errors[0] == errors[1]
    assert errors[0]["isError"] is True
    return str(errors[0]["content"][0]["text"])


def test_a_root_that_does_not_exist(tmp_path: Path) -> None:
    line = refused(tmp_path / "nowhere")
    assert line == f"the workspace root {tmp_path}/nowhere does not exist; pass --workspace-root FOLDER"


def test_a_root_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_text("package a\n")
    says(refused(tmp_path / "a.go"), "a.go is not a folder; pass the folder that holds it")


def test_a_root_that_cannot_be_read(tmp_path: Path) -> None:
    root = tmp_path / "locked"
    root.mkdir()
    (root / "go.mod").write_text("module example.com/locked\n")
    root.chmod(0)
    try:
        says(refused(root, preexec_fn=without_rights()), f"the workspace root {root} cannot be read")
    finally:
        root.chmod(0o700)


def test_a_map_of_a_folder_names_the_files_that_cannot_be_read(server: Connected) -> None:
    answer = json.loads(server.answer(LIST, file_path="."))
    says(answer["status"], "cannot be read", "binary/binary.go is a binary file")
    unread = next(gap["files"] for gap in answer["gaps"] if gap["kind"] == "not_searched")
    assert {"binary/binary.go", "latin/latin.go", "utf16/utf16.go"} <= set(unread)
    assert json.loads(server.answer(LIST, file_path="folder.go"))["message"] == "0 symbols in 0 files below folder.go."


def test_a_file_and_a_folder_that_cannot_be_read(tmp_path: Path) -> None:
    root = Path(shutil.copytree(Path(__file__).parent / "fixtures" / "go", tmp_path / "root"))
    locked = [root / "loan" / "loan_test.go", root / "shelf"]
    for path in locked:
        path.chmod(0)
    try:
        with raw("--workspace-root", str(root), preexec_fn=without_rights()) as server:
            server.initialize()
            for file, part in (("loan/loan_test.go", "cannot be read: Permission denied"), ("shelf/shelf.go", "shelf")):
                error = server.call(LIST, file_path=file)
                assert error["isError"] is True
                says(error["content"][0]["text"], file, part)
            assert server.call(LIST, file_path="loan/loan.go")["isError"] is False
    finally:
        for path in locked:
            path.chmod(0o700)


def test_in_a_root_without_files_the_first_one_starts_its_server(tmp_path: Path) -> None:
    find = {"symbol_name": "Found"}
    with connected("--workspace-root", str(tmp_path)) as server:
        for tool, arguments in ((FIND, find), (LIST, {"file_path": "."}), ("check", {})):
            says(server.error(tool, **arguments), f"{tmp_path} has no source file yet", "ask again when it has one")
        (tmp_path / "deep/down/below").mkdir(parents=True)
        (tmp_path / "deep/down/go.mod").write_text("module example.com/m\n\ngo 1.24\n")
        (tmp_path / "deep/down/below/a.go").write_text("package a\n\nfunc Found() {}\n\nvar _ = Found\n")
        (found,) = json.loads(server.answer(FIND, **find))["definitions"]
        assert found["location"]["file"] == "deep/down/below/a.go"
        assert json.loads(server.answer(LIST, file_path="deep/down/below/a.go"))["status"] == "complete"


def test_a_root_that_cannot_be_served_lists_the_tools_of_every_language_server_and_all_tell_the_reason(
    tmp_path: Path,
) -> None:
    root = tmp_path / "nowhere"
    with connected("--workspace-root", str(root)) as server:
        listed = {tool.name for tool in server.tools()}
        reason = CallerError("only looked at")
        assert listed == {tool.name for tool in tools_without_sessions(reason, ["code", "lsp"]) if tool.listed()}
        for tool, arguments in ((FIND, {"symbol_name": "Found"}), ("create_task", {"title": "Found"})):
            says(server.error(tool, **arguments), f"the workspace root {root} does not exist")


@pytest.mark.parametrize("files", [{}, {"sub/a.go": "package a\n\nfunc Found() {}\n"}], ids=["empty", "Go files only"])
def test_a_root_that_is_not_a_module(tmp_path: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(content)
    with connected("--workspace-root", str(tmp_path), "--backend", "gopls") as server:
        answer = json.loads(server.answer(FIND, symbol_name="Found"))
        assert answer["definitions"] == []
        says(answer["status"], f"there is no go.mod in {tmp_path}", "--workspace-root")
        says(server.error(USES, symbol_anchor="Found"), "there is no go.mod", "--workspace-root")


def test_a_root_whose_module_file_is_broken(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("modul example.com/a\n")
    (tmp_path / "a.go").write_text("package a\n\nfunc Found() {}\n")
    with connected("--workspace-root", str(tmp_path)) as server:
        answer = json.loads(server.answer(FIND, symbol_name="Found"))
        assert answer["definitions"] == []
        says(answer["status"], "`go list -e -find .` fails", "unknown directive: modul")
