"""Where a file calls a symbol by its name outside of what its server reads (`features.renaming.mentions`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fakes.bounded import BOUND
from lsp_mcp.features.renaming.mentions import places_in
from lsp_mcp.features.renaming.named_after import Renamed
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.servers.basedpyright.names import MENTIONS
from lsp_mcp.text import Point, Span, Text

PATH = Path("/w/a.py")


def marked(code: str) -> str:
    """`code`, without its marks, with a mark before each place where names in scope fill a string with `size`."""
    text = Text(code.replace("«", ""))
    home = Place(PATH, Span(Point(1, 1), Point(1, 5)), text)
    rule = next(rule for rule in MENTIONS if "names in scope" in rule.what)
    content = text.content
    for _, start in reversed(places_in(PATH, text, rule, Renamed(Symbol("size", "variable", home), "size", ""))):
        content = f"{content[:start]}«{content[start:]}"
    return content


@pytest.mark.parametrize(
    "code",
    [
        '"{«size}" "%(«size)s" % locals()',
        '"" "{«size}".format(**globals())',
        'line = (\n    r"{«size}"\n    "b {«size}"\n).format_map(vars())',
        '"""Says.""" * 3\ncount = f"{size}"\n"""{«size}""".format(**locals())',
        '"""Says."""\nf"{size}"\n"{other}" % vars()',
        '"""Says "more" of {size}."""\nprint("{«size}" % vars())',
        "# don't say ''' here: {size}\n'{«size}' % vars()",
        'a = "a \\"{«size}" % locals()',
        "b'#' + b'''#'''; '''it's {«size}''' % locals()",
        '"{size}" % (globals, 1)',
    ],
)
def test_only_strings_that_the_names_in_scope_fill_call_a_symbol_by_its_name(code: str) -> None:
    assert marked(code) == code


MANY = [
    '"""ab""" ' * 100_000,
    '"""ab""" ' * 100_000 + '"""',
    "x = (\n" + '    "ab"\n' * 100_000 + ")\n",
    '"""' + '\\"""' * 100_000,
    '\\"' * 100_000,
    "'''\"\"\"" * 100_000,
    "rb" * 100_000 + "'",
    "'a' " + " \n" * 100_000,
]


@pytest.mark.parametrize("number", range(len(MANY)))
def test_the_search_for_such_strings_ends_whatever_is_in_a_file(number: int) -> None:
    program = f"from features.test_mentions import MANY, marked\nassert marked(MANY[{number}]) == MANY[{number}]"
    # In a process of its own: nothing else can end a search.
    subprocess.run([sys.executable, "-c", program], check=True, timeout=BOUND, cwd=Path(__file__).parents[1])
