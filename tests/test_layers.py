"""The layer rule: imports point strictly down, and siblings do not know each other."""

import ast
from collections.abc import Iterator
from pathlib import Path

LAYERS = [  # top to bottom; a new module or package of src/lsp_mcp gets its place here
    {"__main__", "cli", "daemon"},
    {"server"},
    {"toolsets"},
    {"sessions", "render"},
    {"features"},
    {"lsp", "nvim", "dap", "board"},
    {"backend", "edits", "objects", "wire", "disk"},
    {"adapters", "clients", "workspace"},
    {"anchors", "uris"},
    {"text"},
    {"errors", "data", "events"},
    {"__init__", "__version__"},
]
HOMES = {  # what only one package imports
    "mcp": "server",
    "mcp_types": "server",
    "pynvim": "nvim",
    "sqlalchemy": "board",
    "alembic": "board",
    "psycopg": "board",
}

SOURCE = Path(__file__).parent.parent / "src" / "lsp_mcp"
DEPTH = {module: depth for depth, layer in enumerate(LAYERS) for module in layer}


def imports() -> Iterator[tuple[str, str, str]]:
    """Each import: its place for a reader, the top-level module that it is in, the dotted name imported."""
    for path in sorted(SOURCE.rglob("*.py")):
        home = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                for alias in node.names:
                    yield f"{path.relative_to(SOURCE.parent)}:{node.lineno}", home, prefix + alias.name


def test_every_module_has_its_place_in_the_layers() -> None:
    modules = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")}
    assert modules - DEPTH.keys() == set(), "give each of these a layer in LAYERS"


def test_imports_point_strictly_down() -> None:
    wrong = []
    for place, home, name in imports():
        library, *rest = name.split(".")
        module = rest[0] if rest else "__init__"
        if library == "lsp_mcp" and module != home and DEPTH.get(module, -1) <= DEPTH.get(home, -1):
            wrong.append(f"{place}: {home} imports {module}")
    assert wrong == []


def test_a_library_with_one_home_is_imported_nowhere_else() -> None:
    wrong = [f"{place}: {name}" for place, home, name in imports() if HOMES.get(name.split(".")[0], home) != home]
    assert wrong == []
