"""The layer rule: imports point strictly down, and siblings do not know each other; no modules import in a circle."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

# By package, top to bottom; a new module or package gets its place here. The parts of a package that are in another
# layer than the rest of it have a dotted name, such as "servers.plugin".
LAYERS: dict[str, list[set[str]]] = {
    "": [
        {"__main__"},
        {"daemon"},
        {"cli"},
        {"server"},
        {"toolsets"},
        {"sessions", "render"},
        {"servers"},
        {"features"},
        {"evidence"},
        {"requests"},
        {"lsp", "nvim", "board", "index", "dap", "syntax_server"},
        {"database"},
        {"backend"},
        {"servers.plugin"},
        {"words"},
        {"syntax"},
        {"edits", "objects", "wire", "disk", "programs"},
        {"servers.traits"},
        {"project_adapters"},
        {"adapters", "clients", "workspace"},
        {"adapter_errors"},
        {"budget"},
        {"anchors", "uris", "usage", "waiting"},
        {"text", "cache_folders", "scratch"},
        {
            "door",
            "errors",
            "data",
            "events",
            "file_kinds",
            "gaps",
            "installed",
            "private_files",
            "protocol",
            "remembered",
            "secret_tokens",
            "tcp_table",
        },
        {"prose", "visible"},
    ],
    "lsp": [
        {"session"},
        {"served_documents", "served_coverage", "served_problems"},
        {"diagnosing", "checking"},
        {"freshness"},
        {"readiness", "trial_server", "found_settings"},
        {"coverage"},
        {"reloading", "unopened"},
        {"process", "editor"},
        {"life"},
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
        {"visibility", "kept_index"},
        {"packages", "qualified", "saved"},
        {"index"},
        {"lexing"},
        {"nested", "word_search"},
    ],
    "syntax": [
        {"signatures", "bases"},
        {"declarations", "codes"},
        {
            "code",
            "imports",
            "keywords",
            "exports",
            "exposed",
            "made",
            "expansions",
            "parameters",
            "own_class",
            "own_names",
            "attributes",
            "roles",
            "switches",
            "files",
            "definitions",
            "stringified",
            "loads",
            "local_types",
            "scopes",
            "type_heads",
            "type_parts",
            "values",
        },
        {"trees", "preprocessor", "dependent_calls"},
        {"grammars"},
        {"kinds"},
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
            "indexed",
            "impact",
            "hierarchy",
            "clangd",
            "lsp",
            "lua",
            "nvim",
            "board",
            "debug",
        },
        {"extracting"},
        {"inlining"},
        {"relocating"},
        {"signatures"},
        {"changing", "passing", "test_commands", "trees"},
        {"answers", "renaming", "deltas"},
        {"questions", "elsewhere"},
        {"symbols"},
        {"by_name"},
        {"addresses", "part"},
        {"context"},
        {"settings", "tool", "json_text"},
    ],
}
HOMES = {  # what only one package imports, or these
    "mcp": "server",
    "mcp_types": "server",
    "pynvim": "nvim",
    "sqlalchemy": "board index database",
    "alembic": "board index database",
    "psycopg": "board",
    "grpc": "servers",
    "limits": "server",
    "prometheus_client": "server",
    "tree_sitter": "syntax",
    "pygls": "syntax_server",
}

SOURCE = Path(__file__).parent.parent / "src" / "lsp_mcp"


class Import(NamedTuple):
    """One import of one name."""

    place: str
    """File and line, for a reader."""
    module: str
    """The module that imports, below `lsp_mcp`: `lsp.session`."""
    name: str
    """What is imported, dotted: `lsp_mcp.text.Point`."""


def module_at(path: Path) -> str:
    """The module's name below `lsp_mcp`, for example `lsp.session`; empty for the package itself."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


MODULES = {module_at(path) for path in SOURCE.rglob("*.py")}


@cache
def imports() -> list[Import]:
    """All imports of the program. The source is parsed once for all tests."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in statements(ast.parse(path.read_text("utf-8")).body):
            if isinstance(node, ast.Import | ast.ImportFrom):
                prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                place = f"{path.relative_to(SOURCE.parent)}:{node.lineno}"
                found += [Import(place, module_at(path), prefix + alias.name) for alias in node.names]
    return found


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Each statement with those inside it. Expressions hold no imports: skipping them takes a third of `ast.walk`."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody"):
            yield from statements(getattr(node, field, []))
        for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            yield from statements(part.body)


@cache
def own_imports() -> list[Import]:
    """The imports of this program's own modules; `name` is the imported module's, below `lsp_mcp`."""
    found = []
    for one in imports():
        library, _, rest = one.name.partition(".")
        if library == "lsp_mcp":
            found.append(one._replace(name=rest if rest in MODULES else rest.rpartition(".")[0]))
    return found


def room(module: str, package: str) -> str | None:
    """The part of `package` that `module` is in, by its longest name in LAYERS; None if it is in none."""
    inside = module.removeprefix(f"{package}.") if package else module
    if not inside or (package and inside == module):
        return None
    dotted = [
        name
        for layer in LAYERS[package]
        for name in layer
        if "." in name and (inside == name or inside.startswith(f"{name}."))
    ]
    return max(dotted, key=len, default=inside.partition(".")[0])


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
        if (home := HOMES.get(name.split(".")[0])) and room(module, "") not in home.split()
    ]
    assert wrong == []


def test_a_dotted_part_has_a_layer_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LAYERS, "", [{"servers"}, {"features"}, {"servers.plugin"}])
    names = "servers", "servers.plugin", "servers.plugin.hooks", "servers.plugins", "servers.go", "features.calls"
    assert [room(name, "") for name in names] == [
        "servers",
        "servers.plugin",
        "servers.plugin",
        "servers",
        "servers",
        "features",
    ]
    assert room("features", "features") is None
