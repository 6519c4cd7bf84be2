"""What a server wants a rename to do is done only if the policy lets it pass, and confirmed if the server asks."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from fakes.bounded import bounded
from fakes.workspace import FakeWorkspace
from lsp_mcp.errors import EditError, RefusedError
from lsp_mcp.servers import registry
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.renames import RenameTools
from lsp_mcp.toolsets.tool import Call, tools_of
from lsp_mcp.workspace import Workspace

Json = dict[str, Any]
Rename = Callable[..., Awaitable[Json]]
ADAPTER = """
[workspace]
dependency_folder_names = ["third_party"]
"""
LOOKS_AT_ALL = """
[diagnostics]
command = "look"
command_field = "Files"
command_covers = "workspace"
"""


@pytest.fixture
def fake(tmp_path: Path) -> FakeWorkspace:
    """A git repository with one text."""
    workspace = FakeWorkspace(tmp_path)
    workspace.write("a.txt", "old\n")
    workspace.write("third_party/b.txt", "old\n")
    (workspace.root / "link").symlink_to(".git")
    (workspace.root / "linked").symlink_to("third_party")
    subprocess.run(["git", "init", "-q"], cwd=workspace.root, check=True)
    return workspace


@contextlib.asynccontextmanager
async def renaming(
    fake: FakeWorkspace,
    changes: list[Json],
    annotations: Json | None = None,
    adapter: str = ADAPTER,
    rules: Json | None = None,
    **settings: Any,
) -> AsyncIterator[Rename]:
    """The tool, over a server that renames by `changes`."""
    edit = {"documentChanges": changes, "changeAnnotations": annotations or {}}
    for id_ in annotations or {}:
        for one in (one for change in changes for one in change.get("edits", ())):
            one["annotationId"] = id_
    # What it renames comes from elsewhere under another name: no other place has to be explained.
    elsewhere = {"uri": (fake.root / "elsewhere.txt").as_uri(), "range": text_edit(fake.root)["edits"][0]["range"]}
    renames = {"textDocument/rename": [["answer", edit]], "textDocument/definition": [["answer", [elsewhere]]]}
    fake.script({"rules": renames | (rules or {}), "capabilities": {"renameProvider": True}})
    plugin = fake.plugin(adapter)
    with patch.dict(registry._PLUGINS, {"fake": lambda: lambda _: plugin}):
        sessions = Sessions(Workspace(fake.root), [plugin.adapter], {}, **settings)
    tools = {tool.name: tool for tool in tools_of(RenameTools(ToolContext(sessions)))}

    async def rename(**arguments: Any) -> Json:
        arguments = {"symbol_anchor": "txt://a.txt#1:1", "new_name": "new", **arguments}
        return dict(json.loads(await tools["rename_symbol_by_anchor"].call(Call(), arguments)))

    sessions.begin()
    try:
        yield rename
        await sessions.close()
    finally:
        sessions.kill()


def text_edit(path: Path, length: int = 0) -> Json:
    """The new name comes in place of the first characters."""
    range_ = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": length}}
    edits = [{"range": range_, "newText": "new"}]
    return {"textDocument": {"uri": path.as_uri(), "version": None}, "edits": edits}


def state(root: Path) -> Json:
    done = subprocess.run(["git", "status", "--porcelain"], cwd=root, check=True, capture_output=True, text=True)
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return files | {"git status": done.stdout}


def hook(root: Path) -> Json:
    return {"kind": "rename", "oldUri": (root / "a.txt").as_uri(), "newUri": f"{root.as_uri()}/.git/hooks/update"}


@bounded
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda root: text_edit(root / ".git/config"), ".git/config is version control data"),
        (lambda root: text_edit(root / "link/config"), "link/config, which leads to .git/config, is version control"),
        (hook, ".git/hooks/update is version control data"),
        (lambda root: {"kind": "create", "uri": (root / ".nvim.lua").as_uri()}, ".nvim.lua is an editor's"),
        (lambda root: {"kind": "delete", "uri": (root / ".git").as_uri()}, ".git is version control data"),
        (lambda root: text_edit(root / "third_party/b.txt"), "third_party/b.txt is a dependency's source"),
        (lambda root: text_edit(root / "linked/b.txt"), "linked/b.txt, which leads to third_party/b.txt, is a depend"),
        (lambda root: text_edit(root.parent / "fake/log.jsonl"), "is outside the workspace root"),
    ],
)
async def test_a_rename_that_would_touch_what_it_must_not_is_refused_and_so_is_its_preview(
    change: Callable[[Path], Json], reason: str, fake: FakeWorkspace
) -> None:
    before = state(fake.root)
    async with renaming(fake, [text_edit(fake.root / "a.txt", 3), change(fake.root)]) as rename:
        for arguments in ({}, {"apply": False}, {"allow_partial": True, "confirmed": True}):
            with pytest.raises(RefusedError) as caught:
                await rename(**arguments)
            assert "old cannot be renamed" in str(caught.value)
            assert reason in str(caught.value)
    assert state(fake.root) == before


@bounded
async def test_a_person_may_allow_what_is_protected(fake: FakeWorkspace) -> None:
    changes = [{"kind": "create", "uri": (fake.root / ".vscode/tasks.json").as_uri()}]
    async with renaming(fake, changes, allow_protected_edits=True) as rename:
        await rename()
    assert (fake.root / ".vscode/tasks.json").exists()


@bounded
async def test_what_the_server_wants_confirmed_is_told_and_done_only_when_it_is_confirmed(fake: FakeWorkspace) -> None:
    annotations = {"a": {"label": "Rename in comments", "description": "2 places", "needsConfirmation": True}}
    async with renaming(fake, [text_edit(fake.root / "a.txt", 3)], annotations) as rename:
        preview = await rename(apply=False)
        assert "confirmed=true is needed to apply it: Rename in comments: 2 places" in preview["status"]
        with pytest.raises(EditError, match=r"Rename in comments: 2 places.*Nothing was changed.*confirmed=true"):
            await rename()
        with pytest.raises(EditError, match="confirmed=true"):
            await rename(allow_partial=True)
        assert (fake.root / "a.txt").read_text() == "old\n"
        await rename(confirmed=True)
    assert (fake.root / "a.txt").read_text() == "new\n"


@bounded
async def test_what_an_edit_leaves_behind_is_told(fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    async with renaming(fake, [text_edit(fake.root / "a.txt", 3)]) as rename:
        with monkeypatch.context() as patched:
            patched.setattr("lsp_mcp.edits.apply._removed", lambda path: False)
            answer = await rename()
    (left,) = [path.name for path in fake.root.iterdir() if path.name.startswith(".lsp-mcp-")]
    assert f"old files that could not be removed, delete them: {left}" in answer["status"]


@bounded
async def test_a_server_that_cannot_say_what_a_rename_makes_wrong_does_not_stop_it_and_the_answer_says_so(
    fake: FakeWorkspace,
) -> None:
    rules = {"workspace/executeCommand": [["refuse", -32603, "cannot look now"]]}
    async with renaming(fake, [text_edit(fake.root / "a.txt", 3)], adapter=LOOKS_AT_ALL, rules=rules) as rename:
        for apply in (False, True):
            said = (await rename(apply=apply))["status"]
            assert "not tried before it is written, so run check after it (cannot look now)" in said
    assert (fake.root / "a.txt").read_text() == "new\n"


@bounded
async def test_an_error_that_is_there_whatever_the_name_is_does_not_stop_a_rename(fake: FakeWorkspace) -> None:
    start = {"line": 0, "character": 0}
    error = {"range": {"start": start, "end": start}, "severity": 1, "message": "always wrong"}
    published = {"uri": (fake.root / "a.txt").as_uri(), "diagnostics": [error]}
    message = {"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": published}
    rules = {"workspace/executeCommand": [["send", message]]}
    async with renaming(fake, [text_edit(fake.root / "a.txt", 3)], adapter=LOOKS_AT_ALL, rules=rules) as rename:
        assert (await rename())["status"] == "complete"
    assert (fake.root / "a.txt").read_text() == "new\n"
