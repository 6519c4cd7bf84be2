"""Whatever Neovim or its language servers do, a call ends in time, says what holds it up, and later ones work."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without
from fakes.bounded import bounded, gone, told
from lsp_mcp.errors import LspMcpError, UnavailableError
from lsp_mcp.lsp.session import SessionOptions
from mcp_process import Raw
from nvim.neovims import NeovimError, neovim, skip_without_nvim
from nvim.truth_helpers import (
    GO,
    WATCH_REQUESTS,
    Answer,
    C,
    Desk,
    Kind,
    beside,
    desk,
    document,
    kinds,
    places,
    soon,
    write,
)

skip_without_nvim()
skip_without("gopls")
skip_without("clangd")

SOON = 10.0  # seconds for a call that can't be answered: less than the longest wait of ours for Neovim itself
AT_ONCE = 30.0  # seconds for a call whose server or Neovim is gone: half of the time that a request may take
IMPATIENT = SessionOptions(request_timeout=4.0)
EXPECTED = [("lib.go", 4), ("use.go", 4), ("use.go", 5)]


def write_project(root: Path) -> None:
    GO.write(root, use=2)


async def ends(at: Desk, tool: str = "read", **arguments: object) -> Answer | str:
    """The answer of a call, or its error, which must come soon."""
    try:
        return await soon(at.call(tool, **(arguments or {"document": document("lib.go")})), SOON)
    except LspMcpError as error:
        return str(error)


async def works(at: Desk) -> None:
    assert (await at.call("read", document=document("lib.go"))).text.startswith("package a")
    assert (await at.references(GO))[0] == EXPECTED


# --- Neovim waits for its user ---------------------------------------------------------------------

HIT_ENTER = (':echo "one\\ntwo"\r', "Press ENTER", "\r")
PAGER = (":set more | for i in range(60) | echo i | endfor\r", "-- More --", "q")
HALF_TYPED = ("r", "r", "\x1b")
INSERT_KEY = ("i\x16", "^", "a\x1bu")  # Ctrl-V in insert mode waits for the key to insert
GETCHAR = (":echo 'as'..'king' | call getchar()\r", "asking", "x")
CONFIRM = (":call confirm('Real'..'ly?')\r", "Really?", "\r")
INPUT = (":call input('Na'..'me: ')\r", "Name:", "\r")
COMMAND_LINE = (":ec", ":ec", "\x1b")
OPERATOR = ("d", "d", "\x1b")


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        (HIT_ENTER, "waiting at a hit-enter prompt: press Enter there"),
        (PAGER, "waiting in a pager (-- More --): press q there"),
        (HALF_TYPED, "waiting for a key to be pressed there"),
        (INSERT_KEY, "waiting for a key to be pressed there"),
    ],
    ids=["hit-enter", "pager", "half-typed command", "key to insert"],
)
@pytest.mark.parametrize("tool", ["read", "lsp_references", "find_symbol_references_by_anchor", "buffer_diagnostics"])
@bounded
async def test_a_prompt_that_blocks_neovim_is_named_and_left_to_its_user(
    prompt: tuple[str, str, str], told: str, tool: str, tmp_path: Path
) -> None:
    write_project(tmp_path)
    keys, drawn, answer = prompt
    calls: dict[str, dict[str, Any]] = {
        "read": {"document": document("lib.go")},
        "lsp_references": {"document": document("lib.go"), "line": 4, "character": 6},
        "find_symbol_references_by_anchor": {"symbol_anchor": GO.anchor},
        "buffer_diagnostics": {"id": 0},
    }
    async with desk(tmp_path, "lib.go", ui=True) as at:
        await works(at)
        at.nv.type(keys)
        await at.nv.shows(drawn)
        mode = await at.nv.mode()
        assert mode["blocking"]
        message = await soon(at.refused(tool, **calls[tool]), SOON)
        assert told in message
        assert "Neovim" in message
        assert await at.nv.mode() == mode  # nobody has answered for the person
        at.nv.type(answer)
        await works(at)


@pytest.mark.parametrize("prompt", [GETCHAR, CONFIRM, INPUT, COMMAND_LINE, OPERATOR], ids=lambda prompt: prompt[1])
@bounded
async def test_a_prompt_that_blocks_nothing_is_left_to_its_user_and_calls_work_or_name_it(
    prompt: tuple[str, str, str], tmp_path: Path
) -> None:
    write_project(tmp_path)
    keys, drawn, answer = prompt
    async with desk(tmp_path, "lib.go", ui=True) as at:
        await works(at)
        at.nv.type(keys)
        await at.nv.shows(drawn)
        mode, view = await at.nv.mode(), await at.nv.view()
        if mode["mode"] == "r?":
            message = await at.refused("navigate", document=document("use.go"), line=1, character=1)
            assert "is waiting at a question: answer it there" in message
            assert await at.nv.view() == view
        for tool, arguments in (
            ("read", {"document": document("lib.go")}),
            ("lsp_references", {"document": document("lib.go"), "line": 4, "character": 6}),
        ):
            ended = await ends(at, tool, **arguments)
            assert isinstance(ended, Answer) or "waiting" in ended, ended
        assert await at.nv.mode() == mode
        at.nv.type(answer)
        await works(at)


@bounded
async def test_the_question_whether_to_write_over_a_changed_file_is_left_to_the_user(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with desk(tmp_path, "lib.go", ui=True) as at:
        await works(at)
        await at.type_text("lib.go", "package a\n\n\nfunc Target() int { return 2 }\n")
        write(tmp_path / "lib.go", "package a\n\n\n\nfunc Target() int { return 3 }\n")
        at.nv.type(":write\r")
        await at.nv.shows("(y/n)?")
        mode = await at.nv.mode()
        ended = await ends(at)
        assert isinstance(ended, Answer) or "waiting at a question" in ended, ended
        assert await at.nv.mode() == mode
        at.nv.type("n\r")  # and it says that nothing was written
        assert (await at.call("read", document=document("lib.go"))).text.endswith("return 2 }")
        assert (tmp_path / "lib.go").read_text().endswith("return 3 }\n")


@bounded
async def test_a_file_that_another_neovim_edits_is_not_a_question_for_a_call(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with neovim(tmp_path, "use.go", servers=()) as other:
        await other.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, {'// more'}) vim.cmd.preserve()")
        async with desk(tmp_path, "lib.go", state=other.folder, ui=True) as at:
            view = await at.nv.view()
            await soon(works(at), SOON)
            edit = {"changes": {(tmp_path / "use.go").as_uri(): [{"range": head(1), "newText": "// mine\n"}]}}
            await soon(at.call("lsp_apply_edit", workspace_edit=edit, save=False), SOON)
            assert (await at.buffer_text("use.go") or "").startswith("// mine\n")
            assert await at.nv.view() == {**view, "buffers": (await at.nv.view())["buffers"]}
            await soon(at.call("navigate", document=document("use.go"), line=1, character=1), SOON)


@bounded
async def test_a_swap_file_question_at_the_start_is_named_not_taken_for_a_missing_language_server(
    tmp_path: Path,
) -> None:
    write_project(tmp_path)
    swap = "vim.o.swapfile = true"
    async with neovim(tmp_path, "lib.go", servers=(), extra_lua=swap) as dead:
        await dead.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { '// more' }) vim.cmd.preserve()")
        await dead.kill()
        async with neovim(
            tmp_path, "lib.go", servers=["gopls"], ui=True, extra_lua=swap, state=dead.folder, wait=False
        ) as nv:
            await nv.shows("-- More --")
            nv.type(" ")
            await nv.shows("(A)bort")
            async with beside(tmp_path, nv, ["gopls"]) as at:
                for tool, arguments in (
                    ("wait_for_lsp_ready", {}),
                    ("lsp_workspace_symbols", {"query": "Target"}),
                    ("find_symbol_references_by_anchor", {"symbol_anchor": GO.anchor}),
                    ("navigate", {"document": document("use.go"), "line": 1, "character": 1}),
                ):
                    message = await at.refused(tool, **arguments)
                    assert "is waiting at a question: answer it there, then ask again" in message, (tool, message)
                nv.type("e")
                await nv.started()
                await nv.attached("gopls")
                await works(at)


@bounded
async def test_a_swap_file_question_that_the_user_has_opened_is_theirs(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with neovim(tmp_path, "use.go", servers=()) as other:
        await other.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, {'// more'}) vim.cmd.preserve()")
        async with desk(tmp_path, "lib.go", state=other.folder, ui=True) as at:
            await works(at)
            # Neovim opens it by itself if the other runs; this is what one asks who has switched that off.
            await at.nv.lua("pcall(vim.api.nvim_del_augroup_by_name, 'nvim.swapfile')")
            at.nv.type(":edit use.go\r")
            for drawn, key in (("-- More --", " "), ("(A)bort", "q")):
                await at.nv.shows(drawn)
                mode = await at.nv.mode()
                ended = await ends(at)
                assert isinstance(ended, Answer) or "waiting" in ended, ended
                assert await at.nv.mode() == mode
                at.nv.type(key)
            assert (await at.call("read", document=document("lib.go"))).text.startswith("package a")


BUSY = """
local pipe = assert(io.open(..., 'w'))
pipe:write('busy')
pipe:close()
local e = vim.uv.hrtime() + 12e9
while vim.uv.hrtime() < e do end
"""


@bounded
async def test_a_busy_loop_is_named_and_calls_work_after_it(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with desk(tmp_path, "lib.go", ui=True) as at:
        await works(at)
        os.mkfifo(tmp_path / "begun")
        busy = asyncio.create_task(at.nv.lua(BUSY, str(tmp_path / "begun")))
        await told(tmp_path / "begun")
        messages = await soon(
            asyncio.gather(
                at.refused("read", document=document("lib.go")),
                at.refused("lsp_references", document=document("lib.go"), line=4, character=6),
                at.refused("cursor_position"),
            ),
            SOON,
        )
        assert all("it runs to end: press Ctrl-C there" in message for message in messages), messages
        await busy
        await works(at)


@bounded
async def test_a_long_sleep_of_the_user_holds_no_call_up_for_long(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with desk(tmp_path, "lib.go", ui=True) as at:
        await works(at)
        at.nv.type(":echo 'sleep'..'ing' | redraw | sleep 8\r")
        await at.nv.shows("sleeping")
        ended = await ends(at)
        assert isinstance(ended, Answer) or "press Ctrl-C there" in ended, ended
        at.nv.type("\x03")
        await works(at)


@bounded
async def test_a_connection_to_a_neovim_that_waits_at_a_prompt_is_refused_in_time_and_works_afterwards(
    tmp_path: Path,
) -> None:
    write_project(tmp_path)
    async with neovim(tmp_path, "lib.go", servers=["gopls"], ui=True) as nv:
        await nv.attached("gopls")
        nv.type(HIT_ENTER[0])
        await nv.shows(HIT_ENTER[1])
        async with beside(tmp_path, nv) as at:
            message = await soon(at.refused("connect", target=nv.socket), SOON)
            assert "hit-enter" in message
            nv.type("\r")
            await at.call("connect", target=nv.socket)
            await works(at)


# --- language servers ------------------------------------------------------------------------------


@kinds
@bounded
async def test_a_server_that_is_killed_fails_or_repeats_its_pending_calls_at_once_and_is_back(
    kind: Kind, tmp_path: Path
) -> None:
    kind.write(tmp_path, use=2)
    expected = sorted([*kind.also, *kind.uses(f"use{kind.suffix}", 2)])
    async with desk(tmp_path, kind.definition[0], servers=[kind.server], extra_lua=WATCH_REQUESTS) as at:
        assert (await at.references(kind))[0] == expected
        await at.nv.lua("_G.requests = {}")
        with at.stopped(kind.server) as pids:
            calls = [asyncio.create_task(at.references(kind)) for _ in range(3)]
            await at.requested("textDocument/references")
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            ended = await soon(asyncio.gather(*calls, return_exceptions=True), 10)
        for one in ended:
            if isinstance(one, BaseException):
                assert isinstance(one, UnavailableError), one
            else:
                assert one[0] == expected
        found, said = await at.references(kind)
        assert found == expected
        told = [said, *(one[1] for one in ended if not isinstance(one, BaseException))]
        assert any("restarted" in text for text in told), told
        assert "restarted" not in (await at.references(kind))[1]
        assert at.servers(kind.server)


@kinds
@bounded
async def test_a_server_that_was_killed_between_two_calls_is_back_and_knows_the_unsaved_text(
    kind: Kind, tmp_path: Path
) -> None:
    kind.write(tmp_path, use=1)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, user, servers=[kind.server]) as at:
        await at.references(kind)
        await at.type_text(user, kind.using("use", 3, above=1))
        view = await at.nv.view()
        for pid in at.servers(kind.server):
            os.kill(pid, signal.SIGKILL)
            await gone(pid)
        found, said = await soon(at.references(kind), 15)
        assert found == sorted([*kind.also, *kind.uses(user, 3, above=1)])
        assert "restarted" in said
        assert await at.nv.view() == view


@bounded
async def test_a_server_that_does_not_end_when_it_must_be_replaced_is_left_alone(tmp_path: Path) -> None:
    C.write(tmp_path, use=1, other=1)
    C.write_commands(tmp_path, "use")
    async with desk(tmp_path, "lib.c", servers=["clangd"]) as at:
        await at.references(C)
        with at.stopped("clangd") as pids:
            C.write_commands(tmp_path, "use", "other")
            found, _ = await soon(at.references(C), 30)
            assert found == sorted([*C.also, *C.uses("use.c", 1), *C.uses("other.c", 1)])
            assert set(at.servers("clangd")) - set(pids)


@bounded
async def test_a_server_that_answers_nothing_costs_no_more_than_the_request_timeout(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with desk(tmp_path, "lib.go", options=IMPATIENT) as at:
        await works(at)
        with at.stopped("gopls"):
            message = await soon(
                at.refused("lsp_references", document=document("lib.go"), line=4, character=6), AT_ONCE
            )
            assert "within 4 s" in message
            assert "gopls does not answer at all and seems stuck: restart it there" in message
            assert "raise --request-timeout" not in message
            assert "textDocument/references" in message
            # What needs no server is answered.
            assert (await soon(at.call("read", document=document("lib.go")), AT_ONCE)).text.startswith("package a")
        await works(at)


@pytest.mark.parametrize(
    "stop",
    ["vim.lsp.enable('gopls', false)", "vim.lsp.get_clients({ name = 'gopls' })[1]:stop()"],
    ids=["enable false", "client stop"],
)
@bounded
async def test_a_server_that_the_user_stopped_stays_stopped_and_the_error_says_so(stop: str, tmp_path: Path) -> None:
    write_project(tmp_path)
    async with desk(tmp_path, "lib.go") as at:
        await works(at)
        pids = at.servers("gopls")
        await at.nv.lua(stop)
        for pid in pids:
            await gone(pid)
        for _ in range(2):
            message = await soon(at.refused("find_symbol_references_by_anchor", symbol_anchor=GO.anchor), SOON)
            assert "gopls" in message
            assert "stopped" in message
            assert "Neovim" in message
        message = await soon(at.refused("lsp_references", document=document("lib.go"), line=4, character=6), SOON)
        assert "gopls" in message
        assert at.servers("gopls") == []
        assert await at.nv.lua("return #vim.lsp.get_clients({ name = 'gopls' })") == 0
        assert (await at.call("read", document=document("lib.go"))).text.startswith("package a")
        await at.nv.lua("vim.lsp.enable('gopls') vim.cmd.edit()")
        await at.nv.attached("gopls")
        await works(at)


@bounded
async def test_a_server_that_the_user_restarts_answers_again(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with desk(tmp_path, "lib.go") as at:
        await works(at)
        for _ in range(2):
            pids = at.servers("gopls")
            # As :LspRestart of nvim-lspconfig does.
            await at.nv.lua("""
                vim.lsp.enable('gopls', false)
                vim.defer_fn(function() vim.lsp.enable('gopls', true) end, 500)
            """)
            for pid in pids:
                await gone(pid)
            await at.nv.attached("gopls")
            await works(at)


@bounded
async def test_a_question_during_a_restart_by_the_user_is_answered_by_the_new_server(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with desk(tmp_path, "lib.go", extra_lua=WATCH_REQUESTS) as at:
        await works(at)
        await at.nv.lua("""
            vim.lsp.enable('gopls', false)
            vim.defer_fn(function() vim.lsp.enable('gopls', true) end, 500)
        """)
        assert (await soon(at.by_anchor(GO), 10))[0] == EXPECTED
        await works(at)


# --- the end of Neovim -----------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["kill -9", ":qall!"])
@bounded
async def test_waiters_fail_at_once_when_neovim_ends_and_it_is_named(how: str, tmp_path: Path) -> None:
    write_project(tmp_path)
    async with desk(tmp_path, "lib.go", extra_lua=WATCH_REQUESTS) as at:
        await works(at)
        await at.nv.lua("_G.requests = {}")
        pids = at.servers("gopls")
        with at.stopped("gopls"):
            calls = [
                asyncio.create_task(at.refused("lsp_references", document=document("lib.go"), line=4, character=6)),
                asyncio.create_task(at.refused("find_symbol_references_by_anchor", symbol_anchor=GO.anchor)),
            ]
            await at.requested("textDocument/references")
            if how == "kill -9":
                os.kill(at.nv.pid, signal.SIGKILL)
            else:
                with contextlib.suppress(NeovimError):
                    await at.nv.rpc("nvim_command", "qall!")
            messages = await soon(asyncio.gather(*calls), AT_ONCE)
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
        assert all(at.nv.socket in message for message in messages), messages
        for tool, arguments in (("read", {"document": document("lib.go")}), ("lsp_clients", {}), ("list_buffers", {})):
            message = await soon(at.refused(tool, **arguments), AT_ONCE)
            assert at.nv.socket in message, message
            assert "connect" in message, message


# --- many at once, and cancelling ------------------------------------------------------------------


@bounded
async def test_50_calls_at_a_time_work(tmp_path: Path) -> None:
    GO.write(tmp_path, use=2)
    async with desk(tmp_path, "lib.go", servers=["gopls"]) as at:
        view = await at.nv.view()
        at_definition: dict[str, Any] = {"document": document("lib.go"), "line": 4, "character": 6}
        calls: list[tuple[str, dict[str, Any]]] = [
            ("read", {"document": document("use.go")}),
            ("lsp_references", at_definition),
            ("lsp_hover", at_definition),
            ("find_symbol_references_by_anchor", {"symbol_anchor": GO.anchor}),
            ("list_symbols_in_file", {"file_path": "lib.go"}),
            ("lsp_document_symbols", {"document": document("use.go")}),
            ("lsp_workspace_symbols", {"query": "Target"}),
            ("buffer_diagnostics", {"id": 0}),
            ("lsp_clients", {}),
            ("cursor_position", {}),
        ]
        asked = [at.call(tool, **arguments) for tool, arguments in calls * 5]
        answers = await soon(asyncio.gather(*asked), 2 * AT_ONCE)
        assert len(answers) == 50
        for index, (tool, _) in enumerate(calls):
            of_tool = {answers[index + 10 * round_].text for round_ in range(5)}
            assert len(of_tool) == 1, (tool, of_tool)
        assert places(tmp_path, answers[1].json) == EXPECTED
        assert await at.nv.view() == view


@bounded
async def test_a_call_that_is_cancelled_is_cancelled_with_the_server(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with desk(tmp_path, "lib.go", extra_lua=WATCH_REQUESTS) as at:
        await works(at)
        await at.nv.lua("_G.requests = {}")
        with at.stopped("gopls"):
            call = asyncio.create_task(at.references(GO))
            await at.requested("textDocument/references")
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await at.requested("textDocument/references", "cancel")
        await works(at)


@bounded
async def test_a_call_whose_time_is_up_is_cancelled_with_the_server(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with desk(tmp_path, "lib.go", options=IMPATIENT, extra_lua=WATCH_REQUESTS) as at:
        await works(at)
        await at.nv.lua("_G.requests = {}")
        with at.stopped("gopls"):
            await at.refused("lsp_references", document=document("lib.go"), line=4, character=6)
            await at.requested("textDocument/references", "cancel")
        await works(at)


# --- the end of this program -----------------------------------------------------------------------

ASK = """
local client = vim.lsp.get_clients({ name = ... })[1]
_G.found = nil
local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
params.context = { includeDeclaration = true }
client:request('textDocument/references', params, function(err, result)
  _G.found = { err = err, result = result }
  vim.api.nvim_exec_autocmds('User', { pattern = 'Found' })
end, 0)
"""

FREED = """
return vim.wait(20000, function()
  return not vim.iter(pairs(_G.lsp_mcp or {})):any(function(channel)
    return vim.api.nvim_get_chan_info(channel).id ~= nil
  end)
end)
"""


@kinds
@pytest.mark.parametrize("how", ["kill -9", "end of input"])
@bounded
async def test_after_this_program_is_gone_the_users_own_questions_are_about_the_files(
    kind: Kind, how: str, tmp_path: Path
) -> None:
    kind.write(tmp_path, use=1)
    user, (path, line, character) = f"use{kind.suffix}", kind.definition
    async with neovim(tmp_path, path, servers=[kind.server]) as nv:
        await nv.attached(kind.server)
        server = await asyncio.to_thread(
            Raw, "--backend", "nvim", "--socket", nv.socket, "--workspace-root", str(tmp_path), "--log-level", "error"
        )
        try:
            await asyncio.to_thread(server.initialize)
            # It has the other file open with the server now, past Neovim.
            for file in (user, path):
                result = await asyncio.to_thread(server.call, "lsp_document_symbols", document=document(file))
                assert not result.get("isError"), result
            write(tmp_path / user, kind.using("use", 2, above=2))
            if how == "end of input":
                assert server.process.stdin
                server.process.stdin.close()
                await gone(server.process.pid)
        finally:
            await asyncio.to_thread(server.kill)
        # Neovim hears of the end of a connection in its loop, and frees its channel some turns later.
        assert await nv.lua(FREED)
        # clangd reads a file that nobody has open when it is opened; gopls when a document of it is closed.
        if kind is C:
            await nv.open(user)
            line, character = 6, 3
        await nv.lua(
            "local line, character = ... vim.api.nvim_win_set_cursor(0, { line, character - 1 })", line, character
        )
        await nv.lua(ASK, kind.server)
        found = await nv.until("return _G.found", "User")
        assert "err" not in found
        assert set(kind.uses(user, 2, above=2)) <= {
            (name, number + 1) for name, number in places(tmp_path, found["result"])
        }
        assert await nv.lua("return _G.lsp_mcp and vim.tbl_count(_G.lsp_mcp) or 0") == 0


def head(lines: int) -> dict[str, dict[str, int]]:
    """An empty range before line `lines`, as the tools count."""
    return {"start": {"line": lines, "character": 1}, "end": {"line": lines, "character": 1}}
