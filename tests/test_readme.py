"""The documents say what is true: their tables of tools and flags are the program's."""

import re
from pathlib import Path

from lsp_mcp.cli.main import main
from lsp_mcp.errors import CallerError
from lsp_mcp.toolsets.offered import tools_without_sessions

DOCS = Path(__file__).parent.parent / "docs"
TOOLS = (DOCS / "tools.md").read_text("utf-8")
OTHER_TOOLS = [(DOCS / page).read_text("utf-8") for page in ("debugging.md", "board.md")]
FLAGS = (DOCS / "flags.md").read_text("utf-8")


def test_the_tool_tables_list_every_tool_with_every_argument() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|(.*)\|$", "\n".join([TOOLS, *OTHER_TOOLS]), re.M)
    table = {name: re.findall(r"`(\w+)`", arguments) for name, arguments in rows}
    tools = {tool.name: list(tool.model.model_fields) for tool in tools_without_sessions(CallerError("only looked at"))}
    assert table == tools


def test_the_contract_of_the_code_tools_names_every_tool_with_every_argument() -> None:
    contract = (DOCS / "contracts" / "code.md").read_text("utf-8")
    for tool in tools_without_sessions(CallerError("only looked at"), ["code", "lsp"]):
        said = re.search(rf"`{tool.name}(?:\(|` \(symbol_anchor,\sd|` and `)", contract)
        assert said, f"nothing of {tool.name}"
        signature = contract[said.start() :].partition(":")[0]
        missing = [name for name in tool.model.model_fields if name != "format" and name not in signature]
        assert not missing, f"{tool.name} takes {missing}"


def test_what_the_tool_table_says_is_off_by_default_is_what_needs_the_flag() -> None:
    table = TOOLS.partition("<!-- tools")[2].partition("\n\n")[0]
    _, flag, off = re.split(r"\| \*\*off by default\*\*: `--toolset ([\w-]+)`", table)
    assert re.findall(r"^\| `(\w+)`", off, re.M) == [
        tool.name for tool in tools_without_sessions(CallerError("only looked at"), [flag])
    ]


def test_every_flag_in_the_table_of_flags_exists() -> None:
    flags = set(re.findall(r"^\| `(--[\w-]+)", FLAGS, re.M))
    known = {option for parameter in main.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert flags
    assert flags <= known
