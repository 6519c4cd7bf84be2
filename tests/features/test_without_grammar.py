"""An answer about a language without a grammar says so: `lsp_mcp.evidence.check_gaps`."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lsp_mcp.adapters import Language
from lsp_mcp.evidence.check_gaps import compared_without_grammar
from lsp_mcp.gaps import status
from lsp_mcp.requests.places import Place
from lsp_mcp.text import Point, Span, Text


def test_unexplained_words_in_a_language_without_a_grammar_are_told_to_be_compared_without_one() -> None:
    languages = {
        ".rb": Language(id="without-grammar", name="Ruby", scheme="rb", extensions=(".rb",)),
        ".py": Language(id="python", name="Python", scheme="py", extensions=(".py",)),
    }
    backend: Any = SimpleNamespace(plugin=SimpleNamespace(language_of=lambda path: languages.get(path.suffix)))
    ruby, python = (Place(Path(name), Span(Point(1, 3), Point(1, 4)), Text("# a")) for name in ("/w/a.rb", "/w/a.py"))
    told = status(compared_without_grammar(backend, [ruby, python]))
    assert told == "complete; words were compared without a grammar of Ruby"
    assert compared_without_grammar(backend, [python]) == []
