"""Variables from adapters, shortened: `Variable`, one level deep, and pages of their elements."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsp_mcp.dap.adapter import Variables as Rules
from lsp_mcp.dap.target import Target, quietly
from lsp_mcp.dap.transport import Json
from lsp_mcp.protocol import dap

_MOST_OPENED = 8  # variables of one frame whose elements are requested
_MOST_INNER = 8  # elements shown of each
_ALL = 50_000  # elements of one variable that are ever examined


@dataclass(frozen=True)
class Variable:
    """One variable or element; `inner` are its elements, if its own value says nothing."""

    name: str
    value: str
    type: str = ""
    reference: int = 0  # of its elements, while the program is stopped
    indexed: int = 0  # how many elements it has by number, if the adapter pages
    inner: tuple[Variable, ...] = ()
    left_out: int = 0  # of `inner`

    @property
    def text(self) -> str:
        """Its value, with its elements if they are known."""
        if not self.inner:
            return self.value
        more = f", … {self.left_out:,} more" if self.left_out else ""
        kind = self.type.rpartition(".")[2] or self.type
        return f"{kind}({', '.join(f'{one.name}={one.value}' for one in self.inner)}{more})"


async def of_frame(target: Target, rules: Rules, frame: int) -> list[Variable]:
    """A frame's own variables, of all its scopes of that kind, the innermost first; none if the adapter refuses."""
    scopes = (await quietly(target.ask("scopes", {"frameId": frame})) or {}).get("scopes") or ()
    own = [scope for scope in scopes if _is_own(scope, rules)]
    if not own:
        own = [one for one in scopes if not one.get("expensive") and one.get("presentationHint") != "registers"][:1]
    parts = await asyncio.gather(*(elements(target, rules, scope.get("variablesReference", 0)) for scope in own))
    found: dict[str, Variable] = {}
    for variable in (one for part in parts for one in part):
        found.setdefault(variable.name, variable)  # the innermost hides the others
    return await opened(target, rules, list(found.values()))


def _is_own(scope: dap.Scope, rules: Rules) -> bool:
    hint = scope.get("presentationHint")
    if hint in ("registers", "globals"):
        return False
    return hint in ("locals", "arguments") or re.search(rules.scopes, str(scope.get("name"))) is not None


async def elements(
    target: Target, rules: Rules, reference: int, *, start: int = 0, count: int | None = None, indexed: int = 0
) -> list[Variable]:
    """The elements of a variable that belong to the program; from `start`, at most `count`.

    Few adapters page, and some ignore the request: the result is cut here.
    """
    if not reference:
        return []
    arguments: Json = {"variablesReference": reference}
    paged = indexed > 0 and count is not None
    if paged:
        arguments |= {"filter": "indexed", "start": start, "count": count}
    answer = await quietly(target.ask("variables", arguments)) or {}
    got = [_variable(one) for one in (answer.get("variables") or ())[:_ALL]]
    shown = [one for one in got if not any(re.search(pattern, one.name) for pattern in rules.hidden)]
    if paged and len(got) <= (count or 0):
        return shown
    return shown[start : None if count is None else start + count]


async def page(target: Target, rules: Rules, expression: str, scope: Json, start: int, count: int) -> list[Variable]:
    """Elements of `expression`, by another expression that lists them; empty if the adapter has none for that.

    Elements without names of their own are named by their numbers.
    """
    values = {"expression": expression, "start": str(start), "end": str(start + count)}
    for template in (rules.page_named, rules.page):
        if not template:
            continue
        part = re.sub(r"\{(expression|start|end)\}", lambda hole: values[hole[1]], template)
        if (got := await quietly(target.ask("evaluate", {**scope, "expression": part}))) is None:
            continue
        found = await elements(target, rules, int(got.get("variablesReference") or 0), count=count)
        if template == rules.page_named:
            return found
        return [replace(one, name=str(start + index)) for index, one in enumerate(found)]
    return []


async def opened(target: Target, rules: Rules, variables: Sequence[Variable]) -> list[Variable]:
    """The variables, with the elements of those whose values say nothing."""
    blind = re.compile(rules.opaque) if rules.opaque else None
    wanted = [one for one in variables if one.reference and blind and blind.search(one.value)][:_MOST_OPENED]
    inner = await asyncio.gather(*(elements(target, rules, one.reference) for one in wanted))
    filled = {
        one.name: replace(one, inner=tuple(parts[:_MOST_INNER]), left_out=max(0, len(parts) - _MOST_INNER))
        for one, parts in zip(wanted, inner, strict=True)
    }
    return [filled.get(one.name, one) for one in variables]


def _variable(one: dap.Variable) -> Variable:
    indexed = one.get("indexedVariables")
    return Variable(
        str(one.get("name", "")),
        str(one.get("value", "")),
        str(one.get("type") or ""),
        int(one.get("variablesReference") or 0),
        indexed if isinstance(indexed, int) else 0,
    )
