"""A part that is not a language server, such as the board, is known to the rest of the program by one table alone."""

import re
from pathlib import Path

from lsp_mcp.toolsets.table import PARTS

SOURCE = Path(__file__).parent.parent / "src" / "lsp_mcp"
# What each part consists of; all else is the rest.
OWN = {"board": re.compile(r"board/.*|toolsets/board/.*|(server|cli)/board(_\w+)?\.py|toolsets/table\.py")}
# Where the rest names one all the same, with how many lines of it do, and why.
NAMED = {
    "cli/main.py": 2,  # the command line has a table of its own: which commands there are
    "cli/token_commands.py": 1,  # people read there what the token is for
}


def test_the_rest_of_the_program_does_not_name_a_part() -> None:
    assert {*OWN} == {*PARTS}
    found: dict[str, int] = {}
    for part, own in OWN.items():
        word = re.compile(rf"(?<!key){part}", re.IGNORECASE)
        for path in sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.lua")]):
            name = path.relative_to(SOURCE).as_posix()
            if not own.fullmatch(name) and (
                lines := sum(map(bool, map(word.search, path.read_text("utf-8").split("\n"))))
            ):
                found[name] = found.get(name, 0) + lines
    assert found == NAMED
