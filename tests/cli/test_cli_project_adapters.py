"""Adapters of a project: read once they are trusted, by content; and `--adapter`, `adapters`, errors for authors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.test_cli_own_adapters import adapter, lsp_mcp, own, words  # noqa: F401 (a fixture)

ASK = ("call", "list_symbols_in_file", "file_path=a.words", "--format", "compact")


def project_file(project: Path, text: str) -> Path:
    file = project / ".lsp-mcp" / "adapters" / "words.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_projects_adapter_is_read_once_it_is_trusted_and_not_after_a_change(words: Path) -> None:  # noqa: F811
    file = project_file(words, adapter(words))
    asked = lsp_mcp(words, "--backend", "words", *ASK)
    assert (
        asked.returncode == 2 and f"{file.relative_to(words)} is not read until you trust what it runs" in asked.stderr
    )
    checks = json.loads(lsp_mcp(words, "doctor", "--json").stdout)["checks"]
    named = next(check for check in checks if check["name"] == "project adapters")
    assert (named["note"], named["get"]) == ("not read: .lsp-mcp/adapters/words.toml", "lsp-mcp trust")

    trusted = lsp_mcp(words, "trust")
    assert trusted.stdout.startswith("trusted: .lsp-mcp/adapters/words.toml, which runs ")
    assert "Garden" in lsp_mcp(words, *ASK).stdout
    assert "project adapters" not in lsp_mcp(words, "doctor", "--json").stdout

    file.write_text(adapter(words) + "\n# another content\n")
    assert lsp_mcp(words, "--backend", "words", *ASK).returncode == 2
    file.write_text(adapter(words))
    assert lsp_mcp(words, "trust", "--remove").returncode == 0
    assert lsp_mcp(words, "--backend", "words", *ASK).returncode == 2


def test_an_adapter_is_named_by_its_file(tmp_path: Path, words: Path) -> None:  # noqa: F811
    file = tmp_path / "anything.toml"
    file.write_text(adapter(words))
    assert "Garden" in lsp_mcp(words, "--adapter", str(file), *ASK).stdout
    listed = json.loads(lsp_mcp(words, "adapters", "list", "--adapter", str(file), "--json").stdout)
    assert next(one for one in listed if one["name"] == "words")["file"] == str(file)
    assert lsp_mcp(words, "adapters", "show", "words", "--adapter", str(file)).stdout == adapter(words)


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ("\n[ready_]\n", "line 12: ready_ is not a field; did you mean ready?"),
        (
            '\n[ready]\nprogress_titel = "x"\n',
            "line 13: ready.progress_titel is not a field; did you mean progress_title?",
        ),
        ('keyword = ["a"]\n', "line 11: languages.keyword is not a field; did you mean keywords?"),
        ("\n[rename]\ncheck = 3\n", "line 13: rename.check: Expected `bool`, got `int`"),
        ("\n[rename\n", "(at line 12, column 8)"),
    ],
)
def test_a_wrong_file_is_refused_with_the_line_and_the_name_that_was_meant(
    tmp_path: Path,
    words: Path,  # noqa: F811
    added: str,
    said: str,
) -> None:
    own(tmp_path, "words", adapter(words).rstrip("\n") + "\n" + added)
    done = lsp_mcp(words, "--backend", "words", *ASK)
    assert done.returncode == 2
    assert said in done.stderr
