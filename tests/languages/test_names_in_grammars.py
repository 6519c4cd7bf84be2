"""Names in grammars and other files that code is generated from, where the generated code does not say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from languages.served import ask, write
from lsp_mcp.errors import LspMcpError

PYTHON = {
    "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
    "shop.py": "def total() -> int:\n    return 1\n",
    "fast.pyx": "from shop import total\n\ndef twice():\n    return 2 * total()\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub fn total() -> i32 {\n    1\n}\n",
    "src/grammar.lalrpop": "use crate::total;\n\ngrammar;\n\npub Sum: i32 = <a:Number> => a + total();\n",
}
JAVASCRIPT = {
    "package.json": "{}",
    "shop.ts": "export function total(): number { return 1 }\n",
    "grammar.pegjs": "{{ import { total } from './shop' }}\nstart = number { return total() }\n",
}


@pytest.mark.parametrize(
    ("backend", "files", "named"),
    [
        ("basedpyright", PYTHON, "fast.pyx:1,4 (Cython)"),
        ("rust-analyzer", RUST, "src/grammar.lalrpop:1,5 (a grammar)"),
        ("typescript", JAVASCRIPT, "grammar.pegjs:1,2 (a grammar)"),
    ],
)
def test_a_name_in_them_is_told_and_a_rename_must_be_confirmed(
    backend: str, files: dict[str, str], named: str, tmp_path: Path
) -> None:
    write(tmp_path, files)
    found = ask(backend, tmp_path, "find_symbol_references_by_anchor", symbol_anchor="total", wait=True)
    assert f"not counted: total in {named}" in found
    with pytest.raises(LspMcpError, match="must be confirmed first: total stays as it is in") as refused:
        ask(backend, tmp_path, "rename_symbol_by_anchor", symbol_anchor="total", new_name="sum_of_all")
    assert named in str(refused.value)
