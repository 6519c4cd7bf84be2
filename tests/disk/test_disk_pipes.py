"""Named pipes and devices among files: nothing waits for them, and nobody who reads one by mistake waits for ever."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fakes.bounded import bounded
from lsp_mcp.disk.files import Files, content, content_or_nothing
from lsp_mcp.disk.pipes import hang_up, is_endless, named_pipes
from lsp_mcp.errors import PathError
from lsp_mcp.wire.process import run


def test_pipes_with_the_name_of_a_source_are_found_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_text("package a\n")
    (tmp_path / "folder.go").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("pipe.go", "pipe.txt", "folder.go/inner.go", ".git/ignored.go"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "link.go").symlink_to("pipe.go")
    (tmp_path / "broken.go").symlink_to("nowhere")
    (tmp_path / "zero.go").symlink_to("/dev/zero")
    found = named_pipes([tmp_path], {".git"}, (".go",))
    assert sorted(path.relative_to(tmp_path).as_posix() for path in found) == [
        "folder.go/inner.go",
        "link.go",
        "pipe.go",
    ]


def test_a_device_is_endless_and_a_file_a_pipe_and_nothing_are_not(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "file").write_text("")
    names = ("zero", "pipe", "file", "nothing")
    assert [is_endless(tmp_path / name) for name in names] == [True, False, False, False]


@bounded
async def test_a_program_that_reads_a_pipe_goes_on_with_an_empty_text(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.go"
    os.mkfifo(pipe)
    reads_twice = f"for _ in 'ab': print(repr(open({str(pipe)!r}).read()))"

    async def free() -> bool:
        return await hang_up([pipe])

    code, said = await run([sys.executable, "-c", reads_twice], cwd=tmp_path, timeout=25, free=free)
    assert (code, said) == (0, "''\n''")


@bounded
async def test_a_pipe_that_nobody_reads_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.go")
    assert not await hang_up([tmp_path / "pipe.go"])
    assert not await hang_up([])


@pytest.mark.parametrize("what", ["pipe", "device", "folder"])
def test_what_is_not_a_regular_file_is_never_opened(tmp_path: Path, what: str) -> None:
    path = tmp_path / "a.go"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        content(path)
    assert content_or_nothing(path) == b""
    with pytest.raises(PathError, match="not a regular file"):
        Files().text(path)
