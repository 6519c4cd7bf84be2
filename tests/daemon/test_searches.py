"""Which searches are searches for a symbol."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.door.searches import searched_symbol


@pytest.mark.parametrize(
    ("command", "symbol"),
    [
        ("grep -rn NewReader . | head", "NewReader"),
        ('rg "func NewReader"', "NewReader"),
        (r'rg -t go "NewReader\(" src', "NewReader"),
        ("git grep -n bufio.Reader", "bufio.Reader"),
        ('cd src && grep -rn --include="*.go" ReadAll .', "ReadAll"),
        ("grep -A 3 -rn parse_url lib", "parse_url"),
        (r'grep -rn "\bparse\b" .', "parse"),
        ("ls | wc -l && rg -e ParseURL -e Other", "ParseURL"),
        ("for f in *.go; do grep -n MyType $f; done", "MyType"),
        ('grep -rE "NewReader|NewWriter" .', "NewReader"),
        ('grep -rE "NewReader|not found" .', ""),
        ("cat x.go | grep NewReader", ""),
        ("grep zzz main.go", ""),
        ("grep -rn TODO .", ""),
        ("grep -rn timeout .", ""),
        ('grep -rn "connection refused" .', ""),
        ("grep -rn --include=*.md ReadAll .", ""),
        ("grep -n ReadAll README.md", ""),
        ("echo NewReader", ""),
        ("grep", ""),
        ("grep 'an open quote", ""),
    ],
)
def test_a_shell_command_searches_for_a_symbol_or_not(command: str, symbol: str) -> None:
    assert searched_symbol("Bash", {"command": command}) == symbol


@pytest.mark.parametrize(
    ("arguments", "symbol"),
    [
        ({"pattern": "NewReader"}, "NewReader"),
        ({"pattern": "^type Reader"}, "Reader"),
        ({"pattern": "class Foo"}, "Foo"),
        ({"pattern": r"Foo\.Bar"}, "Foo.Bar"),
        ({"pattern": "std::vector", "glob": "*.cc"}, "std::vector"),
        ({"pattern": "NewReader", "glob": "*.{md,txt}"}, ""),
        ({"pattern": r"func (\w+) Foo"}, ""),
        ({"pattern": "error"}, ""),
        ({"pattern": 7}, ""),
        ({}, ""),
    ],
)
def test_a_search_tools_pattern_is_a_symbol_or_not(arguments: dict[str, object], symbol: str) -> None:
    assert searched_symbol("Grep", arguments) == symbol


@given(st.text(max_size=60), st.sampled_from(["command", "pattern"]))
def test_any_text_is_read_and_what_is_found_stands_in_it(text: str, key: str) -> None:
    found = searched_symbol("Bash", {key: f"grep {text}" if key == "command" else text})
    assert found.replace(".", "") in text.replace("\\", "").replace("'", "").replace('"', "").replace(".", "")
