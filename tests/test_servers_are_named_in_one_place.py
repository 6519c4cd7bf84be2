"""Only `servers/NAME` names the language server NAME, its language, or what only that server has."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "lsp_mcp"
# By server: its name, its language's, files that only that has, and words of its protocol that no specification knows.
WORDS = {
    "gopls": r"gopls|golang|\bGo\b(?! (?:to|on)\b)|\bgo\.(?:mod|work|sum)\b|GOFLAGS|GOWORK|GOPATH"
    r"|(?<!\w)\.go\b|_test\.go",
    "clangd": r"clang|\bcpp\b|C\+\+|compile_commands|symbolInfo|textDocument/ast\b|inactiveRegions|wantDiagnostics"
    r"|forceRebuild|\.idx\b|switchSourceHeader|symbolID",
    "basedpyright": r"pyright",
    "intelephense": r"intelephense|\bPHP\b",
}
# Occurrences that are left, by module: a number may only become smaller. Toolsets with a server's name are published.
LEFT = {
    "cli/options.py": 8,
    "door/request.py": 2,
    "edits/protected.py": 3,
    "toolsets/clangd.py": 25,
    "toolsets/debug/starting.py": 1,
    "toolsets/offered.py": 4,
    "toolsets/table.py": 2,
}


def spelled(tree: ast.Module) -> Iterator[str]:
    """Each string and each name in a module, but for docstrings: those, like comments, may say which server is why."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            yield node.arg


def modules() -> Iterator[tuple[str, list[str]]]:
    """Each module below the source, with what it spells; of Lua, the lines without their comments."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        yield name, [name, *spelled(ast.parse(path.read_text("utf-8")))]
    for path in sorted(SOURCE.rglob("*.lua")):
        lines = [line.partition("--")[0] for line in path.read_text("utf-8").split("\n")]
        yield path.relative_to(SOURCE).as_posix(), lines


def test_only_the_folder_of_a_server_names_it_or_its_language() -> None:
    found: Counter[str] = Counter()
    for server, pattern in WORDS.items():
        word = re.compile(pattern)
        for name, strings in modules():
            if not name.startswith(f"servers/{server}/") and name != "servers/registry.py":
                found[name] += sum(word.search(string) is not None for string in strings)
    assert dict(+found) == LEFT
