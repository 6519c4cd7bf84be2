"""The layer rule: imports point strictly down, and siblings do not know each other; no modules import in a circle."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

# By package, top to bottom; a new module or package gets its place here.
LAYERS: dict[str, list[set[str]]] = {
    "": [
        {"__main__"},
        {"daemon"},
        {"cli"},
        {"server"},
        {"toolsets"},
        {"sessions", "render"},
        {"features"},
        {"lsp", "nvim", "board", "dap"},
        {"backend"},
        {"words"},
        {"edits", "objects", "wire", "disk", "programs"},
        {"adapters", "clients", "workspace"},
        {"anchors", "uris", "waiting"},
        {"text", "cache_folders"},
        {"door", "errors", "data", "events", "gaps", "installed", "private_files", "prose", "remembered", "tcp_table"},
        {"visible"},
    ],
    "lsp": [
        {"session"},
        {"diagnosing", "checking"},
        {"freshness"},
        {"reloading", "readiness"},
        {"process", "editor", "compilation"},
        {"coverage", "life"},
    ],
    "dap": [
        {"sessions", "looking", "control"},
        {"session"},
        {"attaching"},
        {"planning"},
        {"plan", "finding", "launch_json", "exits", "variables"},
        {"target", "process", "terminal"},
        {"transport", "breakpoints", "output", "adapter", "keeper", "secrets"},
    ],
    "words": [
        {"workspace_words"},
        {"visibility", "kept_index", "name_first_types"},
        {"packages", "qualified", "saved", "local_types"},
        {"index", "lexing", "scopes"},
        {"nested"},
    ],
    "toolsets": [
        {"offered"},
        {"table"},
        {
            "outlines",
            "code",
            "renames",
            "reading",
            "checking",
            "editing",
            "refactoring",
            "calls",
            "implementations",
            "impact",
            "hierarchy",
            "clangd",
            "lsp",
            "lua",
            "nvim",
            "board",
            "debug",
        },
        {"changing", "passing", "test_commands", "trees"},
        {"answers", "renaming", "deltas"},
        {"questions"},
        {"symbols"},
        {"by_name"},
        {"addresses", "part"},
        {"context"},
        {"settings", "tool", "json_text"},
    ],
}
HOMES = {  # what only one package imports
    "mcp": "server",
    "mcp_types": "server",
    "pynvim": "nvim",
    "sqlalchemy": "board",
    "alembic": "board",
    "psycopg": "board",
}

SOURCE = Path(__file__).parent.parent / "src" / "lsp_mcp"


def name_of(path: Path) -> str:
    """The module's name below `lsp_mcp`, for example `lsp.session`; empty for the package itself."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


MODULES = {name_of(path) for path in SOURCE.rglob("*.py")}


def imports() -> Iterator[tuple[str, str, str]]:
    """Each import: its place for a reader, the module that it is in, and the dotted name imported."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                for alias in node.names:
                    yield f"{path.relative_to(SOURCE.parent)}:{node.lineno}", name_of(path), prefix + alias.name


def own_imports() -> Iterator[tuple[str, str, str]]:
    """The same of this program's own modules: the last is the imported module's name below `lsp_mcp`."""
    for place, module, name in imports():
        library, _, rest = name.partition(".")
        if library == "lsp_mcp":
            yield place, module, rest if rest in MODULES else rest.rpartition(".")[0]


def room(module: str, package: str) -> str | None:
    """The part of `package` that `module` is in, None if it is in none."""
    if not package:
        return module.partition(".")[0] or None
    return module.removeprefix(f"{package}.").partition(".")[0] if module.startswith(f"{package}.") else None


@pytest.mark.parametrize("package", LAYERS)
def test_every_module_has_its_place_in_the_layers_and_the_layers_name_no_other(package: str) -> None:
    named = set().union(*LAYERS[package])
    assert named == {room(module, package) for module in MODULES} - {None}


@pytest.mark.parametrize("package", LAYERS)
def test_imports_point_strictly_down(package: str) -> None:
    depth = {name: depth for depth, layer in enumerate(LAYERS[package]) for name in layer}
    wrong = []
    for place, module, imported in own_imports():
        here, there = room(module, package), room(imported, package)
        if here and there and here != there and depth[there] <= depth[here]:
            wrong.append(f"{place}: {here} imports {there}")
    assert wrong == []


def test_no_modules_import_in_a_circle() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for _, module, imported in own_imports():
        if imported != module:
            graph[module].add(imported)
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_a_library_with_one_home_is_imported_nowhere_else() -> None:
    wrong = [
        f"{place}: {name}"
        for place, module, name in imports()
        if HOMES.get(name.split(".")[0], room(module, "")) != room(module, "")
    ]
    assert wrong == []
