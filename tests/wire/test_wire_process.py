"""Child processes: drained, ended with all their children, and never outliving this program."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fakes.bounded import BOUND, bounded, gone, wait_gone
from lsp_mcp.errors import MissingProgramError, SilentError
from lsp_mcp.wire.process import Child, run

PYTHON = (sys.executable, "-I", "-S")
linux = pytest.mark.skipif(sys.platform != "linux", reason="the parent-death signal is Linux's")


def python(code: str, tmp_path: Path, **options: object) -> Child:
    """A child that runs `code`, with `tell` to write a line to its stdout."""
    tell = "import os, signal, subprocess, sys\ndef tell(x): os.write(1, (str(x) + '\\n').encode())\n"
    return Child([*PYTHON, "-c", tell + code], cwd=tmp_path, **options)  # type: ignore[arg-type]


async def line(child: Child) -> str:
    return (await child.reader.readline()).decode().strip()


@bounded
async def test_its_pipes_are_joined_and_its_end_is_told(tmp_path: Path) -> None:
    child = python("tell(sys.stdin.readline().upper()); sys.exit(5)", tmp_path)
    await child.attach()
    child.writer.write(b"hello\n")
    assert await line(child) == "HELLO"
    await child.exited.wait()
    assert child.returncode == 5
    assert child.last_words() == "exited with status 5"
    await child.end(0)


@bounded
async def test_a_megabyte_on_stderr_holds_nothing_up_and_its_last_lines_are_kept(tmp_path: Path) -> None:
    child = python(
        "sys.stderr.write(('x' * 99 + '\\n') * 10_486); sys.stderr.write('short of\\nmemory\\n'); sys.stderr.flush();"
        "tell('said it all'); sys.exit(2)",
        tmp_path,
    )
    await child.attach()
    assert await line(child) == "said it all"
    await child.exited.wait()
    words = child.last_words()
    assert words.startswith("exited with status 2; its last words: xxx")
    assert words.endswith(" | short of | memory")
    assert len(words) < 1000
    await child.end(0)


@bounded
async def test_its_last_words_are_complete_when_its_end_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The thread that reads stderr is made to lag until somebody waits for it.
    waited_for = threading.Event()
    drain, join = Child._drain_stderr, threading.Thread.join

    def slow_drain(child: Child) -> None:
        waited_for.wait(BOUND)
        drain(child)

    def telling_join(thread: threading.Thread, timeout: float | None = None) -> None:
        if thread.name.startswith("stderr of"):
            waited_for.set()
        join(thread, timeout)

    monkeypatch.setattr(Child, "_drain_stderr", slow_drain)
    monkeypatch.setattr(threading.Thread, "join", telling_join)
    child = python("os.write(2, b'panic: nil\\n'); sys.exit(2)", tmp_path)
    await child.attach()
    await child.exited.wait()
    words = child.last_words()
    waited_for.set()
    assert words == "exited with status 2; its last words: panic: nil"


@bounded
async def test_a_megabyte_on_stderr_without_a_line_end_is_drained_too(tmp_path: Path) -> None:
    child = python("os.write(2, b'\\xff' * 2**20); tell('done')", tmp_path)
    await child.attach()
    assert await line(child) == "done"
    await child.end(5)
    assert len(child.last_words()) < 4000


@bounded
async def test_a_megabyte_on_stderr_before_anybody_listens_is_drained_later(tmp_path: Path) -> None:
    child = python("os.write(2, b'x' * 2**20); tell('done')", tmp_path)
    assert child.returncode is None
    await child.attach()
    assert await line(child) == "done"
    await child.end(5)


@bounded
async def test_a_child_that_ends_with_its_stdin_is_not_killed(tmp_path: Path) -> None:
    child = python("tell('up'); sys.stdin.read(); sys.exit(7)", tmp_path)
    await child.attach()
    assert await line(child) == "up"
    await child.end(20)
    assert child.returncode == 7
    assert child.last_words() == "exited with status 7"


@bounded
async def test_a_child_that_ignores_the_end_of_its_stdin_is_terminated(tmp_path: Path) -> None:
    child = python("tell('up')\nwhile True: signal.pause()", tmp_path)
    await child.attach()
    assert await line(child) == "up"
    await child.end(0.01)
    assert child.returncode == -signal.SIGTERM
    assert child.last_words() == "stopped talking and was killed"


@bounded
async def test_a_child_that_ignores_everything_is_killed(tmp_path: Path) -> None:
    child = python(
        "for n in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(n, signal.SIG_IGN)\n"
        "tell('up')\nwhile True: signal.pause()",
        tmp_path,
    )
    await child.attach()
    assert await line(child) == "up"
    await child.end(0.01)
    assert child.returncode == -signal.SIGKILL


@bounded
async def test_a_child_that_died_of_a_signal_is_said_to_have(tmp_path: Path) -> None:
    child = python("os.kill(os.getpid(), signal.SIGSEGV)", tmp_path)
    await child.attach()
    await child.exited.wait()
    assert child.last_words() == "was killed by SIGSEGV"
    await child.end(0)


GRANDCHILDREN = """
sleep = [sys.executable, '-c', 'import signal\\nsignal.signal(15, signal.SIG_IGN)\\nprint(flush=True)\\nsignal.pause()']
for _ in range(2):
    grandchild = subprocess.Popen(sleep, stdout=subprocess.PIPE)
    grandchild.stdout.readline()
    tell(grandchild.pid)
"""


@bounded
@pytest.mark.parametrize("ending", ["end", "kill", "died"])
async def test_the_children_of_a_child_go_with_it(tmp_path: Path, ending: str) -> None:
    child = python(GRANDCHILDREN + "tell(sys.stdin.readline())\nsys.stdin.readline()", tmp_path)
    await child.attach()
    grandchildren = [int(await line(child)) for _ in range(2)]
    if ending == "died":
        os.kill(child.pid, signal.SIGKILL)
        await child.exited.wait()
    if ending == "kill":
        child.kill()
    else:
        await child.end(0.01)
    for pid in [child.pid, *grandchildren]:
        await gone(pid)


@bounded
async def test_ending_and_killing_may_be_repeated_and_touch_no_stranger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = python("", tmp_path)
    await child.attach()
    await child.end(20)
    signalled: list[tuple[int, int]] = []
    monkeypatch.setattr("os.killpg", lambda group, number: signalled.append((group, number)))
    child.kill()
    await child.end(0)
    assert signalled == [], "its id may be another program's by now"


@bounded
async def test_a_child_that_nobody_attached_is_killed(tmp_path: Path) -> None:
    child = python("while True: signal.pause()", tmp_path)
    child.kill()
    await gone(child.pid)
    assert child.returncode == -signal.SIGKILL


@bounded
async def test_its_environment_is_ours_with_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "1")
    child = python("tell(os.environ['OURS'] + os.environ['MINE'] + os.getcwd())", tmp_path, env={"MINE": "2"})
    await child.attach()
    assert await line(child) == f"12{tmp_path.resolve()}"
    await child.end(20)


@pytest.mark.parametrize("mode", [None, 0o644])
def test_a_missing_program_is_named(tmp_path: Path, mode: int | None) -> None:
    program = tmp_path / "no-server"
    if mode is not None:
        program.write_text("#!/bin/sh\n")
        program.chmod(mode)
    with pytest.raises(MissingProgramError, match="no-server --stdio cannot be started"):
        Child([str(program), "--stdio"], cwd=tmp_path)


# --- this program dies ------------------------------------------------------------------------------

PARENT = """
import asyncio, json, sys
from pathlib import Path
from lsp_mcp.wire.process import Child, run

STUBBORN = (
    "import os, signal\\n"
    "for n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\\n"
    "os.write(1, b'up\\\\n')\\n"
    "open('pid', 'w').write(str(os.getpid()))\\n"
    "while True: signal.pause()\\n"
)
PYTHON = [sys.executable, "-I", "-S", "-c"]

async def main():
    child = Child([*PYTHON, STUBBORN], cwd=Path.cwd())
    await child.attach()
    await child.reader.readline()
    print(json.dumps([child.pid]), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_that_ignores_everything_does_not_outlive_this_program_even_after_kill_9(
    tmp_path: Path, number: signal.Signals
) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], cwd=tmp_path, stdout=subprocess.PIPE)
    assert parent.stdout
    with parent:
        try:
            (child,) = json.loads(parent.stdout.readline())
            os.kill(child, 0)
            parent.send_signal(number)
            assert wait_gone(child)
        finally:
            parent.kill()


@linux
def test_a_child_started_in_the_moment_of_this_programs_death_does_not_run(tmp_path: Path) -> None:
    # Between fork and the call that asks for the signal, the parent may die: then there is no signal to come.
    code = (
        "import os, select\n"
        "from lsp_mcp.wire import process\n"
        "prepare = process._die_with_parent()\n"
        "parent = os.pidfd_open(os.getpid())\n"
        "if os.fork() == 0:\n"
        "    select.select([parent], [], [])\n"
        "    prepare()\n"
        "    open('outlived', 'w').close()\n"
        "    os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b""  # read to its end: the child, which had it too, is gone
    assert not (tmp_path / "outlived").exists()


# --- short programs ---------------------------------------------------------------------------------


@bounded
async def test_a_short_program_gives_its_status_and_what_it_printed(tmp_path: Path) -> None:
    assert await run(["sh", "-c", "echo out; echo err >&2"], cwd=tmp_path, timeout=20) == (0, "out")
    assert await run(["sh", "-c", "echo err >&2; exit 3"], cwd=tmp_path, timeout=20) == (3, "err")
    assert await run(["sh", "-c", "kill -9 $$"], cwd=tmp_path, timeout=20) == (-9, "")


@bounded
async def test_a_short_program_reads_nothing(tmp_path: Path) -> None:
    assert await run(["cat"], cwd=tmp_path, timeout=20) == (0, "")


@bounded
async def test_a_short_program_that_prints_much_on_both_channels_does_not_hang(tmp_path: Path) -> None:
    code = "import os; [os.write(n, b'x' * 1000) for _ in range(1000) for n in (1, 2)]"
    status, output = await run([*PYTHON, "-c", code], cwd=tmp_path, timeout=20)
    assert (status, len(output)) == (0, 1_000_000)


@bounded
async def test_a_short_program_that_does_not_end_is_killed_with_its_children(tmp_path: Path) -> None:
    # Only when both have told their ids does the bound matter: the shell waits for the child.
    code = "sh -c 'echo $$ > inner; exec sleep 1000' & echo $$ > outer; wait; wait"
    with pytest.raises(SilentError, match="was still running after 1 s"):
        await run(["sh", "-c", code], cwd=tmp_path, timeout=1)
    for name in ("outer", "inner"):
        await gone(int((tmp_path / name).read_text()))


@bounded
async def test_a_short_program_whose_caller_leaves_is_killed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    task = asyncio.create_task(run(["sh", "-c", "echo $$ > fifo; sleep 1000; :"], cwd=tmp_path, timeout=1000))
    pid = int(await asyncio.to_thread((tmp_path / "fifo").read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(pid)


@bounded
async def test_a_short_program_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingProgramError, match="no-such-program -x cannot be started"):
        await run(["no-such-program", "-x"], cwd=tmp_path, timeout=20)


@bounded
async def test_what_it_wrote_to_its_stderr_before_its_stdout_is_heard_by_who_reads_that(tmp_path: Path) -> None:
    child = python(
        "[os.write(2, f'bad {n} {1000 * chr(120)}\\n'.encode()) for n in range(200)]; tell('done'); sys.stdin.read()",
        tmp_path,
    )
    heard: list[str] = []
    child.on_error_line = heard.append
    await child.attach()
    assert await line(child) == "done"
    child.hear_errors()
    assert [one.split()[1] for one in heard] == [str(number) for number in range(200)]
    await child.end(0)
