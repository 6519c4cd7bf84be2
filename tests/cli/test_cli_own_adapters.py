"""Language servers of the user's own, by a file in the user's folder; never by one in a repository."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WORDS = Path(__file__).parents[1] / "fakes" / "word_server.py"
ADAPTER = """
name = "{name}"
title = "the word server"
command = [{command}]

[[languages]]
id = "words"
name = "Words"
scheme = "words"
extensions = [".words"]
"""


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of the word server's, and an empty folder of adapters."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.words").write_text("= Garden\n: Rose\nRose\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return project


def own(tmp_path: Path, name: str, text: str) -> Path:
    file = tmp_path / "config" / "lsp-mcp" / "adapters" / f"{name}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def lsp_mcp(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "lsp_mcp", *arguments]
    return subprocess.run(words, cwd=project, env=dict(os.environ), capture_output=True, text=True, check=False)


def adapter(project: Path, name: str = "words") -> str:
    command = ", ".join(json.dumps(word) for word in (sys.executable, str(WORDS), str(project)))
    return ADAPTER.format(name=name, command=command)


def test_a_server_of_the_users_own_answers_by_itself_and_by_name(tmp_path: Path, words: Path) -> None:
    own(tmp_path, "words", adapter(words))
    for flags in ((), ("--backend", "words")):
        done = lsp_mcp(words, *flags, "call", "list_symbols_in_file", "file_path=a.words", "--format", "compact")
        assert done.returncode == 0, done.stderr
        assert "Garden" in done.stdout
    assert "--words-path" in lsp_mcp(words, "doctor", "--help").stdout


def test_a_repository_names_no_program(tmp_path: Path, words: Path) -> None:
    for folder in (words / ".lsp-mcp", words / ".lsp-mcp" / "adapters", words / "adapters" / "lsp"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "words.toml").write_text(adapter(words))
    done = lsp_mcp(words, "--backend", "words", "call", "list_symbols_in_file", "file_path=a.words")
    assert done.returncode == 2
    assert done.stderr == (
        "lsp-mcp: .lsp-mcp/adapters/words.toml is not read until you trust what it runs: lsp-mcp trust\n"
    )
    (words / ".lsp-mcp" / "adapters" / "words.toml").unlink()
    done = lsp_mcp(words, "--backend", "words", "call", "list_symbols_in_file", "file_path=a.words")
    folder = tmp_path / "config" / "lsp-mcp" / "adapters"
    assert done.stderr.startswith("lsp-mcp: unknown backend 'words'; ")
    assert done.stderr.endswith(f". Another language server needs a file {folder / 'NAME.toml'}\n")


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, words: Path) -> None:
    for text, reason in (
        ("name = 3\n", "cannot be used"),
        (adapter(words, "mine") + '[tests]\nfunction_pattern = "("\n', "tests.function_pattern is not a pattern: "),
        (adapter(words, "mine") + '[workspace]\ngenerated_pattern = "("\n', "generated_pattern is"),
        (adapter(words, "other"), "its name is 'other', not 'mine'"),
    ):
        file = own(tmp_path, "mine", text)
        done = lsp_mcp(words, "--backend", "mine", "call", "list_symbols_in_file", "file_path=a.words")
        assert done.returncode == 2
        assert str(file) in done.stderr and reason in done.stderr


def test_every_pattern_of_the_shipped_adapters_is_one() -> None:
    from lsp_mcp.adapters import adapter_files, check_patterns, read_adapter

    shipped = adapter_files("lsp")
    assert {"clangd", "gopls"} <= shipped.keys()
    for file in shipped.values():
        check_patterns(read_adapter(file), file)


def test_every_pattern_of_a_plug_in_is_one() -> None:
    from lsp_mcp.adapters import Data, check_patterns, load_adapter
    from lsp_mcp.servers.plugin import Plugin
    from lsp_mcp.servers.registry import plugin_of

    for name in ("clangd", "gopls"):
        plugin = plugin_of(load_adapter(name))
        traits = [one for trait in vars(Plugin) if isinstance(one := getattr(plugin, trait), Data)]
        assert len(traits) >= 8
        for one in traits:
            check_patterns(one, Path(name))


def test_files_with_odd_names_and_that_of_neovim_are_left_alone(tmp_path: Path, words: Path) -> None:
    for name in ("my server", "nvim", "-x", "ä"):
        own(tmp_path, name, adapter(words))
    assert lsp_mcp(words, "--version").returncode == 0
    assert "my server" not in lsp_mcp(words, "--help").stdout


def test_a_file_of_another_language_says_which_backends_would_answer_for_it(tmp_path: Path) -> None:
    from lsp_mcp.adapters import load_adapter
    from lsp_mcp.errors import PathError
    from lsp_mcp.sessions.sessions import Sessions
    from lsp_mcp.workspace import Workspace

    (tmp_path / "go.mod").write_text("module a\n")
    (tmp_path / "f.cpp").write_text("int f();\n")
    sessions = Sessions(Workspace(tmp_path), [load_adapter("gopls")], {})
    try:
        with pytest.raises(PathError) as caught:
            sessions.for_path(tmp_path / "f.cpp")
        assert str(caught.value).endswith("Start lsp-mcp with --backend gopls --backend clangd.")
        with pytest.raises(PathError, match=r"gopls supports \.go\.$"):
            sessions.for_path(tmp_path / "f.xyz")
    finally:
        sessions.kill()
