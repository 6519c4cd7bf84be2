"""A client that goes, in whatever way, is no defect: no traceback is logged."""

from __future__ import annotations

from pathlib import Path

from mcp_process import BOUND, raw


def test_a_client_that_closes_our_stdout_ends_the_server_without_a_traceback(tmp_path: Path) -> None:
    with raw("board", "--mcp", "--workspace-root", str(tmp_path)) as server:
        server.initialize()
        assert server.process.stdout
        server.process.stdout.close()
        for number in range(3):
            try:
                server.send({"id": f"after {number}", "method": "tools/list", "params": {}})
            except BrokenPipeError:  # it has ended already
                break
        assert server.process.wait(BOUND) == 0
        assert "Traceback" not in server.said(), server.said()
