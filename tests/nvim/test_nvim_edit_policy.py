"""Through Neovim, too, no edit reaches a dependency's source or what makes programs run, whichever tool is asked."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.toolsets.settings import ToolSettings
from nvim.neovims import skip_without_nvim
from nvim.truth_helpers import GO, desk, document, write

skip_without_nvim()
skip_without("gopls")

Json = dict[str, Any]
VENDORED = "vendor/example.com/x/x.go"
VENDORING = {
    "go.mod": "module example.com/p\n\ngo 1.23\n\nrequire example.com/x v1.0.0\n",
    "vendor/modules.txt": "# example.com/x v1.0.0\n## explicit; go 1.23\nexample.com/x\n",
    VENDORED: "package x\n\nfunc Hi() {}\n",
    "main.go": 'package main\n\nimport "example.com/x"\n\nfunc main() { x.Hi() }\n',
}


def checkout(root: Path) -> Path:
    """A git repository with Go code, a script, and links into git's folder."""
    GO.write(root, use=1)
    write(root / "run.sh", "#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to(".git")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def state(root: Path) -> Json:
    """All files, git's own too, and what git says of them."""
    done = subprocess.run(["git", "status", "--porcelain"], cwd=root, check=True, capture_output=True, text=True)
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return files | {"git status": done.stdout}


def insertion(path: Path, text: str) -> Json:
    at = {"line": 1, "character": 1}
    edit = {"range": {"start": at, "end": at}, "newText": text}
    return {"textDocument": {"uri": path.as_uri(), "version": None}, "edits": [edit]}


def attacks(root: Path) -> dict[str, list[Json]]:
    """Workspace edits, by what they are after."""
    config, hook = root / ".git/config", root / ".git/hooks/post-checkout"
    code = "[core]\n\tfsmonitor = touch pwned\n"
    overwrite = {"overwrite": True}
    return {
        "git's configuration, overwritten": [
            {"kind": "create", "uri": config.as_uri(), "options": overwrite},
            insertion(config, code),
        ],
        "git's configuration, emptied": [{"kind": "create", "uri": config.as_uri(), "options": overwrite}],
        "git's configuration, edited": [insertion(config, code)],
        "git's configuration, by a link": [insertion(root / "link/config", code)],
        "a hook": [{"kind": "rename", "oldUri": (root / "run.sh").as_uri(), "newUri": hook.as_uri()}],
        "a hook, by a link": [
            {"kind": "rename", "oldUri": (root / "run.sh").as_uri(), "newUri": f"{root.as_uri()}/link/hooks/update"}
        ],
        "what Neovim runs": [
            {"kind": "create", "uri": (root / ".nvim.lua").as_uri()},
            insertion(root / ".nvim.lua", "os.execute('touch pwned')\n"),
        ],
        "what an agent runs, in another case": [{"kind": "create", "uri": (root / ".MCP.json").as_uri()}],
        "git's folder, deleted": [{"kind": "delete", "uri": (root / ".git").as_uri(), "options": {"recursive": True}}],
        "git's folder, moved": [
            {"kind": "rename", "oldUri": (root / ".git").as_uri(), "newUri": (root / "x").as_uri()}
        ],
        "among edits that are fine": [
            insertion(root / "use.go", "// mine\n"),
            {"kind": "create", "uri": (root / ".vscode/tasks.json").as_uri()},
        ],
    }


@bounded
async def test_no_workspace_edit_reaches_what_makes_programs_run(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    async with desk(root, "use.go") as at:
        view = await at.nv.view()
        before = state(root)
        for attack, changes in attacks(root).items():
            message = await at.refused(
                "lsp_apply_edit", workspace_edit={"documentChanges": changes}, lsp_client_name="gopls"
            )
            assert "no edit changes it" in message, attack
            assert "--allow-protected-edits" in message, attack
            assert state(root) == before, attack
        assert await at.nv.view() == view
        assert not await at.modified("use.go")


@bounded
async def test_what_is_protected_is_not_edited_in_a_buffer_either(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    async with desk(root, "use.go") as at:
        await at.load_hidden(".git/config")
        before = state(root)
        for save in (True, False):
            edit = {"documentChanges": [insertion(root / ".git/config", "# mine\n")]}
            message = await at.refused("lsp_apply_edit", workspace_edit=edit, lsp_client_name="gopls", save=save)
            assert ".git/config is version control data" in message
        assert state(root) == before
        assert not await at.modified(".git/config")


@bounded
async def test_a_dependencys_source_is_written_by_no_tool(tmp_path: Path) -> None:
    for name, text in VENDORING.items():
        write(tmp_path / name, text)
    async with desk(tmp_path, "main.go") as at:
        place = {"document": document("main.go"), "line": 5, "character": 17, "new_name": "Yo"}
        for arguments in ({"apply_edits": True}, {}, {"prepare_first": False, "apply_edits": True}):
            message = await at.refused("lsp_rename", **place, **arguments)
            assert f"Hi cannot be renamed: {VENDORED} is a dependency's source" in message
        by_anchor = await at.refused("rename_symbol_by_anchor", symbol_anchor="go://main.go#5:17", new_name="Yo")
        assert by_anchor == message
        edit = {"documentChanges": [insertion(tmp_path / VENDORED, "// mine\n")]}
        assert "a dependency's source" in await at.refused("lsp_apply_edit", workspace_edit=edit)
        write(tmp_path / VENDORED, "package x\n\nfunc  Hi( ) { }\n")
        formatting = {"document": document(VENDORED), "apply_edits": True}
        assert "a dependency's source" in await at.refused("lsp_formatting", **formatting)
        assert (tmp_path / VENDORED).read_text() == "package x\n\nfunc  Hi( ) { }\n"
        assert (tmp_path / "main.go").read_text() == VENDORING["main.go"]


@bounded
async def test_what_a_rename_may_miss_keeps_lsp_rename_from_applying_it(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    broken = "package a\n\n} Target()\n"  # parsed no further, so nobody can tell what it is
    write(tmp_path / "broken.go", broken)
    path, line, character = GO.definition
    place = {"document": document(path), "line": line, "character": character, "new_name": "Renamed"}
    async with desk(tmp_path, "use.go") as at:
        before = {one: one.read_text() for one in tmp_path.glob("*.go")}
        message = await at.refused("lsp_rename", **place, apply_edits=True)
        assert "broken.go" in message
        assert "lsp_apply_edit" in message
        assert {one: one.read_text() for one in tmp_path.glob("*.go")} == before
        looked = await at.call("lsp_rename", **place)
        assert looked.json["documentChanges"]


@pytest.mark.parametrize("confirmed", [False, True])
@bounded
async def test_what_needs_confirming_is_applied_only_when_it_is_confirmed(confirmed: bool, tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    insert = insertion(tmp_path / "use.go", "// mine\n")
    insert["edits"][0]["annotationId"] = "1"
    edit = {
        "documentChanges": [insert],
        "changeAnnotations": {"1": {"label": "Changes the API", "needsConfirmation": True, "description": "of all"}},
    }
    async with desk(tmp_path, "use.go") as at:
        if confirmed:
            await at.call("lsp_apply_edit", workspace_edit=edit, confirmed=True)
        else:
            message = await at.refused("lsp_apply_edit", workspace_edit=edit)
            assert "Changes the API: of all" in message
            assert "confirmed=true" in message
        assert (tmp_path / "use.go").read_text() == "// mine\n" * confirmed + GO.using("use", 1)


ADD_IMPORT = """
local client = vim.lsp.get_clients({ name = 'gopls' })[1]
client:request('workspace/executeCommand', ..., function() vim.g.answered = true end)
"""


@bounded
async def test_edits_of_a_command_that_a_caller_runs_are_not_applied_and_those_of_the_persons_are(
    tmp_path: Path,
) -> None:
    GO.write(tmp_path, use=1)
    before = GO.using("use", 1)
    path = tmp_path / "use.go"
    method = "workspace/executeCommand"
    params = {"command": "gopls.add_import", "arguments": [{"URI": path.as_uri(), "ImportPath": "fmt"}]}
    async with desk(tmp_path, "use.go") as plain:
        at = replace(plain, settings=ToolSettings(allowed_methods=(method,)))
        refused = await at.refused("lsp_request", method=method, params=params)
        assert "lsp-mcp applies no edits of a command" in refused
        assert await at.buffer_text("use.go") == before
        await at.nv.lua(ADD_IMPORT, params)
        await at.nv.until("return vim.g.answered", "LspRequest")
        assert '"fmt"' in (await at.buffer_text("use.go") or "")
    assert path.read_text() == before
