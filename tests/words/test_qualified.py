"""Which words are names of an imported package: `lsp_mcp.words.qualified`, by the rules for Go."""

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.servers.gopls.traits import VISIBILITY
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import occurrences
from lsp_mcp.words.qualified import qualified

GO = load_adapter("gopls")


def path_of(code: str) -> str | None:
    """By which import the only Errorf of `code` is a package's; only paths without a dot are libraries."""
    language, text = GO.languages[0], Text("package p\n\n" + code)
    spans = occurrences(text, "Errorf", language)
    found = qualified(text, spans, VISIBILITY, language, lambda path: "." not in path)
    (span,) = spans
    return found.get(span)


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ('import "fmt"\nvar e = fmt.Errorf("x")', "fmt"),
        ('import (\n\t"os"\n\n\t"x/fmt" // Errorf\n)\nfunc f() error { return fmt . Errorf("fmt") }', "x/fmt"),
        ('import (\n\tlog "example.com/m/v2"\n)\nfunc f() { log.Errorf() }', "example.com/m/v2"),
        ('import f "fmt"; import "os"\nvar e = f.Errorf', "fmt"),
    ],
)
def test_what_stands_after_the_name_of_an_import_is_that_packages(code: str, path: str) -> None:
    assert path_of(code) == path


@pytest.mark.parametrize(
    "code",
    [
        'import "fmt"\nfunc f(fmt Logger) { fmt.Errorf("a parameter") }',
        'import "fmt"\nfunc f() { fmt := new(); fmt.Errorf("a variable") }',
        'import "fmt"\nfunc f() { l.fmt.Errorf("a field"); fmt.Print() }',
        'import "fmt"\nfunc f() { l.\n\t\tfmt.Errorf("a field"); fmt.Print() }',
        'import "fmt"\nfunc f() { fmt.Logger().Errorf("a method") }',
        'import "example.com/fmt"\nfunc f() { fmt.Errorf("a package may have another name than its folder") }',
        'import "x/rand/v2"\nfunc f() { v2.Errorf("a version") }',
        'import . "fmt"\nfunc f() { Errorf("") }',
        'import "C"\nfunc f() { C.Errorf("by which exported functions of Go are called as well") }',
        '// import "fmt"\nfunc f() { fmt.Errorf("no import") }',
    ],
)
def test_what_may_be_anything_else_is_left_open(code: str) -> None:
    assert path_of(code) is None
