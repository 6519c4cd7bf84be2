"""`EditPolicy`: no edit reaches what it does not let pass, however a path is spelled and wherever it leads."""

from __future__ import annotations

import ast
import os
import subprocess
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsp_mcp.edits.apply import apply_plan
from lsp_mcp.edits.plan import CreateFile, DeleteFile, EditPlan, FileChange, RenameFile, Step
from lsp_mcp.edits.policy import CheckedPlan, EditPolicy
from lsp_mcp.edits.protected import DEPENDENCY_FOLDERS, PROTECTED
from lsp_mcp.errors import EditError
from lsp_mcp.text import Text

NAMES = [name for names in PROTECTED.values() for name in names]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with a source, a script, and a link to git's folder."""
    folder = tmp_path / "root"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / "a.go").write_text("package a\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    return folder


def status(root: Path) -> str:
    done = subprocess.run(
        ["git", "status", "--porcelain", "--ignored"], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout


def state(root: Path) -> dict[str, object]:
    """All there is below `root`, git's folder too, and what git says of it."""
    status_ = status(root)  # first: it may write git's index
    there: dict[str, object] = {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in root.rglob("*")
    }
    return there | {"git status": status_}


def change(path: Path, before: str = "", after: str = "new") -> FileChange:
    return FileChange(path, Text(before), after, ())


def refused(root: Path, *steps: Step, match: str, policy: EditPolicy | None = None) -> str:
    """The steps are refused, and nothing changes."""
    before = state(root)
    with pytest.raises(EditError, match=match) as caught:
        apply_plan((policy or EditPolicy(root)).check(EditPlan(steps)))
    assert "Nothing was changed" in str(caught.value)
    assert state(root) == before
    return str(caught.value)


def applied(root: Path, *steps: Step) -> None:
    apply_plan(EditPolicy(root).check(EditPlan(steps)))


# --- what makes programs run -----------------------------------------------------------------------


def test_gits_configuration_is_neither_emptied_nor_overwritten_nor_changed(root: Path) -> None:
    config = root / ".git/config"
    text = config.read_text()
    message = refused(root, CreateFile(config, overwrite=True), change(config), match=r"\.git/config")
    assert "--allow-protected-edits" in message
    refused(root, change(config, text, text + "[core]\n\tfsmonitor = touch /tmp/pwned\n"), match=r"\.git/config")
    refused(root, CreateFile(config, overwrite=True), match=r"\.git/config")


def test_a_script_does_not_become_a_hook(root: Path) -> None:
    for hooks in (".git/hooks", ".husky", ".githooks"):
        refused(root, RenameFile(root / "run.sh", root / hooks / "post-checkout"), match="post-checkout")


def test_gits_folder_does_not_go_nor_move_nor_what_contains_one(root: Path) -> None:
    subprocess.run(["git", "init", "-q", "sub/module"], cwd=root, check=True)
    (root / "work").mkdir()
    (root / "work/.git").write_text("gitdir: ../.git/worktrees/work\n")
    for name in (".git", "sub", "sub/module", "work"):
        refused(root, DeleteFile(root / name, recursive=True), match=r"\.git")
        refused(root, RenameFile(root / name, root / "new"), match=r"\.git")
    refused(root, RenameFile(root / "a.go", root / "work/.git", overwrite=True), match=r"work/\.git")
    refused(root, change(root / "work/.git", "gitdir: ../.git/worktrees/work\n"), match=r"work/\.git")


def test_no_folder_becomes_a_repository_and_a_bare_one_is_left_alone(root: Path) -> None:
    new = root / "new"
    refused(root, CreateFile(new / "HEAD"), change(new / "HEAD", "", "ref: refs/heads/x\n"), match="new/HEAD")
    refused(root, RenameFile(root / "a.go", new / "HEAD"), match="new/HEAD")
    subprocess.run(["git", "init", "-q", "--bare", "store"], cwd=root, check=True)
    store = root / "store"
    text = (store / "config").read_text()
    refused(root, change(store / "config", text, text + "[core]\n\tfsmonitor = x\n"), match="store/config")
    refused(root, RenameFile(root / "run.sh", store / "hooks/post-update"), match="store/hooks")
    refused(root, DeleteFile(store, recursive=True), match="store")
    (store / "refs/heads").rmdir()
    (store / "refs/tags").rmdir()
    (store / "refs").rmdir()  # as in a checkout of such a folder, which has no empty ones
    refused(root, CreateFile(store / "refs/heads/x"), match="store/refs")


def test_a_folder_or_a_file_called_head_that_is_not_gits_is_in_nobodys_way(root: Path) -> None:
    (root / "head").mkdir()
    (root / "head/head.go").write_text("package head\n")
    (root / "web").mkdir()
    (root / "web/HEAD").write_text("<head>")
    applied(root, change(root / "head/head.go", "package head\n"), CreateFile(root / "web/a.go"))
    applied(root, RenameFile(root / "head", root / "top"), RenameFile(root / "top", root / "head"))
    assert (root / "head/head.go").read_text() == "new"


@pytest.mark.parametrize("name", [name.replace("*", "x") for name in NAMES])
def test_nothing_on_the_list_is_created_changed_renamed_onto_or_from_or_deleted(name: str, root: Path) -> None:
    path = root / "sub" / name
    for onto in (path, path / "inner", root / name.upper(), root / "a" / ".." / name):
        refused(root, CreateFile(onto, overwrite=True), match="no edit changes it")
        refused(root, CreateFile(onto, ignore_if_exists=True), match="no edit changes it")
        refused(root, RenameFile(root / "run.sh", onto, overwrite=True), match="no edit changes it")
    path.mkdir(parents=True)
    (path / "inner").write_text("text")
    refused(root, change(path / "inner", "text"), match="no edit changes it")
    for gone in (path, path / "inner", path.parent):
        refused(root, DeleteFile(gone, recursive=True), match="no edit changes it")
        refused(root, RenameFile(gone, root / "elsewhere"), match="no edit changes it")


@pytest.mark.parametrize(
    "name",
    [
        *(".gitignore", ".gitattributes", ".gitmodules", ".editorconfig", ".github/x.ts", "AGENTS.md", "git/a.go"),
        *("compile_flags.txt", "vscode/a.ts", "environment.go", ".envoy", "claude.go", "x.git.go", "hooks/state.ts"),
    ],
)
def test_what_makes_nothing_run_by_itself_is_not_protected(name: str, root: Path) -> None:
    applied(root, CreateFile(root / name), change(root / name))
    assert (root / name).read_text() == "new"


def test_a_person_may_allow_it_and_then_neither_dependencies_nor_what_is_outside(root: Path) -> None:
    policy = EditPolicy(root, allow_protected=True)
    apply_plan(policy.check(EditPlan((CreateFile(root / ".vscode/tasks.json"),))))
    assert (root / ".vscode/tasks.json").exists()
    refused(root, CreateFile(root / "node_modules/x/a.js"), match="dependency's source", policy=policy)
    refused(root, CreateFile(root.parent / "a.js"), match="outside the workspace", policy=policy)


# --- links -----------------------------------------------------------------------------------------


def test_a_link_to_something_protected_is_no_way_to_it(root: Path) -> None:
    (root / "link").symlink_to(".git")
    (root / "settings").symlink_to(".git/config")
    (root / "dangling").symlink_to(".git/hooks/post-checkout")
    text = (root / ".git/config").read_text()
    for name in ("link/config", "settings"):
        refused(root, change(root / name, text), match=r"leads to \.git/config")
        refused(root, CreateFile(root / name, overwrite=True), match=r"leads to \.git/config")
    refused(root, CreateFile(root / "dangling", overwrite=True), match="post-checkout")
    refused(root, RenameFile(root / "run.sh", root / "link/hooks/post-checkout"), match="post-checkout")
    refused(root, DeleteFile(root / "link/config"), match=r"\.git/config")


def test_no_step_before_hides_where_a_path_leads(root: Path) -> None:
    (root / "link").symlink_to(".git")
    (root / "sub").mkdir()
    (root / "sub/.git").write_text("gitdir: ../.git\n")
    (root / "way").symlink_to("sub")
    text = (root / ".git/config").read_text()
    refused(root, RenameFile(root / "link", root / "other"), change(root / "other/config", text), match=r"\.git/config")
    refused(
        root, RenameFile(root / "link", root / "x"), RenameFile(root / "run.sh", root / "x/hooks/p"), match="hooks/p"
    )
    refused(root, RenameFile(root / "way", root / "x"), DeleteFile(root / "x/.git"), match=r"\.git")


def test_a_link_itself_may_be_renamed_and_deleted(root: Path) -> None:
    (root / "link").symlink_to(".git")
    applied(root, RenameFile(root / "link", root / "other"), DeleteFile(root / "other"))
    assert (root / ".git/config").exists()


def test_a_link_that_is_put_there_after_the_check_is_seen_when_the_edit_is_carried_out(root: Path) -> None:
    (root / "sub").mkdir()
    checked = EditPolicy(root).check(EditPlan((CreateFile(root / "sub/post-checkout"),)))
    (root / "sub").rmdir()
    (root / "sub").symlink_to(".git/hooks")
    before = state(root)
    with pytest.raises(EditError, match="post-checkout"):
        apply_plan(checked)
    assert state(root) == before


def test_the_other_name_of_a_file_with_two_keeps_its_text(root: Path) -> None:
    os.link(root / ".git/config", root / "config.txt")
    text = (root / ".git/config").read_text()
    applied(root, change(root / "config.txt", text))
    assert (root / ".git/config").read_text() == text


# --- dependencies ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DEPENDENCY_FOLDERS)
def test_a_dependencys_source_is_never_written(name: str, root: Path) -> None:
    path = root / "web" / name / "x/a.js"
    path.parent.mkdir(parents=True)
    path.write_text("text")
    (root / "link").symlink_to(f"web/{name}/x")
    refused(root, change(path, "text"), match="a dependency's source")
    refused(root, change(root / "link/a.js", "text"), match="a dependency's source")
    refused(root, RenameFile(root / "a.go", path, overwrite=True), match="a dependency's source")
    refused(root, DeleteFile(path.parent, recursive=True), match="a dependency's source")


def test_which_folders_are_dependencies_may_depend_on_the_file(root: Path) -> None:
    policy = EditPolicy(root, lambda path: ["vendor"] if path.suffix == ".go" else [])
    refused(root, CreateFile(root / "vendor/x/a.go"), match="a dependency's source", policy=policy)
    apply_plan(policy.check(EditPlan((CreateFile(root / "vendor/x/a.c"),))))


# --- a server's wish for a confirmation ------------------------------------------------------------


def test_what_the_server_wants_confirmed_is_not_done_before_it_is(root: Path) -> None:
    plan = EditPlan((change(root / "a.go", "package a\n"),), ("Changes the public API",))
    with pytest.raises(EditError, match=r"Changes the public API.*Nothing was changed.*confirmed=true"):
        EditPolicy(root).check(plan)
    apply_plan(EditPolicy(root).check(plan, confirmed=True))
    assert (root / "a.go").read_text() == "new"


# --- every spelling --------------------------------------------------------------------------------


def cases(name: str) -> st.SearchStrategy[str]:
    """`name` with other cases, in other forms of Unicode, and with characters that a disk may leave out."""
    letters = [st.sampled_from([c, c.upper(), unicodedata.normalize("NFKC", c).swapcase()]) for c in name]
    ignored = st.sampled_from(["", "", "", "\u200c", "\u200d", "\ufeff"])
    ends = st.sampled_from(["", "", "", ".", " "])
    return st.tuples(st.tuples(*letters), ignored, st.integers(0, len(name)), ends).map(
        lambda t: "".join(t[0][: t[2]]) + t[1] + "".join(t[0][t[2] :]) + t[3]
    )


plain = st.sampled_from(["a", "b", "sub", "link"])
detours = st.sampled_from(["", "./", "x/../", "sub/../", "link/../", "//"])


@st.composite
def spelled(draw: st.DrawFn) -> str:
    """A path with a protected component, somewhere."""
    protected = draw(st.sampled_from(NAMES)).replace("*", draw(st.sampled_from(["", "x", "2"])))
    parts = [*draw(st.lists(plain, max_size=2)), draw(cases(protected)), *draw(st.lists(plain, max_size=2))]
    return "/".join(draw(detours) + part for part in parts)


STEPS: list[Callable[[Path, Path], Step]] = [
    lambda path, _: change(path, "text"),
    lambda path, _: CreateFile(path, overwrite=True),
    lambda path, _: CreateFile(path, ignore_if_exists=True),
    lambda path, other: RenameFile(other, path, overwrite=True),
    lambda path, other: RenameFile(path, other, overwrite=True),
    lambda path, _: DeleteFile(path, recursive=True, ignore_if_not_exists=True),
]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=spelled(), step=st.sampled_from(STEPS), above=st.booleans())
def test_no_path_with_a_protected_part_passes_in_any_spelling(
    root: Path, name: str, step: Callable[[Path, Path], Step], above: bool
) -> None:
    (root / "sub").mkdir(exist_ok=True)
    if not (root / "link").is_symlink():
        (root / "link").symlink_to("sub")
    path = Path(f"{root}/../{root.name}/{name}" if above else f"{root}/{name}")
    before = sorted(root.rglob("*"))
    with pytest.raises(EditError, match=r"no edit changes it|outside the workspace"):
        apply_plan(EditPolicy(root).check(EditPlan((step(path, root / "a.go"),))))
    assert sorted(root.rglob("*")) == before


# --- no other way ----------------------------------------------------------------------------------

SOURCE = Path(__file__).parent.parent.parent / "src" / "lsp_mcp"
WRITES = {"write_text", "write_bytes", "unlink", "rmtree", "rename", "replace", "symlink_to", "hardlink_to", "touch"}
# Modules that write files, and why that is not an edit of somebody's code.
WRITERS = {
    "edits/apply.py": "the one that does checked plans",
    "edits/journal.py": "takes steps of these back",
    "scratch.py": "temporary files of language servers",
    "board/exchange/exporting.py": "the same",
    "board/exchange/folders.py": "what the board exports, to a folder that somebody names",
    "board/following.py": "the board's own folder",
    "board/store.py": "the board's own folder",
    "cli/adapter_check.py": "a project of its own, in a temporary folder",
    "cli/adapter_samples.py": "a project of its own, in a temporary folder",
    "cli/demo.py": "a project of its own, in a temporary folder",
    "cli/index_build.py": "the index file that a person asks for",
    "cli/install.py": "the programs that a person installs",
    "project_adapters.py": "which files of projects the user trusts, in a folder of our own",
    "daemon/memory.py": "what the system counts of a process",
    "usage.py": "sums in the cache",
    "disk/sentinel.py": "a folder of our own that is watched",
    "cli/own_project.py": "the temporary folder of such a project",
    "cli/token.py": "the user's own token",
    "cache_folders.py": "the cache",
    "daemon/run.py": "its own socket, in the user's runtime folder",
    "door/greetings.py": "copies of what this program says of itself, in its cache folder",
    "door/place.py": "the same",
    "door/stuck.py": "the socket of a daemon that it ends",
    "servers/clangd/compilation/index_folder.py": "the cache",
    "servers/gopls/syntax_check.py": "copies, in a temporary folder",
    "private_files.py": "the cache, the token and the board's own folder",
}


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text("utf-8"))


def called(node: ast.AST) -> str:
    """The name of the function or method that a call calls."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def has_called(node: ast.AST, function: str) -> bool:
    """Whether a call calls `function`, or has it called by what it is given to, such as a thread."""
    given = node.args if isinstance(node, ast.Call) else []
    return called(node) == function or any(isinstance(one, ast.Name) and one.id == function for one in given)


def is_write(node: ast.AST) -> bool:
    """Whether a call may change a file: by its name, or because it opens one to write."""
    name = called(node)
    if name not in WRITES and name != "open":
        return False
    assert isinstance(node, ast.Call)
    values = [one.value for one in (*node.args, *(k.value for k in node.keywords)) if isinstance(one, ast.Constant)]
    if name == "open":
        return any(
            isinstance(value, str) and set(value) & set("wax+") and set(value) <= set("rwaxbt+") for value in values
        )
    if name == "rename":  # a file, and not a symbol
        return len(node.args) <= 2
    if name == "replace":  # of text and of dataclasses: two texts, or keywords
        return len(node.args) == 1 and not node.keywords and isinstance(node.func, ast.Attribute)
    return True


def test_files_are_written_by_no_module_that_has_no_reason_to() -> None:
    found = {name for name, tree in sources() if any(map(is_write, ast.walk(tree)))}
    assert found - WRITERS.keys() == set(), "route this through Sessions.apply, or say here why it is not an edit"
    assert "edits/apply.py" in found


@pytest.mark.parametrize(
    ("function", "homes"),
    [
        ("apply_plan", {"nvim/apply.py", "sessions/sessions.py", "cli/config_files.py"}),
        ("apply_in_neovim", {"sessions/sessions.py"}),
        ("survey", {"edits/apply.py"}),
        ("CheckedPlan", {"edits/policy.py"}),
        ("check", None),
    ],
)
def test_plans_are_carried_out_in_known_places_only(function: str, homes: set[str] | None) -> None:
    found = {name for name, tree in sources() if any(has_called(node, function) for node in ast.walk(tree))}
    if homes is not None:
        assert found == homes


def test_buffers_are_changed_by_one_module_only() -> None:
    """`Editor.change` carries out what our Lua calls `edit`, `save`, `moved`, `undo`."""
    found = {
        name
        for name, tree in sources()
        if not name.startswith("board/")  # where `change` is a line of the board's history
        for node in ast.walk(tree)
        if called(node) in ("change", "call", "tell")
        and isinstance(node, ast.Call)
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value in ("edit", "save", "moved", "undo")
    }
    assert found == {"nvim/apply.py"}


def test_a_plan_that_nobody_checked_cannot_be_carried_out(root: Path) -> None:
    plan = EditPlan((CreateFile(root / ".git/hooks/post-checkout"),))
    before = state(root)
    with pytest.raises(AttributeError):
        apply_plan(plan)  # type: ignore[arg-type]
    with pytest.raises(EditError):
        CheckedPlan(plan, EditPolicy(root))
    with pytest.raises(EditError):
        EditPolicy(root).check(EditPlan(())).only(plan.steps)
    assert state(root) == before
