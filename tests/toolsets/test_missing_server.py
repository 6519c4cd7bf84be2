"""Of several language servers one is missing: the others answer, and what is not searched is said."""

from __future__ import annotations

from pathlib import Path

from asking import skip_without
from mcp_process import connected

skip_without("gopls")


def test_questions_that_name_no_file_are_answered_by_the_servers_that_there_are(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.com/two\n\ngo 1.23\n")
    (tmp_path / "a.go").write_text("package two\n\nfunc One() {}\n")
    (tmp_path / "b.cpp").write_text("int two() { return 2; }\n")
    flags = ("--backend", "gopls", "--backend", "clangd", "--clangd-path", str(tmp_path / "none"))
    with connected("--workspace-root", str(tmp_path), "--format", "compact", *flags) as server:
        found = server.answer("find_symbol_definitions_by_name", symbol_name="One")
        assert "a.go" in found and "not searched: C and C++, because" in found
        assert "a.go" in server.answer("find_symbol_references_by_anchor", symbol_anchor="One")
        assert "not searched: C and C++" in server.error("find_symbol_references_by_anchor", symbol_anchor="two")
        assert "not searched: C and C++" in server.answer("check")
