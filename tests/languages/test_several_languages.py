"""A workspace in Go, Python and TypeScript is one workspace: each file has its server, and a search asks all."""

from __future__ import annotations

import asyncio
import json
import venv
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes.callers import somebody
from fakes.patience import TO_THE_END
from lsp_mcp.adapters import load_adapter
from lsp_mcp.backend import Backend
from lsp_mcp.errors import AnchorError, MissingProgramError, SilentError
from lsp_mcp.programs import find_program
from lsp_mcp.requests.asking import ask_each
from lsp_mcp.sessions import choosing, languages
from lsp_mcp.sessions.choosing import choose_adapters, other_adapters
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.offered import offered_tools
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.waiting import bounded
from lsp_mcp.workspace import Workspace

TIMEOUT = 300.0  # seconds: a hang, not a measurement
SERVERS = ("gopls", "basedpyright", "typescript")
FILES = {
    "go.mod": "module example.com/a\n\ngo 1.23\n",
    "package.json": "{}\n",  # for tools alone: no file near it
    "main.go": "package main\n\nfunc handle() {}\n\nfunc main() { handle() }\n",
    "tools/scripts/pyproject.toml": '[project]\nname = "a"\nversion = "1"\n',
    "tools/scripts/lib.py": "def handle():\n    pass\n",
    "tools/scripts/run.py": "from lib import handle\n\nhandle()\n",
    "web/app/tsconfig.json": "{}\n",
    "web/app/lib.ts": "export function handle() {}\n",
    "web/app/run.ts": "import { handle } from './lib'\n\nhandle()\n",
    "web/app/node_modules/x/index.js": "function handle() {}\n",
}

Ask = Callable[..., Coroutine[Any, Any, dict[str, Any]]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The workspace root."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    try:
        for server in SERVERS:
            find_program(load_adapter(server))
    except MissingProgramError as error:
        pytest.skip(str(error))
    return tmp_path


def asking(
    root: Path, test: Callable[[Ask, Sessions], Coroutine[Any, Any, None]], servers: Sequence[str] = SERVERS
) -> None:
    """Run `test` with those of `servers` that a user would get in `root` without naming any."""

    async def run() -> None:
        chosen = choose_adapters((), root, servers)
        others = other_adapters(chosen, servers)
        sessions = Sessions(Workspace(root), chosen, {}, others=others)
        tools = {
            tool.name: tool for tool in offered_tools(ToolContext(sessions, ToolSettings(answer_within=TO_THE_END)))
        }

        async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
            return dict(json.loads(await tools[tool].call(Call(client=somebody()), arguments)))

        sessions.begin()
        try:
            await asyncio.wait_for(test(ask, sessions), TIMEOUT)
        finally:
            await sessions.close()
            sessions.kill()

    asyncio.run(run())


def files(found: list[dict[str, Any]]) -> list[str]:
    return sorted(one["location"]["file"] for one in found)


def test_a_search_by_name_asks_every_language_that_has_files(workspace: Path) -> None:
    async def test(ask: Ask, sessions: Sessions) -> None:
        assert [backend.plugin.name for backend in sessions.backends] == ["gopls"]
        answer = await ask("find_symbol_definitions_by_name", symbol_name="handle")
        found = [one for one in answer["definitions"] if one["name"].endswith("handle")]
        assert set(files(found)) >= {"main.go", "tools/scripts/lib.py", "web/app/lib.ts"}
        assert not any("node_modules" in file for file in files(found))
        assert [backend.plugin.name for backend in sessions.backends] == ["gopls", "basedpyright", "typescript"]

    asking(workspace, test)


def test_a_server_that_does_not_answer_takes_nothing_from_the_others_and_is_named(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(method: str, params: Any, **_: Any) -> Any:
        raise SilentError(f"gopls did not answer {method} in time.")

    async def test(ask: Ask, sessions: Sessions) -> None:
        await ask("find_symbol_definitions_by_name", symbol_name="handle")
        (workspace / "web/app/more.ts").write_text("export function plus(): void {}\nplus()\n")
        (workspace / "web/kit").mkdir()
        (workspace / "web/kit/kit.go").write_text("package kit\n\nfunc Twice() {}\n")
        (workspace / "use.go").write_text('package main\n\nimport "example.com/a/web/kit"\n\nvar _ = kit.Twice\n')
        monkeypatch.setattr(sessions.backends[0], "request", silent)

        answer = await ask("find_symbol_definitions_by_name", symbol_name="plus")
        assert files(answer["definitions"]) == ["web/app/more.ts"]
        assert answer["status"].startswith("not searched: Go, because gopls did not answer workspace/symbol in time.")

        answer = await ask("find_symbol_definitions_by_name", symbol_name="Twice")
        declared = "gopls did not list Twice, which by syntax is declared at web/kit/kit.go:3:6; pass one of these"
        assert (answer["definitions"], declared in answer["status"]) == ([], True)
        with pytest.raises(AnchorError, match=declared):
            await ask("find_symbol_references_by_anchor", symbol_anchor="Twice")

        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="plus")
        assert files(answer["references"]) == ["web/app/more.ts"] * 2
        assert "not searched: Go, because gopls did not answer workspace/symbol in time." in answer["status"]

        with pytest.raises(AnchorError, match=r"^no symbol .* is named 'minus' \(not searched: Go, because gopls did"):
            await ask("find_symbol_references_by_anchor", symbol_anchor="minus")

        monkeypatch.setattr(sessions.backends[0].problems, "check", lambda *_, **__: silent("a check", None))
        answer = await ask("check")
        assert "not all files" in answer["message"]
        assert "not searched: Go, because gopls did not answer" in answer["status"]

        answer = await ask("find_impact", unused=True, path=".")
        assert answer["message"].startswith("0 unused symbols")
        assert "gopls did not answer about main.go" in answer["status"]

        answer = await ask("list_symbols_in_file", file_path="web")
        assert {"web/app/lib.ts", "web/app/more.ts"} <= {one["file"] for one in answer["files"]}
        assert "not searched: Go, because gopls did not answer textDocument/documentSymbol" in answer["status"]

        answer = await ask("list_symbols_in_file", file_path=".")
        assert "web/kit" in str(answer["folders"])
        assert "used most is not known: gopls did not answer textDocument/documentSymbol in time." in answer["status"]

    asking(workspace, test)


def test_a_server_that_keeps_a_question_waiting_takes_half_of_its_time(workspace: Path) -> None:
    async def test(ask: Ask, sessions: Sessions) -> None:
        await ask("find_symbol_definitions_by_name", symbol_name="handle")

        async def searched(backend: Backend) -> bool:
            return backend is not sessions.backends[0] or await asyncio.Event().wait()

        async def no_report(*_: Any) -> None:
            pass

        async with bounded(2, "find", no_report):
            answers, silent = await ask_each(sessions.backends, searched)
        assert [backend.plugin.name for backend, _ in answers] == ["basedpyright", "typescript"]
        assert [gap.text for gap in silent] == [
            "not searched: Go, because gopls did not answer in time. Ask again, or raise --request-timeout."
        ]

    asking(workspace, test)


def test_a_question_about_a_file_starts_the_server_of_its_language_only(workspace: Path) -> None:
    async def test(ask: Ask, sessions: Sessions) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="py://tools/scripts/lib.py#1:5")
        assert files(answer["references"]) == ["tools/scripts/lib.py", "tools/scripts/run.py", "tools/scripts/run.py"]
        assert answer["status"].startswith("complete")
        assert [backend.plugin.name for backend in sessions.backends] == ["gopls", "basedpyright"]

    asking(workspace, test)


def test_an_address_in_a_file_starts_its_server_too(workspace: Path) -> None:
    async def test(ask: Ask, sessions: Sessions) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="tools/scripts/run.py:3:handle")
        assert files(answer["references"]) == ["tools/scripts/lib.py", "tools/scripts/run.py", "tools/scripts/run.py"]
        assert [backend.plugin.name for backend in sessions.backends] == ["gopls", "basedpyright"]

    asking(workspace, test)


def test_a_project_below_the_root_is_loaded_by_its_own_settings(workspace: Path) -> None:
    async def test(ask: Ask, _: Sessions) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="ts://web/app/lib.ts#1:17")
        assert files(answer["references"]) == ["web/app/lib.ts", "web/app/run.ts", "web/app/run.ts"]
        assert answer["status"].startswith("complete")

    asking(workspace, test)


def test_a_language_without_an_installed_server_is_named_once_and_hides_nothing_of_the_others(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (choosing, languages):
        monkeypatch.setattr(module, "is_installed", lambda adapter: adapter.name == "gopls")

    async def test(ask: Ask, sessions: Sessions) -> None:
        answer = await ask("find_symbol_definitions_by_name", symbol_name="handle")
        assert files(answer["definitions"]) == ["main.go"]
        assert "complete" in answer["status"]
        assert (
            "not searched: 2 files of Python, for which no server is installed (lsp-mcp install basedpyright)"
            in answer["status"]
        )
        assert [backend.plugin.name for backend in sessions.backends] == ["gopls"]

    asking(workspace, test)


def test_check_names_the_languages_of_which_it_knows_the_syntax_only(workspace: Path) -> None:
    pytest.importorskip("tree_sitter_language_pack")
    (workspace / "tool.lua").write_text("print(1)\n")

    async def test(ask: Ask, _: Sessions) -> None:
        first = await ask("check")
        assert len([gap for gap in first["gaps"] if gap["hides"]]) == 1
        assert "Lua: only syntax was checked, of changed and open files" in first["status"]
        (workspace / "web/app/lib.ts").write_text("export function hail() {}\n")
        (workspace / "tool.lua").write_text("print(\n")
        broken = await ask("check")
        assert set(files(broken["new"])) == {"web/app/run.ts", "tool.lua"}

    asking(workspace, test, (*SERVERS, "syntax"))


def test_the_packages_of_a_virtual_environment_are_found(tmp_path: Path) -> None:
    try:
        find_program(load_adapter("basedpyright"))
    except MissingProgramError as error:
        pytest.skip(str(error))
    venv.create(tmp_path / ".venv", symlinks=True)
    (site,) = (tmp_path / ".venv/lib").glob("python*/site-packages")
    (site / "parcel").mkdir()
    (site / "parcel/__init__.py").write_text("def wrap() -> int:\n    return 1\n")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\nversion = "1"\n')
    (tmp_path / "a.py").write_text("import parcel\n\nprint(parcel.wrap())\n")

    async def test(ask: Ask, _: Sessions) -> None:
        answer = await ask("read_symbol", symbols=["py://a.py#3:14"])
        assert [one["text"] for one in answer["symbols"]] == ["def wrap() -> int:\n    return 1"]

    asking(tmp_path, test)


def test_what_a_server_says_of_something_near_explains_nothing(tmp_path: Path) -> None:
    """Of an argument that basedpyright 1.40 does not know, it names the definition of the function that is called."""
    try:
        find_program(load_adapter("basedpyright"))
    except MissingProgramError as error:
        pytest.skip(str(error))
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\nversion = "1"\n')
    (tmp_path / "a.py").write_text("class Door:\n    def slam(self) -> None: ...\n\n\nDoor().slam()\n")
    (tmp_path / "b.py").write_text("def twice(door):\n    print(door.slam(), door.slam())\n")

    async def test(ask: Ask, _: Sessions) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="py://a.py#2:9")
        assert files(answer["references"]) == ["a.py", "a.py"]
        unexplained = "2 occurrences of slam that basedpyright does not explain: b.py 2:16, b.py 2:29"
        assert f"unverified: {unexplained}" in answer["status"]

    asking(tmp_path, test)
