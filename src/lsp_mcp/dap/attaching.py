"""Making a `Plan` for attaching: to a process, a port or a core file."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

from lsp_mcp.dap.adapter import Break, DebugAdapter, debuggers, filled
from lsp_mcp.dap.finding import find_debugger, fitting
from lsp_mcp.dap.plan import Plan
from lsp_mcp.dap.planning import called, existing
from lsp_mcp.errors import CallerError

Json = dict[str, Any]
_ELF = b"\x7fELF"
_ELF_CORE = 4  # the type in the header of a core file


def plan_attach(
    root: Path,
    *,
    debugger: str | None,
    pid: int | None,
    port: int | None,
    host: str,
    core: str | None,
    program: str | None,
    break_on: Break,
) -> Plan:
    """The plan for attaching to a process or a port, or for opening a core file.

    Raises:
        CallerError: the target does not exist, or the debugger cannot do that.
        MissingProgramError: the debugger is not installed.
    """
    import psutil

    if sum(one is not None for one in (pid, port, core)) != 1:
        raise CallerError("pass one of pid, port, core.")
    path = existing(program, root) if program else None
    if core is not None and path is None:
        raise CallerError("pass program= too: the compiled program that was running when the core file was written.")
    kind = "pid" if pid is not None else "port" if port is not None else "core"
    adapter = called(debugger) or _attaching(kind, pid, path, root)
    template: Json = getattr(adapter, f"attach_{kind}")
    if not template and not (kind == "port" and adapter.port_speaks_dap):
        instead = f": {adapter.instead_of_pid.replace('{pid}', str(pid))}" if kind == "pid" else ""
        raise CallerError(f"{adapter.name} cannot attach to a {kind}{instead}.")
    if pid is not None and not psutil.pid_exists(pid):
        raise CallerError(f"no process has the id {pid}.")
    if port is not None and _is_free(host, port):
        raise CallerError(f"nothing listens at {host}:{port}.")
    values: Json = {"pid": pid, "port": port, "host": host, "cwd": str(root)}
    values |= {"core": str(_core(core, root)) if core else None, "program": str(path) if path else None}
    request = adapter.core_request if core is not None else "attach"
    speaks = kind == "port" and adapter.port_speaks_dap
    return Plan(
        adapter,
        () if speaks else find_debugger(adapter, root),
        f"{kind} {pid if pid is not None else f'{host}:{port}' if port is not None else core}",
        request,
        {"type": adapter.types[0], "request": request, "name": "lsp-mcp", **filled(template, values)},
        root,
        break_on=break_on,
        address=(host, port) if speaks and port is not None else None,
        is_core=core is not None,
    )


def _attaching(kind: str, pid: int | None, program: Path | None, root: Path) -> DebugAdapter:
    """The debugger for a process, by its program.

    Raises:
        CallerError: the program does not tell.
    """
    if program is None and pid is not None:
        try:
            program = Path(f"/proc/{pid}/exe").resolve(strict=True)
        except OSError:
            program = None
        for adapter in debuggers():
            if program and any(program.name.startswith(Path(one).name) for one in adapter.interpreters):
                return adapter
    if program is not None:
        return fitting(program, str(program), root)
    names = [one.name for one in debuggers() if getattr(one, f"attach_{kind}") or one.port_speaks_dap]
    raise CallerError(f"pass debugger=, one of: {', '.join(names)}.")


def _is_free(host: str, port: int) -> bool:
    """Whether nothing listens there: checked without connecting, which a debuggee might take for its only client."""
    with socket.socket() as probe:
        # Otherwise a connection that has just ended would count as a listener.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _core(name: str, root: Path) -> Path:
    path = existing(name, root)
    with path.open("rb") as file:
        start = file.read(18)
    if start[:4] == _ELF and int.from_bytes(start[16:18], "big" if start[5] == 2 else "little") != _ELF_CORE:
        raise CallerError(f"{name} is a compiled program, not a core file.")
    return path
