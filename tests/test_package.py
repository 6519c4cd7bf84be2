"""What the package declares is what it needs."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import lsp_mcp

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def declared() -> set[str]:
    """The distributions that the package and its extras ask for."""
    extras = PROJECT["optional-dependencies"].values()
    wanted = [*PROJECT["dependencies"], *(one for extra in extras for one in extra)]
    return {re.split(r"[\[<>=;! ]", one)[0].lower().replace("_", "-") for one in wanted}


def imported() -> dict[str, str]:
    """Each library that is imported anywhere in the package, and one module that does."""
    found = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            found.update({name.partition(".")[0]: str(path.relative_to(ROOT)) for name in names})
    return {name: path for name, path in found.items() if name not in sys.stdlib_module_names | {"lsp_mcp"}}


def test_every_library_that_is_imported_is_declared() -> None:
    homes = packages_distributions()
    missing = {
        name: path
        for name, path in imported().items()
        if not {home.lower().replace("_", "-") for home in homes.get(name, [name])} & declared()
    }
    assert missing == {}, "add each of these to the dependencies in pyproject.toml"


def test_the_version_is_written_once() -> None:
    assert "version" not in PROJECT
    shown = subprocess.run([sys.executable, "-m", "lsp_mcp", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == f"lsp-mcp, version {lsp_mcp.__version__}\n"


def test_nothing_refers_to_documents_that_a_contributor_does_not_have() -> None:
    word = "see" + "ds/"
    folders = ("src", "tests", "lua", "doc", "docs", "web", "bench", "truth", "scripts", "adapters", "plugin")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [path for path in ROOT.iterdir() if path.is_file() and path.suffix in (".md", ".toml")]
    assert [path.name for path in files if word in path.read_text("utf-8", "replace")] == []


def test_who_asks_about_code_does_not_load_the_board() -> None:
    """Its database alone would take a third of the memory, and of the time until the first answer."""
    script = """
import sys
from lsp_mcp.adapters import load_adapter
from lsp_mcp.server.serving import Served, server_of
from lsp_mcp.sessions.running import Running
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.workspace import Workspace
from pathlib import Path

running = Running(Sessions(Workspace(Path(sys.argv[1])), [load_adapter("gopls")], {}))
server_of(Served(running, ToolSettings(), "json", "text"))
running.kill()
assert "sqlalchemy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script, str(Path(__file__).parent / "fixtures")], check=True)
