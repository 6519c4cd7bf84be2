"""What the package declares is what it needs."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

import lsp_mcp
from lsp_mcp import installed
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.programs import find_program

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import release  # noqa: E402 (a script)

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
BOUND = 300  # seconds for one command: a hang, not a measurement


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
    homes = metadata.packages_distributions()
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
    files = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix != ".pyc"
    ]
    files += [path for path in ROOT.iterdir() if path.is_file() and path.suffix in (".md", ".toml")]
    assert [path.name for path in files if word in path.read_text("utf-8", "replace")] == []


def test_who_asks_about_code_does_not_load_the_board() -> None:
    """Its database alone would take a third of the memory, and of the time until the first answer."""
    script = """
import sys
from lsp_mcp.adapters import load_adapter
from lsp_mcp.server.offer import Served, offer_of
from lsp_mcp.server.serving import server_of
from lsp_mcp.sessions.running import Running
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.workspace import Workspace
from pathlib import Path

running = Running(Sessions(Workspace(Path(sys.argv[1])), [load_adapter("gopls")], {}))
server_of(offer_of(Served(running, ToolSettings(), "json", "text")))
running.kill()
assert "sqlalchemy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script, str(Path(__file__).parent / "fixtures")], check=True)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel, the sdist, and the wheel that is built from the unpacked sdist."""
    folder = tmp_path_factory.mktemp("dist")
    wheel, sdist = _built(ROOT, "wheel", folder), _built(ROOT, "sdist", folder)
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # not in the first versions of Python 3.11
        archive.extractall(folder / "sdist")
    source = next((folder / "sdist").iterdir())
    return {"wheel": wheel, "sdist": sdist, "from sdist": _built(source, "wheel", folder / "again")}


def _built(source: Path, kind: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    return next(folder.glob("*.whl" if kind == "wheel" else "*.tar.gz"))


def test_the_sdist_builds_the_same_wheel_and_has_what_a_packager_needs(packages: dict[str, Path]) -> None:
    names = [sorted(zipfile.ZipFile(packages[one]).namelist()) for one in ("wheel", "from sdist")]
    assert names[0] == names[1]
    with tarfile.open(packages["sdist"]) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "docs/getting-started.md", "mkdocs.yml", "tests/test_package.py"} <= files
    assert not [name for name in files if name.startswith((".git/", ".tools", ".venv", ".site", "dist"))]


def test_the_wheel_has_every_file_of_the_package(packages: dict[str, Path]) -> None:
    included = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    places = {**included, "src/lsp_mcp": "lsp_mcp"}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    files = {
        name.replace(folder, place, 1)
        for name in listed
        for folder, place in places.items()
        if name.startswith(f"{folder}/") and (ROOT / name).is_file()
    }
    assert len(files) > 500
    assert files <= set(zipfile.ZipFile(packages["wheel"]).namelist())


def test_links_and_pictures_of_the_readme_lead_somewhere_on_the_package_index(packages: dict[str, Path]) -> None:
    with zipfile.ZipFile(packages["from sdist"]) as archive:
        name = next(one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        described = archive.read(name).decode().partition("\n\n")[2]
    addresses = re.findall(r"\]\(([^)\s]+)\)", described)
    assert len(addresses) > 20
    assert [one for one in addresses if not one.startswith(("https://", "#"))] == []
    assert f"{PROJECT['urls']['Repository']}/blob/main/docs/getting-started.md" in addresses
    assert any(
        re.fullmatch(r"https://raw\.githubusercontent\.com/\S+/main/docs/assets/recording\.svg", a) for a in addresses
    )
    assert "mcp-name: io.github." in described


class Installed:
    """The wheel in an environment that has nothing but it and what it depends on; the network is not used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "env" / "bin" / "python"
        venv.create(folder / "env")
        self.site = next((folder / "env").glob("lib/python*/site-packages"))

    def install(self, wheel: Path) -> None:
        """Install `wheel`; its dependencies are those of this environment, whose editable lsp-mcp is not seen."""
        words = ["uv", "pip", "install", "--quiet", "--offline", "--no-deps", "--python", str(self.python), str(wheel)]
        subprocess.run([sys.executable, "-m", *words], check=True)
        (self.site / "dependencies.pth").write_text(f"{Path(click.__file__).parent.parent}\n", "utf-8")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command `lsp-mcp` as a user who has nothing else of it."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        command = [str(self.folder / "env" / "bin" / "lsp-mcp"), *words]
        return subprocess.run(
            command, cwd=self.folder, env=env, check=False, capture_output=True, text=True, timeout=BOUND
        )


@pytest.fixture
def installed_wheel(packages: dict[str, Path], tmp_path: Path) -> Installed:
    environment = Installed(tmp_path)
    environment.install(packages["wheel"])
    return environment


def test_the_wheel_works_where_nothing_else_is(installed_wheel: Installed) -> None:
    """The installed package has its data: adapters, clients, the Neovim plugin, the board's page and its migrations."""
    run = installed_wheel.run
    where = run("plugin").stdout.strip()
    assert where.startswith(str(installed_wheel.site))
    assert (Path(where) / "lua" / "mcp-tools" / "init.lua").is_file()
    assert {"clangd", "gopls", "debugpy"} <= {one["name"] for one in json.loads(run("install", "--json").stdout)}
    assert "Claude Code" in run("setup").stdout
    store = f"sqlite:///{installed_wheel.folder}/b.sqlite3"
    assert json.loads(run("--store", store, "board", "call", "list_tasks").stdout)["total"] == 0
    assert (installed_wheel.site / "lsp_mcp" / "_data" / "web" / "board" / "index.html").is_file()


@pytest.mark.parametrize(
    "lacking", ["", "_data/adapters/lsp/clangd.toml", "_data/adapters/demos.toml", "syntax/languages/c"]
)
def test_the_demo_works_where_only_the_wheel_is_and_fails_if_that_lacks_a_file(
    lacking: str, installed_wheel: Installed
) -> None:
    try:
        clangd = find_program(load_adapter("clangd"))
    except MissingProgramError as error:
        pytest.skip(f"clangd: {error}")
    if lacking:
        path = installed_wheel.site / "lsp_mcp" / lacking
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    done = installed_wheel.run("demo", "--backend", "clangd", "--clangd-path", str(clangd))
    assert (done.returncode == 0) == (not lacking), done.stdout + done.stderr
    assert lacking or "6 of 6 answers are as expected" in done.stdout


def test_a_release_wants_tag_version_changelog_and_repository_to_agree(tmp_path: Path) -> None:
    for name in (
        "pyproject.toml",
        "server.json",
        "README.md",
        "CHANGELOG.md",
        "src/lsp_mcp/__init__.py",
        "claude/.claude-plugin/plugin.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    url = PROJECT["urls"]["Repository"]
    tag = f"v{lsp_mcp.__version__}"
    changelog = tmp_path / "CHANGELOG.md"
    assert ["CHANGELOG.md has no section" in one for one in release.problems(tag, url, tmp_path)] == [True]
    text = changelog.read_text("utf-8").replace("## [Unreleased]", f"## [{lsp_mcp.__version__}] - 2026-12-01")
    changelog.write_text(text, "utf-8")
    assert release.problems(tag, url, tmp_path) == []
    assert "\n### " in release.notes(tag, tmp_path)
    assert release.problems("v9.9.9", url, tmp_path)[0].startswith("the tag is v9.9.9, ")
    assert "[project.urls]" in release.problems(tag, "https://example.com/another", tmp_path)[0]
    readme = tmp_path / "README.md"
    readme.write_text(
        readme.read_text("utf-8").replace("mcp-name: io.github.", "mcp-name: io.github.SOMEBODY/"), "utf-8"
    )
    assert "README.md is not up to date" in release.problems(tag, url, tmp_path)[0]


@pytest.mark.parametrize(
    ("files", "origin", "install", "upgrade"),
    [
        (["pipx_metadata.json"], None, "pipx install --force 'lsp-mcp[board]'", "pipx upgrade lsp-mcp"),
        (["uv-receipt.toml"], None, "uv tool install --force 'lsp-mcp[board]'", "uv tool upgrade lsp-mcp"),
        (["pipx_metadata.json"], {}, "pipx install --force '{folder}[board]'", "pipx upgrade lsp-mcp"),
        ([], None, "/py -m pip install 'lsp-mcp[board]'", "/py -m pip install --upgrade lsp-mcp"),
        (
            [],
            {"editable": True},
            "/py -m pip install --editable '{folder}[board]'",
            "/py -m pip install --upgrade --editable {folder}",
        ),
    ],
)
def test_errors_name_the_command_that_fits_how_it_was_installed(
    files: list[str],
    origin: dict[str, bool] | None,
    install: str,
    upgrade: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in files:
        (tmp_path / name).touch()
    noted = None if origin is None else json.dumps({"url": tmp_path.as_uri(), "dir_info": origin})
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/py")
    monkeypatch.setattr(metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: noted))
    assert installed.install_command("board") == install.format(folder=tmp_path)
    assert installed.upgrade_command() == upgrade.format(folder=tmp_path)


def test_every_place_has_the_same_version() -> None:
    for name in ("server.json", "claude/.claude-plugin/plugin.json"):
        assert json.loads((ROOT / name).read_text("utf-8"))["version"] == lsp_mcp.__version__, name
