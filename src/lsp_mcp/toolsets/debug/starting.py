"""Tools that start a program under a debugger, or attach to one: `StartTools`."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field

from lsp_mcp.dap import control
from lsp_mcp.dap.adapter import Break
from lsp_mcp.dap.attaching import plan_attach
from lsp_mcp.dap.planning import Wish, plan_start
from lsp_mcp.errors import CallerError
from lsp_mcp.toolsets.debug.base import WAIT, DebugToolset, Wait
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool

BreakOn = Annotated[Break, Field(description="Exceptions to stop at; user: those that leave the workspace's code")]


class StartTools(DebugToolset):
    """Of a program, a process or a core file."""

    @tool(title="Start a program under a debugger", read_only=False, destructive=True)
    async def debug_start(
        self,
        call: Call,
        program: Annotated[str | None, Field(description="Script, folder of a Go command, or compiled program")] = None,
        module: Annotated[str | None, Field(description="Python module, as python -m")] = None,
        test: Annotated[
            str | None, Field(description="A test's name, FILE::NAME, or a command of find_impact: go test … -run …")
        ] = None,
        config: Annotated[str | None, Field(description="Name in .vscode/launch.json")] = None,
        args: list[str] | None = None,
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        stdin: Annotated[
            str | None, Field(description="The whole input; 'open': send it later with debug_output")
        ] = None,
        breakpoints: Annotated[
            list[str] | None, Field(description="Locations (see debug_breakpoints); each may end in ` if CONDITION`")
        ] = None,
        break_on_exceptions: BreakOn = "uncaught",
        stop_on_entry: bool = False,
        debugger: Annotated[str | None, Field(description="Default: the one that fits"), UNLISTED] = None,
        wait: Wait = WAIT,
        format: FormatChoice = None,
    ) -> str:
        """Run a program, module, test or configuration under a debugger, until it stops or ends.

        Returns the location, source, variables and output, or `running` with the next step. Breakpoints of earlier
        runs still apply, at the current lines of their code.
        """
        wish = Wish(
            program=program,
            module=module,
            test=test,
            config=config,
            args=args or (),
            env=env or {},
            cwd=cwd,
            stdin=stdin,
            stop_on_entry=stop_on_entry,
            break_on=break_on_exceptions,
            debugger=debugger,
        )
        plan = await asyncio.to_thread(plan_start, wish, self._debug.root)
        notes = self._followed()
        for spelled in breakpoints or ():
            place, _, condition = spelled.partition(" if ")
            self._set(await self._places.find(call, place), condition=condition.strip())
        session = self._debug.start(plan)
        session.remarks += notes
        return await self._answers.outcome(call, session, 0, wait)

    @tool(title="Debug a running process or a core file", read_only=False, destructive=True)
    async def debug_attach(
        self,
        call: Call,
        pid: int | None = None,
        port: Annotated[int | None, Field(description="Where a debuggee or debugger listens")] = None,
        core: Annotated[str | None, Field(description="Core file; needs program")] = None,
        program: str | None = None,
        host: Annotated[str, UNLISTED] = "127.0.0.1",
        debugger: Annotated[str | None, Field(description="debugpy, dlv, lldb-dap …; needed with port")] = None,
        break_on_exceptions: Annotated[BreakOn, UNLISTED] = "uncaught",
        wait: Annotated[Wait, UNLISTED] = WAIT,
        format: FormatChoice = None,
    ) -> str:
        """Attach to a running process by pid or port, or open a core file. debug_stop leaves the process running."""
        plan = await asyncio.to_thread(
            plan_attach,
            self._debug.root,
            debugger=debugger,
            pid=pid,
            port=port,
            host=host,
            core=core,
            program=program,
            break_on=break_on_exceptions,
        )
        notes = self._followed()
        session = self._debug.start(plan)
        session.remarks += notes
        if not await control.prove_attached(session) and not session.over.is_set():
            await session.end()
            words = f": {session.words}" if session.words else ""
            raise CallerError(f"nothing that {plan.adapter.name} can debug answered at {plan.title}{words}.")
        return await self._answers.outcome(call, session, 0, 0 if session.stop is None else wait)
