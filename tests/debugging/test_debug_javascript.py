"""Debugging JavaScript without an editor, with the real js-debug: what is special about its child sessions."""

from __future__ import annotations

import re
import signal
import subprocess
import textwrap
from pathlib import Path

import psutil
import pytest

from debugging.desk import desk, unhurried
from fakes.bounded import wait_gone
from lsp_mcp.dap.adapter import load_debugger
from lsp_mcp.dap.finding import find_debugger
from lsp_mcp.errors import CallerError, MissingProgramError

try:
    find_debugger(load_debugger("js-debug"), Path.cwd())
except MissingProgramError as error:
    pytest.skip(f"js-debug: {error}", allow_module_level=True)

SHOP = """
const fs = require('fs');
class Item { constructor(name, price) { this.name = name; this.price = price; } }
function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price;
  }
  return sum;
}
const mode = process.argv[2];
const items = [new Item('pen', 3), new Item('ink', 20)];
if (mode === 'crash') { null.foo(); }
if (mode === 'exit') { console.error('bye'); process.exit(7); }
if (mode === 'spin') { let n = 0; console.log('spinning'); while (true) { n += 1; } }
if (mode === 'read') { console.log('hello ' + fs.readFileSync(0).toString().trim()); }
if (mode === 'child') {
  const { status } = require('child_process').spawnSync(process.execPath, [__filename, 'exit']);
  console.log('child', status);
}
console.log(total(items));
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "shop.js").write_text(textwrap.dedent(SHOP).lstrip())
    return tmp_path


@unhurried
async def test_scopes_are_shown_together_breakpoints_are_bound_and_an_uncaught_error_stops(root: Path) -> None:
    async with desk(root) as d:
        stop = await d.start(program="shop.js", breakpoints=["shop.js:sum += item.price;"])
        assert stop["variables"] == {
            "item": "Item {name: 'pen', price: 3}",
            "items": "(2) [Item, Item]",
            "sum": "0",
        }
        assert (await d.breakpoints())["breakpoints"] == ["1 shop.js:6: sum += item.price;"]
        assert (await d.step())["changed"]["sum"] == "0 → 3"
        await d.set_variable(name="sum", value="100")
        await d.breakpoints(clear="all")
        end = await d.continue_()
        assert (end["exit_code"], end["output"]) == (0, ["120"])
        stop = await d.start(program="shop.js", args=["crash"])
        assert (stop["at"], "reading 'foo'" in stop["exception"]) == ("shop.js:12", True)
        end = await d.continue_()
        assert end["exit_code"] == 1
        assert "TypeError: Cannot read properties of null (reading 'foo')" in end["output"]


@unhurried
async def test_exit_code_stderr_input_and_child_processes_are_those_of_the_program(root: Path) -> None:
    async with desk(root) as d:
        end = await d.start(program="shop.js", args=["exit"])
        assert (end["exit_code"], end["output"]) == (7, ["bye"])
        assert (await d.output(stream="stderr"))["output"] == ["bye"]
        end = await d.start(program="shop.js", args=["read"], stdin="Ada\n")
        assert (end["exit_code"], end["output"]) == (0, ["hello Ada", "23"])
        stop = await d.start(program="shop.js", args=["child"], breakpoints=["shop.js:13 if mode === 'exit'"])
        assert stop["variables"]["mode"] == "'exit'"
        end = await d.continue_()
        assert (end["exit_code"], end["output"][-2:]) == (0, ["child 7", "23"])


@unhurried
async def test_a_loop_is_paused_nothing_of_it_is_left_and_no_other_user_can_connect_to_the_debugger(root: Path) -> None:
    async with desk(root) as d:
        await d.start(program="shop.js", args=["spin"], wait=0)
        session = d.debug.all[-1]
        assert await session.wait_for(lambda: "spinning" in session.output.of_program(), 90)
        pids = [terminal.pid for terminal in session._terminals]
        assert pids
        assert session._process
        adapter = psutil.Process(session._process._child.pid).children()[0]
        assert not [one for one in adapter.net_connections("inet") if one.status == psutil.CONN_LISTEN]
        stop = await d.pause()
        assert (stop["at"], "n" in stop["variables"]) == ("shop.js:14", True)
        await d.stop()
        assert all(wait_gone(pid) for pid in pids)


@unhurried
async def test_a_process_is_attached_to_at_the_port_that_it_opens_when_asked_paused_and_left_running(
    root: Path,
) -> None:
    command = ["node", "--inspect-port=127.0.0.1:0", str(root / "shop.js"), "spin"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout and program.stderr
            assert program.stdout.readline() == "spinning\n"
            async with desk(root) as d:
                with pytest.raises(CallerError, match=f"kill -USR1 {program.pid}"):
                    await d.attach(pid=program.pid)
                program.send_signal(signal.SIGUSR1)
                listening = re.search(r":(\d+)/", program.stderr.readline())
                assert listening
                await d.attach(port=int(listening[1]), debugger="js-debug")
                assert (await d.pause())["at"] == "shop.js:14"
                assert (await d.stop())["state"] == "detached"
            assert program.poll() is None
        finally:
            program.kill()


@unhurried
async def test_a_program_that_ends_at_once_and_a_file_that_is_not_javascript_are_reported(root: Path) -> None:
    (root / "quick.js").write_text("process.exit(5)\n")
    (root / "bad.js").write_text("let x = ;\n")
    async with desk(root) as d:
        assert (await d.start(program="quick.js"))["exit_code"] == 5
        assert "SyntaxError" in (await d.start(program="bad.js"))["exception"]
