"""The projects of a workspace: which there are, which a server answers for together, and whether they load."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from fakes.bounded import bounded, gone, told
from fakes.gaps import missing
from fakes.workspace import FakeWorkspace, do
from lsp_mcp.backend import Use
from lsp_mcp.servers.gopls import workspace_projects
from lsp_mcp.servers.gopls.projects import ProjectMap, above, map_projects
from lsp_mcp.servers.gopls.rules import MODULES as GO
from lsp_mcp.servers.gopls.rules import Projects

ROOT = Path("/w")


def go_map(files: Mapping[str, str], root: Path = ROOT) -> ProjectMap:
    """The projects of Go module and workspace files, by path below /w."""
    contents = {ROOT / name: content for name, content in files.items()}
    return map_projects(sorted(contents), GO, root, contents.__getitem__)


def names(projects: ProjectMap) -> dict[str, str]:
    """The projects' names by folder."""
    return {project.folder.relative_to(ROOT).as_posix(): project.name for project in projects.projects}


THREE = {
    "go.mod": "module example.com/root\n\ngo 1.22\n",
    "a/go.mod": "module example.com/a // a comment\nrequire example.com/root v0.0.0\n",
    "b/go.mod": 'module "example.com/b"\nrequire (\n\texample.com/a v1.0.0 // indirect\n\texample.com/abc v1.0.0\n)\n',
}

# --- what is a project -------------------------------------------------------------------------------


def test_each_marker_makes_its_folder_a_project_with_the_name_in_it() -> None:
    assert names(go_map(THREE)) == {".": "example.com/root", "a": "example.com/a", "b": "example.com/b"}


@pytest.mark.parametrize("content", ["", "// module x\n", "go 1.22\n", "modules x\n"])
def test_a_marker_without_a_name_counts_by_its_folder(content: str) -> None:
    assert names(go_map({"lib/go.mod": content})) == {"lib": "lib"}


@pytest.mark.parametrize("folder", ["testdata", "vendor/x", "_examples", ".cache/m", "a/testdata/src/b"])
def test_folders_that_hold_no_project_are_ignored(folder: str) -> None:
    assert names(go_map({**THREE, f"{folder}/go.mod": "module no\n"})) == names(go_map(THREE))
    joined = go_map({**THREE, f"{folder}/go.work": "use ../a\nuse ../b\n"})
    assert joined.unseen_dependents(joined.projects[1]) == [joined.projects[2]]


def test_folders_above_the_root_are_never_ignored() -> None:
    root = ROOT / "testdata" / "x"
    projects = go_map({"testdata/x/go.mod": "module x\n", "testdata/x/testdata/go.mod": "module no\n"}, root)
    assert [project.name for project in projects.projects] == ["x"]


def test_a_file_belongs_to_the_nearest_project_above_it() -> None:
    projects = go_map(THREE)

    def project(name: str) -> str | None:
        found = projects.nearest(ROOT / name)
        return found.name if found else None

    assert project("a.go") == project("sub/deep/a.go") == project("ab/a.go") == "example.com/root"
    assert project("a/a.go") == project("a/sub/a.go") == "example.com/a"
    assert projects.nearest(Path("/elsewhere/a.go")) is None
    assert go_map({}).nearest(ROOT / "a.go") is None


# --- who answers for whom ----------------------------------------------------------------------------


def dependents(projects: ProjectMap, name: str) -> list[str]:
    project = next(project for project in projects.projects if project.name == name)
    return [other.name for other in projects.unseen_dependents(project)]


def test_dependents_are_those_that_name_the_project() -> None:
    projects = go_map(THREE)
    assert dependents(projects, "example.com/root") == ["example.com/a"]
    assert dependents(projects, "example.com/a") == ["example.com/b"]
    assert dependents(projects, "example.com/b") == []


@pytest.mark.parametrize(
    "work",
    [
        "go 1.22\n\nuse ./a\nuse ./b\n",
        "go 1.22\nuse (\n\t./a // the first\n\t./b\n)\n",
        'use (\n\t"./a"\n\t"./b/"\n)\n',
        "use a\r\nuse b\r\n",
        "use /w/a\nuse ../w/b\n",
        "use(\n./a\n./b)\n",
    ],
)
def test_projects_that_a_file_joins_are_answered_for_together(work: str) -> None:
    projects = go_map({**THREE, "go.work": work})
    assert dependents(projects, "example.com/a") == []
    assert dependents(projects, "example.com/root") == ["example.com/a"], "the root itself is not joined"


@pytest.mark.parametrize(
    "work",
    [
        "use ./a\n",
        "use ./a\n// use ./b\n",
        "use ./a // ./b\n",
        "use ./a\nreplace example.com/b => ./b\n",
        "use ./a\nreplace (\n\texample.com/b v1.0.0 => ./b\n)\n",
        "use ./a ./a/b\n",
        "",
    ],
)
def test_a_project_that_the_file_does_not_join_is_not_answered_for(work: str) -> None:
    assert dependents(go_map({**THREE, "go.work": work}), "example.com/a") == ["example.com/b"]


@pytest.mark.parametrize("keyword", ["go", "use", "toolchain", "replace"])
def test_a_folder_that_is_called_like_a_keyword_is_not_joined_by_it(keyword: str) -> None:
    files = {
        "a/go.mod": "module example.com/a\n",
        f"{keyword}/go.mod": "module example.com/k\nrequire example.com/a v1\n",
        "go.work": "go 1.22\ntoolchain go1.22.1\nuse (\n\t./a\n)\nreplace (\n\tx => y\n)\n",
    }
    assert dependents(go_map(files), "example.com/a") == ["example.com/k"]


def test_two_files_do_not_join_what_only_both_together_name() -> None:
    projects = go_map({**THREE, "go.work": "use ./a\n", "sub/go.work": "use ../b\n"})
    assert dependents(projects, "example.com/a") == ["example.com/b"]


def unloaded(projects: ProjectMap, root: Path = ROOT) -> list[str]:
    return [project.name for project in projects.unloaded(root)]


def test_a_server_loads_the_project_at_the_root_and_what_is_joined_there() -> None:
    assert unloaded(go_map(THREE)) == ["example.com/a", "example.com/b"]
    assert unloaded(go_map({**THREE, "go.work": "use .\nuse ./a\n"})) == ["example.com/b"]
    assert unloaded(go_map({**THREE, "sub/go.work": "use ../a\n"})) == ["example.com/a", "example.com/b"]


def test_a_joining_file_above_the_root_counts() -> None:
    files = {"go.work": "use ./in/a\nuse ./in/b\n", **{f"in/{name}": text for name, text in THREE.items()}}
    projects = go_map(files, ROOT / "in")
    assert unloaded(projects, ROOT / "in") == []
    assert dependents(projects, "example.com/a") == []


def test_the_files_above_a_root_are_found(tmp_path: Path) -> None:
    root = tmp_path / "one" / "two"
    root.mkdir(parents=True)
    for name in ("go.mod", "one/go.work", "one/two/go.mod", "one/other.mod"):
        (tmp_path / name).write_text("")
    (tmp_path / "one" / "go.mod").mkdir()
    found = [path for path in above(root, GO) if path.is_relative_to(tmp_path)]
    assert found == [tmp_path / "one" / "go.work", tmp_path / "go.mod"]
    assert above(root, Projects(marker="no.such.marker", name_pattern="")) == []


# --- whether they load -------------------------------------------------------------------------------

RULES = """
[projects]
marker = "project"
name_pattern = '(?m)^name (\\S+)'
joined_by = "join"
join_hint = "join {{folders}}"
join_more_hint = "join more {{folders}}"
ignored_folders = ["testdata"]
check_command = {check}
open_to_load = true
"""


JOIN = """
[projects.join]
variable = "JOIN"
file = "join"
text = "{entries}"
entry = "{folder}\\n"
version_pattern = "version (.*)"
version_default = "1"
check_command = ["true"]
decided_by = { JOIN = "^$" }
"""


def rules(check: str = "[]") -> str:
    return RULES.format(check=check)


@bounded
async def test_a_project_that_cannot_be_loaded_is_in_the_notes_until_it_can(fake: FakeWorkspace) -> None:
    check = '["sh", "-c", "grep -q good project || { echo broken; echo twice; } >&2; grep -q good project"]'
    path, marker = fake.write("a/a.txt", "x"), fake.write("a/project", "name a\n")
    fake.write("b/project", "name b good\n")
    other = fake.write("b/b.txt", "x")
    async with fake.session(rules(check)) as session:
        await session.sync()
        (note,) = await missing(session, path, None)
        assert note.startswith("`sh -c ")
        assert note.endswith("fails in a: broken twice")
        assert await missing(session) == [note]
        assert await missing(session, other, None) == []
        marker.write_text("name a good\n")
        await session.sync()
        assert await missing(session, path, None) == []
        assert await missing(session) == []


@bounded
async def test_a_check_that_fails_always_names_its_reason(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "x")
    fake.write("project", "name a\n")
    async with fake.session(rules('["sh", "-c", "echo broken >&2; exit 1"]')) as session:
        await session.sync()
        assert await missing(session, path, None) == ["`sh -c 'echo broken >&2; exit 1'` fails in .: broken"]


@bounded
async def test_without_a_project_nothing_is_checked_and_in_one_above_the_root_the_root_is(fake: FakeWorkspace) -> None:
    path = fake.write("sub/a.txt", "x")
    check = rules('["sh", "-c", "echo $1 >&2; pwd >&2; exit 1", "sh", "{folder}"]')
    async with fake.session(check) as session:
        await session.sync()
        assert await missing(session, path, None) == []
    (fake.root.parent / "project").write_text("name above\n")
    async with fake.session(check) as session:
        await session.sync()
        (note,) = await missing(session, path, None)
        assert note.endswith(f"fails in .: . {fake.root}")


@bounded
async def test_a_check_whose_program_is_missing_is_a_note(fake: FakeWorkspace) -> None:
    fake.write("project", "name a\n")
    async with fake.session(rules('["no-such-checker"]')) as session:
        await session.sync()
        (note,) = await missing(session)
        assert note.startswith("fake cannot load .: no-such-checker cannot be started")


@bounded
async def test_a_check_that_does_not_end_is_a_note(fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_projects, "_CHECK_TIMEOUT", 0.05)
    fake.write("project", "name a\n")
    async with fake.session(rules('["sleep", "1000"]')) as session:
        await session.sync()
        assert await missing(session) == ["fake cannot load .: sleep 1000 was still running after 0.05 s"]


@bounded
async def test_a_check_under_way_is_killed_when_the_session_closes(fake: FakeWorkspace) -> None:
    fifo = fake.fifo()
    fake.write("project", "name a\n")
    check = f'["sh", "-c", "echo $$ > pid; echo > {fifo}; sleep 1000; :"]'
    async with fake.session(rules(check)) as session:
        await session.sync()
        await told(fifo)
        waiting = asyncio.create_task(missing(session))
        await session.close()
        await gone(int((fake.root / "pid").read_text()))
        assert await waiting == []


@bounded
async def test_a_wait_for_a_check_gets_the_new_one_when_the_projects_change_during_it(fake: FakeWorkspace) -> None:
    fifo = fake.fifo()
    marker = fake.write("project", "name slow\n")
    check = f'["sh", "-c", "if grep -q slow project; then echo > {fifo}; sleep 1000; fi; echo fixed; exit 1"]'
    async with fake.session(rules(check)) as session:
        await session.sync()
        waiting = asyncio.create_task(missing(session))
        await told(fifo)
        marker.write_text("name quick\n")
        await session.sync()
        (note,) = await waiting
        assert note.endswith("fails in .: fixed")


@bounded
async def test_a_caller_that_stops_waiting_for_a_check_does_not_end_it_for_others(fake: FakeWorkspace) -> None:
    fifo, go_on = fake.fifo(), fake.fifo()
    fake.write("project", "name a\n")
    check = f'["sh", "-c", "echo > {fifo}; read word < {go_on}; echo $word; exit 1"]'
    async with fake.session(rules(check)) as session:
        await session.sync()
        one, two = (asyncio.create_task(missing(session)) for _ in range(2))
        await told(fifo)
        one.cancel()
        await asyncio.wait([one])
        assert one.cancelled()
        with go_on.open("r+b", buffering=0) as pipe:
            pipe.write(b"done\n")
            assert [note.rpartition(": ")[2] for note in await two] == ["done"]


@bounded
async def test_one_file_of_each_project_that_the_server_does_not_load_is_opened_for_good(
    fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsp_mcp.lsp.life.documents.MAX_OPEN", 1)
    for folder in (".", "a", "b", "c", "testdata/d"):
        fake.write(f"{folder}/project", f"name {folder}\n")
    for name in ("x.txt", "a/y_test.txt", "a/z.txt", "a/deep/a.txt", "c/one.txt", "testdata/d/e.txt"):
        fake.write(name, name)
    fake.write("c/one.txt", "x\0y")
    fake.write("b/readme.md", "no source")
    async with fake.session(rules()) as session:
        await session.sync()
        await session.coverage.load(None, "x")
        await session.coverage.load(None, "x")
        for name in ("x.txt", "a/deep/a.txt"):
            await session.documents.open(fake.root / name)
        await session.request("fake/do", do())
    opened = [params["textDocument"]["text"] for params in fake.params("textDocument/didOpen")]
    assert opened == ["a/z.txt", "x.txt", "a/deep/a.txt"]
    closed = [params["textDocument"]["uri"] for params in fake.params("textDocument/didClose")]
    assert closed == [(fake.root / "x.txt").as_uri()]


@bounded
async def test_uses_in_a_project_that_is_not_looked_into_are_said_to_be_missing(fake: FakeWorkspace) -> None:
    fake.write("a/project", "name a\n")
    fake.write("b/project", "name b\nneeds a\n")
    fake.write("c/project", "name c\nneeds a\n")
    path, use = fake.write("a/a.txt", "Word"), fake.write("b/b.txt", "a Word here")
    fake.write("c/c.txt", "WordSearch only")
    async with fake.session(rules()) as session:
        await session.sync()
        assert await missing(session, path, Use("Word")) == [
            "not searched: b (b), which uses a and has the word Word; "
            "fake answers for several projects at once only after: join ./a ./b"
        ]
        assert await missing(session, path, None) == []
        assert await missing(session, path, Use("Other")) == []
        use.write_text("nothing")
        await session.sync()
        assert await missing(session, path, Use("Word")) == []
        use.write_text("a Word again")
        fake.write("join", "with a\n")
        await session.sync()
        assert [text.rpartition("only after: ")[2] for text in await missing(session, path, Use("Word"))] == [
            "join more ./a ./b"
        ]
        fake.write("join", "with a\nwith b\n")
        await session.sync()
        assert await missing(session, path, Use("Word")) == []


@pytest.mark.parametrize(
    ("value", "way"),
    [("off", "join ./a ./b (without JOIN=off)"), ("{elsewhere}", "join more ./a ./b"), ("", "join ./a ./b")],
)
@bounded
async def test_the_way_to_join_projects_considers_the_users_own_variable(
    fake: FakeWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, way: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(f"{fake.root / 'a'}\n")
    monkeypatch.setenv("JOIN", value.format(elsewhere=elsewhere))
    fake.write("a/project", "name a\n")
    fake.write("b/project", "name b\nneeds a\n")
    path = fake.write("a/a.txt", "Word")
    fake.write("b/b.txt", "a Word here")
    async with fake.session(rules() + JOIN) as session:
        await session.sync()
        (said,) = await missing(session, path, Use("Word"))
    assert said.rpartition("only after: ")[2] == way


@bounded
async def test_more_projects_than_are_loaded_is_a_note(fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_projects, "_MOST_LOADED", 3)
    for n in range(5):
        fake.write(f"{n}/project", f"name {n}\n")
        fake.write(f"{n}/a.txt", str(n))
    async with fake.session(rules()) as session:
        await session.sync()
        await session.coverage.load(None, "x")
        (note,) = await missing(session)
        assert note.startswith("5 projects below the root, 3 of them loaded")
        await session.request("fake/do", do())
    assert len(fake.params("textDocument/didOpen")) == 3


@bounded
async def test_a_server_without_projects_has_nothing_to_say_of_them(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "x")
    async with fake.session() as session:
        await session.sync()
        await session.coverage.load(None, "x")
        assert await missing(session, path, Use("x")) == []
        assert await missing(session) == []
        await session.request("fake/do", do())
    assert fake.params("textDocument/didOpen") == []
