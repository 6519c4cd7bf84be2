"""A defect of lsp-mcp in one call: said, and nothing else ends by it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from asking import skip_without
from mcp_process import BOUND, GO_ENV, PROGRAM
from shared_daemon import Desk

skip_without("gopls")

# Makes outlines fail in every process that is started with it, once they can be asked for.
DEFECT = """
import builtins, sys

importing = builtins.__import__


def imported(name, *arguments, **named):
    found = importing(name, *arguments, **named)
    module = sys.modules.get("lsp_mcp.requests.document_symbol")
    if hasattr(module, "page"):
        module.page = None
    return found


builtins.__import__ = imported
"""


def test_a_call_that_fails_by_a_defect_says_so_and_the_daemon_goes_on(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(DEFECT)
    outlined = ("list_symbols_in_file", "file_path=a.go")
    failed = desk.run("call", *outlined, PYTHONPATH=str(tmp_path))
    said = "failed by a defect of lsp-mcp itself; the log on stderr, or of the daemon"
    assert failed.returncode == 1 and f"list_symbols_in_file {said}" in failed.stderr, failed
    daemon = desk.daemon()
    batch = subprocess.run(
        [PROGRAM, "call", "--batch"],
        cwd=desk.root,
        env={**os.environ, **GO_ENV, **desk.env, "PYTHONPATH": str(tmp_path)},
        input=f"{' '.join(outlined)}\nfind_symbol_references_by_anchor symbol_anchor=One\n",
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
    )
    assert said in batch.stdout and "Found 2 references" in batch.stdout, batch
    assert desk.daemon() == daemon
    alone = desk.run("--no-shared", "call", *outlined, PYTHONPATH=str(tmp_path))
    assert alone.returncode == 1 and said in alone.stderr, alone
