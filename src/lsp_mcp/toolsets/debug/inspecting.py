"""Tools that inspect a stopped program, and change its variables: `InspectTools`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from lsp_mcp.dap import control
from lsp_mcp.dap.looking import look
from lsp_mcp.dap.variables import elements, opened, page
from lsp_mcp.errors import CallerError
from lsp_mcp.render import debugging
from lsp_mcp.toolsets.debug.base import DebugToolset, Session
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool

_STACK = 20


class InspectTools(DebugToolset):
    """Place, stack, variables, expressions."""

    @tool(title="Show a stopped program", read_only=True)
    async def debug_context(
        self,
        call: Call,
        frame: Annotated[int | None, Field(ge=0, description="Index in the stack, from 0")] = None,
        thread: int | None = None,
        names: Annotated[list[str] | None, Field(description="Only these variables")] = None,
        budget: Annotated[int, Field(ge=200, le=100_000, description="Most characters of variables")] = 4000,
        session: Session = None,
        format: FormatChoice = None,
    ) -> str:
        """Get location, source, stack, variables and threads of a stopped program in one answer."""
        one = self._named(session)
        if one.stop is None:
            return await self._answers.outcome(call, one, 0, 0)
        stop = self._standing(one, thread)
        view = await look(one, stop, frame, root=self._debug.root)
        one.shown = max(one.shown, stop.number)
        variables = [v for v in view.variables if names is None or v.name in names]
        answer: dict[str, Any] = {"session": one.name, "state": "stopped", "reason": stop.reason}
        if view.exception:
            answer["exception"] = view.exception[:2000]
        if shown := view.frame:
            answer |= {"at": debugging.place(shown, self._answers.show), "function": shown.name}
            if shown.path and (anchor := await self._places.function_of(shown.path, shown.line)):
                answer["anchor"] = anchor
            if lines := debugging.source(shown, 4):
                answer["source"] = lines
        answer["stack"] = debugging.stack(view, self._answers.show, _STACK)
        shown_values, left_out = debugging.values(variables, budget, max(200, budget // 4))
        answer["variables"] = shown_values
        if left_out:
            answer["variables_left_out"] = left_out
        threads = await control.threads(one)
        if len(threads) > 1:
            answer["threads"] = threads
        return self._answers.text(call, one, answer)

    @tool(title="Evaluate an expression", read_only=False, destructive=True)
    async def debug_evaluate(
        self,
        call: Call,
        expression: str,
        frame: Annotated[int | None, Field(ge=0, description="Index in the stack, from 0")] = None,
        start: Annotated[int, Field(ge=0, description="First element to show")] = 0,
        count: Annotated[int, Field(ge=0, le=1000, description="Most elements")] = 20,
        thread: Annotated[int | None, UNLISTED] = None,
        session: Session = None,
        format: FormatChoice = None,
    ) -> str:
        """Evaluate an expression at the current location; shows its elements one level deep."""
        one = self._named(session)
        stop = self._standing(one, thread)
        view = await look(one, stop, frame, root=self._debug.root)
        if view.frame is None:
            raise CallerError("the debugger reports no location for the program; nothing can be evaluated.")
        rules = one.plan.adapter.variables
        scope = {"frameId": view.frame.id, "context": one.plan.adapter.context}
        got = await stop.target.ask("evaluate", {"expression": expression, **scope})
        answer: dict[str, Any] = {"value": debugging.cut(str(got.get("result", "")), 100 if start else 2000)}
        if got.get("type"):
            answer["type"] = got["type"]
        reference, indexed = int(got.get("variablesReference") or 0), int(got.get("indexedVariables") or 0)
        count = min(count, rules.page_most)
        if reference and count:
            found = await page(stop.target, rules, expression, scope, start, count + 1) if start else []
            found = found or await elements(
                stop.target, rules, reference, start=start, count=count + 1, indexed=indexed
            )
            inner = await opened(stop.target, rules, found[:count])
            shown, left_out = debugging.values(inner, 3000, 300)
            if shown and not (start == 0 and all(value in answer["value"] for value in shown.values())):
                answer["elements"] = shown
            if len(found) > count or left_out:
                answer["more"] = f"pass start={start + len(shown)}"
            if start and not found:
                call.remark(f"the debugger gives no element {start} here; an expression with an index or a slice may")
        return self._answers.text(call, one, answer)

    @tool(title="Set a variable", read_only=False, destructive=True)
    async def debug_set_variable(
        self,
        call: Call,
        name: Annotated[str, Field(description="A variable or an assignable expression")],
        value: Annotated[str, Field(description="In the language's syntax")],
        frame: Annotated[int | None, Field(ge=0), UNLISTED] = None,
        session: Session = None,
        format: FormatChoice = None,
    ) -> str:
        """Change a variable of the stopped program; returns its new value."""
        one = self._named(session)
        stop = self._standing(one, None)
        view = await look(one, stop, frame, root=self._debug.root)
        if view.frame is None:
            raise CallerError("the debugger reports no location for the program; nothing can be set.")
        got = await control.assign(one, stop.target, view.frame.id, name, value)
        return self._answers.text(call, one, {"name": name, "value": debugging.cut(str(got), 2000)})
