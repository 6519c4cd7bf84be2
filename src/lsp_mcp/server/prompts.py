"""Prompts for the three tasks that need the tools most: `Prompts` (docs/contracts/prompts.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from lsp_mcp.errors import unknown
from lsp_mcp.server.envelope import Json

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.types import GetPromptRequestParams, GetPromptResult, ListPromptsResult, PaginatedRequestParams

SYMBOL = "symbol"  # the argument that names a symbol, in each prompt that has it
_TRUST = (
    "Read the last line of each answer: `status: complete` means that nothing is missing; anything else says what may "
    "be missing, and belongs in your answer."
)


@dataclass(frozen=True)
class _Argument:
    name: str
    title: str
    description: str
    required: bool = True


_SYMBOL = _Argument(SYMBOL, "Symbol", "Type.Method, pkg.Func, FILE:LINE, or an anchor")


@dataclass(frozen=True)
class _Task:
    """One prompt; it is offered only together with `tools`."""

    title: str
    description: str
    arguments: tuple[_Argument, ...]
    tools: frozenset[str]
    text: str


_TASKS = {
    "understand": _Task(
        "Understand a symbol",
        "What a symbol does, who uses it and what it depends on",
        (_SYMBOL,),
        frozenset({"read_symbol", "find_symbol_references_by_anchor", "find_calls", "find_implementations"}),
        "Explain the symbol {symbol} of this code base.\n\n"
        "1. read_symbol symbols=[{symbol:json}] callees=true: its source, and the signatures of what it calls.\n"
        "2. find_symbol_references_by_anchor symbol_anchor={symbol}: who uses it, in which functions; look at the "
        "tests among them for what is expected of it.\n"
        "3. For a function or method, find_calls symbol={symbol}; for an interface, a type or a method of one, "
        "find_implementations symbol={symbol}.\n\n"
        "Then say what it is for, what it guarantees and requires, who depends on it, and what is surprising. Name "
        "places as FILE:LINE. {trust}",
    ),
    "change_signature": _Task(
        "Change a signature safely",
        "Change a function's parameters or results with all its uses, and prove that nothing broke",
        (_SYMBOL, _Argument("change", "Change", "What to change")),
        frozenset({"find_impact", "edit_symbol", "check", "refactor", "read_symbol"}),
        "Change the signature of {symbol}: {change}\n\n"
        "1. check: note the errors that are there before.\n"
        "2. find_impact symbols=[{symbol:json}]: every use that must be edited, the callers, the exported API, the "
        "implementations that must change with it, and the tests that reach it. If its status is not complete, find "
        "out what is missing before you edit.\n"
        "3. refactor target={symbol} lists what the language server can do there; if it can make this change, let it "
        "(apply=false previews).\n"
        "4. Otherwise edit the declaration and each use with edit_symbol, with the hash of read_symbol.\n"
        "5. check until there are no new errors, then run the tests with the command that find_impact gave.\n\n"
        "Report the edited places, the result of the tests, and what no tool could prove (reflection, other "
        "repositories). {trust}",
    ),
    "review_impact": _Task(
        "Review the impact of a change",
        "What the uncommitted changes, or a change of symbols, concern: uses, API, tests",
        (_Argument(SYMBOL, "Symbol", "A symbol; default: the uncommitted changes", required=False),),
        frozenset({"find_impact", "check", "read_symbol"}),
        "Review what {what} concern.\n\n"
        "1. find_impact{impact}: the uses of each changed symbol, its callers, the exported API, the tests that reach "
        "it and the command that runs them.\n"
        "2. check: errors that are new, also in files that depend on the changed ones.\n"
        "3. read_symbol for the callers whose expectations may no longer hold.\n\n"
        "Report, most severe first: what breaks, what changes in behaviour for whom, exported API that changes, "
        "changed code that no test reaches, and the command that runs the tests that do. {trust}",
    ),
}


class Prompts:
    """The prompts whose `tools` are offered."""

    def __init__(self, tools: Collection[str]) -> None:
        self._tasks = {name: task for name, task in _TASKS.items() if task.tools <= set(tools)}

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._tasks)

    def listed(self) -> Json:
        """The result of `prompts/list`."""
        prompts = [
            {
                "name": name,
                "title": task.title,
                "description": task.description,
                "arguments": [asdict(argument) for argument in task.arguments],
            }
            for name, task in self._tasks.items()
        ]
        return {"prompts": prompts}

    async def list(self, _: ServerRequestContext, params: PaginatedRequestParams | None) -> ListPromptsResult:
        """All of them."""
        from mcp.types import ListPromptsResult

        from lsp_mcp.server.resources import refuse_cursor

        refuse_cursor(params)
        return ListPromptsResult.model_validate(self.listed())

    async def get(self, _: ServerRequestContext, params: GetPromptRequestParams) -> GetPromptResult:
        """One of them with its arguments filled in."""
        from mcp.shared.exceptions import MCPError
        from mcp.types import INVALID_PARAMS, GetPromptResult, PromptMessage, TextContent

        task = self._tasks.get(params.name)
        if task is None:
            raise MCPError(INVALID_PARAMS, unknown("prompt", params.name, list(self._tasks)))
        given = {name: value.strip() for name, value in (params.arguments or {}).items()}
        known = [argument.name for argument in task.arguments]
        for name in given:
            if name not in known:
                raise MCPError(INVALID_PARAMS, unknown("argument", name, known))
        for argument in task.arguments:
            if argument.required and not given.get(argument.name):
                raise MCPError(
                    INVALID_PARAMS, f"{params.name} needs the argument {argument.name}: {argument.description}"
                )
        text = TextContent(type="text", text=_filled(task.text, given))
        return GetPromptResult(description=task.description, messages=[PromptMessage(role="user", content=text)])


def _filled(text: str, given: dict[str, str]) -> str:
    symbol = given.get(SYMBOL, "")
    quoted = json.dumps(symbol, ensure_ascii=False)
    values = {
        "symbol:json": quoted,
        "symbol": symbol,
        "change": given.get("change", ""),
        "what": f"a change of {symbol} would" if symbol else "the uncommitted changes",
        "impact": f" symbols=[{quoted}]" if symbol else "",
        "trust": _TRUST,
    }
    return re.sub(r"\{([\w:]+)\}", lambda match: values[match[1]], text)
