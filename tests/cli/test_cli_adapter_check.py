"""`lsp-mcp adapters check`: a server is started on a small project and asked six questions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cli.cli_helpers import Run
from cli.test_cli_own_adapters import WORDS, lsp_mcp, own, words  # noqa: F401 (a fixture)
from lsp_mcp.adapters import adapter_files, load_adapter
from lsp_mcp.cli.adapter_samples import Shipped
from lsp_mcp.data import data_folder
from lsp_mcp.programs import servers_folder
from lsp_mcp.sessions.choosing import is_installed

QUESTIONS = ["definition", "references", "outline", "search by name", "rename preview", "errors"]


HOME, SERVERS = str(Path.home()), str(servers_folder())  # before a test hides what is installed


SHIPPED = {path.stem: path for path in adapter_files("lsp").values() if path.is_relative_to(data_folder("adapters"))}
TESTED = [name for name in SHIPPED if not load_adapter(name).untested and name != "syntax"]
INSTALLED = {name for name in TESTED if is_installed(load_adapter(name))}
LACKING = {  # what each of them cannot do
    "bash-language-server": {"errors"},
    "vscode-css": {"search by name"},
    "vscode-html": {"search by name"},
    "vscode-json": {"definition", "references", "search by name", "rename preview"},
    "yaml-language-server": {"references", "search by name"},
}


def checked(*arguments: str, project: Path) -> tuple[int, dict[str, Any]]:
    done = lsp_mcp(project, "adapters", "check", *arguments, "--json")
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def words_adapter(*flags: str) -> str:
    """The word server for whatever folder it is started in."""
    command = json.dumps(["sh", "-c", f'exec {sys.executable} {WORDS} "$PWD" {" ".join(flags)}'])
    return f"""
name = "words"
title = "the word server"
command = {command}

[[languages]]
id = "words"
name = "Words"
scheme = "words"
extensions = [".words"]
"""


def garden(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.words").write_text("= Garden\n: Rose\n")
    (folder / "b.words").write_text("= Shop\nRose and Rose\n")
    return folder


@pytest.mark.parametrize("name", TESTED)
def test_a_tested_server_does_what_it_offers_on_its_sample(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name not in INSTALLED:
        pytest.skip(f"{name} is not installed")
    monkeypatch.setenv("HOME", HOME)
    monkeypatch.setenv("LSP_MCP_SERVERS", SERVERS)
    (project := tmp_path / "empty").mkdir()
    status, found = checked(name, project=project)
    states = {one["question"]: one["state"] for one in found["questions"]}
    assert list(states) == QUESTIONS, found["problem"]
    assert {question for question, state in states.items() if state not in ("works", "incomplete")} == LACKING.get(
        name, set()
    ), found
    assert (status, found["ok"]) == (0, True)
    assert list(project.iterdir()) == []


def test_every_shipped_adapter_has_a_sample() -> None:
    samples = msgspec.toml.decode((data_folder("adapters") / "samples.toml").read_bytes(), type=dict[str, Shipped])
    lacking = [name for name in SHIPPED if not any(one.id in samples for one in load_adapter(name).languages)]
    assert lacking == []


def test_a_server_that_is_missing_comes_with_the_command_that_installs_it(
    tmp_path: Path, run: Run, programs: Any
) -> None:
    result = run("adapters", "check", "typescript")
    assert result.exit_code == 1
    assert "tsc is not installed" in result.stdout
    assert "To fix it:\n  lsp-mcp install typescript\n" in result.stdout


def test_a_server_of_another_language_is_asked_about_a_project_of_its_author(
    tmp_path: Path,
    words: Path,  # noqa: F811
) -> None:
    own(tmp_path, "words", words_adapter())
    none = lsp_mcp(words, "adapters", "check", "words")
    assert none.returncode == 2
    assert none.stderr.endswith("no sample project of Words; pass a small project of yours: "
                                "lsp-mcp adapters check words --sample FOLDER\n")  # fmt: skip
    folder = garden(tmp_path / "garden")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    status, found = checked("words", "--sample", str(folder), project=words)
    states = {one["question"]: one["state"] for one in found["questions"]}
    assert found["sample"] == "Words, 2 files; Rose is defined at a.words:2:3"
    assert states["references"] in ("works", "incomplete")  # the second while the machine is busy
    vague = {one: states[one] for one in ("definition", "references")}
    assert states == {**dict.fromkeys(QUESTIONS, "works"), **vague, "errors": "lacks"}
    assert status == 0
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_what_a_server_offers_and_does_not_do_is_a_failure(tmp_path: Path, words: Path) -> None:  # noqa: F811
    own(tmp_path, "words", words_adapter("--no-uses"))
    done = lsp_mcp(words, "adapters", "check", "words", "--sample", str(garden(tmp_path / "garden")))
    assert done.returncode == 1
    assert "✗ references" in done.stdout and "✓ search by name" in done.stdout


def test_a_server_that_does_not_start_is_named_with_its_last_words(tmp_path: Path, words: Path) -> None:  # noqa: F811
    text = words_adapter().replace("exec ", "echo no licence >&2; exit 3; ")
    own(tmp_path, "words", text)
    status, found = checked("words", "--sample", str(garden(tmp_path / "garden")), project=words)
    assert status == 1 and not found["ok"]
    assert "no licence" in found["problem"]
    assert found["questions"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("words", "--sample", "nowhere"), "there is no such folder"),
        (("words", "--sample", "."), "has no source of words (.words)"),
        (("words", "--symbol", "Rose"), "--symbol is one of the project that you name with --sample FOLDER"),
        (("wrods",), "unknown backend 'wrods'; did you mean words"),
    ],
)
def test_wrong_arguments_are_refused_with_what_to_pass(
    tmp_path: Path,
    words: Path,  # noqa: F811
    arguments: tuple[str, ...],
    said: str,
) -> None:
    own(tmp_path, "words", words_adapter())
    empty = tmp_path / "empty"
    empty.mkdir()
    done = lsp_mcp(empty, "adapters", "check", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_symbol_that_the_project_lacks_is_named(tmp_path: Path, words: Path) -> None:  # noqa: F811
    own(tmp_path, "words", words_adapter())
    folder = str(garden(tmp_path / "garden"))
    done = lsp_mcp(words, "adapters", "check", "words", "--sample", folder, "--symbol", "Tulip")
    assert done.returncode == 2
    assert "no file of the sample declares Tulip" in done.stderr


def test_the_list_names_files_that_cannot_be_used(tmp_path: Path, words: Path) -> None:  # noqa: F811
    own(tmp_path, "mine", words_adapter() + "keyword = []\n")
    file = words / ".lsp-mcp" / "adapters" / "theirs.toml"
    file.parent.mkdir(parents=True)
    file.write_text(words_adapter())
    listed = {one["name"]: one for one in json.loads(lsp_mcp(words, "adapters", "list", "--json").stdout)}
    assert "languages.keyword is not a field; did you mean keywords?" in listed["mine"]["problem"]
    assert listed["theirs"]["problem"] == "not read until you trust it: lsp-mcp trust"
    assert "problem" not in listed["gopls"]
    assert "mine  " in lsp_mcp(words, "adapters", "list").stdout
    for command in (("adapters", "show", "theirs"), ("adapters", "check", "theirs"), ("--backend", "theirs", "call")):
        done = lsp_mcp(words, *command)
        assert done.returncode == 2
        assert f"{file.relative_to(words)} is not read until you trust what it runs: lsp-mcp trust" in done.stderr
