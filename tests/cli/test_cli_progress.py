"""On a terminal, every command that may take longer than a moment shows what it is doing; elsewhere it is silent."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

NEOVA = Path(__file__).parent.parent / "fixtures" / "neova"


def on_a_terminal(*words: str, root: Path) -> str:
    """All that `lsp-mcp` writes to stderr, which is a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "lsp_mcp", *words]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 4096):
                seen += piece
        except OSError:
            pass  # Linux: the other end is closed
        process.wait()
    os.close(ours)
    return seen.decode()


@pytest.mark.parametrize(
    ("words", "progress"),
    [
        (("doctor", "gopls"), "checking programs …"),
        (("board", "import", str(NEOVA / ".neova")), "importing …"),
        (("board", "export", "out"), "exporting …"),
        (("daemon", "stop", "."), "stopping daemons …"),
        (("call", "list_symbols_in_file", "file_path=a.go"), "starting …"),
        (("warm", "--backend", "gopls"), "starting …"),
    ],
    ids=["doctor", "import", "export", "stop", "call", "warm"],
)
def test_a_command_shows_its_progress(tmp_path: Path, words: tuple[str, ...], progress: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "go.mod").write_text("module example.com/p\n\ngo 1.21\n")
    (root / "a.go").write_text("package p\n")
    assert progress in on_a_terminal(*words, root=root)
