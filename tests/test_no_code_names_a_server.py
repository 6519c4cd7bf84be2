"""No code names a language server: what is special about one is data of its adapter."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from lsp_mcp.adapters import adapter_names, load_adapter

SOURCE = Path(__file__).parent.parent / "src" / "lsp_mcp"
# Below the toolsets, which publish the vocabularies of servers.
PACKAGES = ("lsp", "nvim", "features", "edits", "wire", "disk", "sessions", "render")


def words_of_servers() -> set[str]:
    """Names of servers, and what only one of them has: methods and fields that no specification knows."""
    words = {"gopls", "clangd"}
    for name in adapter_names():
        adapter = load_adapter(name)
        words |= {name, adapter.inactive_regions.method, adapter.diagnostics.command}
        words |= {*adapter.documents.change_fields, *adapter.documents.reread_fields}
    return words - {""}


def strings() -> Iterator[tuple[str, str]]:
    """Each string that is not a docstring, with its place for a reader; of Lua, each line without its comment."""
    for package in PACKAGES:
        for path in sorted((SOURCE / package).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", node.value
        for path in sorted((SOURCE / package).rglob("*.lua")):
            for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
                yield f"{path.relative_to(SOURCE)}:{number}", line.partition("--")[0]


def test_no_string_is_the_word_of_one_server() -> None:
    # After a dot it is the name of a file, such as `.clangd`.
    word = re.compile(rf"(?<!\.)({'|'.join(map(re.escape, words_of_servers()))})")
    assert [(place, found[0]) for place, string in strings() if (found := word.search(string))] == []
