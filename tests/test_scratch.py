"""Temporary files of language servers: gone when the server is, also if it or this program is killed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from fakes.bounded import bounded
from lsp_mcp import scratch
from lsp_mcp.scratch import remove_left, scratch_folder
from lsp_mcp.wire.process import Child

LEFT = """import os, pathlib, signal
place = pathlib.Path(os.environ['TMPDIR'])
(place / 'preamble.pch').touch()
print(place, flush=True)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scratch._begin_removing.cache_clear()
    return tmp_path / f"lsp-mcp-servers-{os.geteuid()}"


@bounded
@pytest.mark.parametrize("end", ["input()", "os.kill(os.getpid(), signal.SIGKILL)"])
async def test_nothing_is_left_of_a_server_that_ends_or_is_killed(temporary: Path, end: str) -> None:
    child = Child([sys.executable, "-c", LEFT + end], cwd=temporary.parent, cleans_up=True)
    await child.attach()
    used = Path((await child.reader.readline()).decode().strip())
    assert used.parent == temporary
    child.writer.write(b"\n")
    await child.exited.wait()
    await cleaned(child)
    assert list(temporary.iterdir()) == []


@bounded
async def test_nothing_is_left_of_a_server_that_was_never_talked_to(temporary: Path) -> None:
    child = Child([sys.executable, "-c", LEFT + "input()"], cwd=temporary.parent, cleans_up=True)
    child.kill()
    await cleaned(child)
    assert list(temporary.iterdir()) == []


def swept() -> None:
    """Wait until what killed processes have left is removed."""
    for thread in threading.enumerate():
        if thread.name == "remove temporary files":
            thread.join()


async def cleaned(child: Child) -> None:
    """Wait for the threads that know of the end of `child`."""
    for thread in threading.enumerate():
        if thread.name in (f"wait for {child.pid}", f"clean up after {child.pid}"):
            await asyncio.to_thread(thread.join)


def test_what_a_killed_process_has_left_is_removed_and_what_another_one_uses_is_not() -> None:
    code = f"""
import os, signal, tempfile
tempfile.tempdir = {tempfile.gettempdir()!r}
from lsp_mcp.scratch import scratch_folder
made = scratch_folder()
(made.folder / "preamble.pch").touch()
print(made.folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    left, ours = Path(killed.stdout.strip()), scratch_folder()
    assert ours
    swept()
    assert sorted(left.parent.iterdir()) == [ours.folder, ours.folder.with_suffix(".lock")]
    ours.remove()


def test_without_a_private_folder_the_server_gets_the_common_one(temporary: Path) -> None:
    temporary.write_text("in the way")
    assert scratch_folder() is None


def test_what_cannot_be_removed_is_left_to_the_next_process(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = scratch_folder()
    swept()
    assert ours
    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", lambda *_, **__: None)  # as if a child wrote into it again
        ours.remove()
    assert ours.lock.exists()
    remove_left(ours.lock.parent)
    assert list(ours.lock.parent.iterdir()) == []
