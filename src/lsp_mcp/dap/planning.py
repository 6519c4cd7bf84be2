"""From what a caller asks to debug to a `Plan`: by program, module, test or configuration; or what to attach to."""

from __future__ import annotations

import os
import re
import shlex
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_mcp.dap.adapter import Break, DebugAdapter, debuggers, filled, load_debugger
from lsp_mcp.dap.finding import find_debugger, fitting, interpreter
from lsp_mcp.dap.launch_json import configuration
from lsp_mcp.dap.plan import Plan
from lsp_mcp.errors import CallerError, unknown

Json = dict[str, Any]
OPEN = "open"  # as `stdin`: the program can be sent input while it runs
_CD = re.compile(r"^\s*cd\s+(?P<folder>'[^']*'|\"[^\"]*\"|\S+)\s*&&\s*(?P<rest>.*)$", re.S)
_MOST_TEST_FILES = 20_000  # looked through for a test's name
_LARGEST = 2 * 1024 * 1024  # bytes of one
_SKIPPED = {"node_modules", "venv", "vendor", "__pycache__", "testdata"}
_LATER = ("preLaunchTask", "postDebugTask")


@dataclass(frozen=True)
class Wish:
    """What a caller of `debug_start` says of the program; exactly one of the first four names it."""

    program: str | None = None
    module: str | None = None
    test: str | None = None
    config: str | None = None
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    stdin: str | None = None
    stop_on_entry: bool = False
    break_on: Break = "uncaught"
    debugger: str | None = None


def plan_start(wish: Wish, root: Path) -> Plan:
    """The plan for `wish` in the workspace `root`.

    Raises:
        CallerError: it names no program, or one that cannot be debugged.
        MissingProgramError: its debugger is not installed.
    """
    named = [name for name in ("program", "module", "test", "config") if getattr(wish, name)]
    if not named or (len(named) > 1 and set(named) != {"program", "test"}):
        raise CallerError("name what to debug by one of program, module, test, config.")
    if wish.config:
        return _configured(wish, wish.config, root)
    if wish.test:
        return _test(wish, wish.test, root)
    if wish.module:
        adapter = _called(wish.debugger) or _with_modules()
        return _launch(wish, adapter, root, {"module": wish.module}, wish.module)
    assert wish.program
    program = _program(wish.program, root)
    adapter = _called(wish.debugger) or fitting(program, wish.program, root)
    return _launch(wish, adapter, root, {"program": str(program)}, wish.program)


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
    """The plan for attaching to a process, to a port, or for looking into a core file.

    Raises:
        CallerError: what is named is not there, or the debugger cannot do that.
        MissingProgramError: the debugger is not installed.
    """
    import psutil

    if sum(one is not None for one in (pid, port, core)) != 1:
        raise CallerError("attach to one of pid, port, core.")
    path = _program(program, root) if program else None
    kind = "pid" if pid is not None else "port" if port is not None else "core"
    adapter = _called(debugger) or _attaching(kind, pid, path, root)
    template: Json = getattr(adapter, f"attach_{kind}")
    if not template and not (kind == "port" and adapter.port_speaks_dap):
        raise CallerError(f"{adapter.name} cannot attach to a {kind}.")
    if pid is not None and not psutil.pid_exists(pid):
        raise CallerError(f"no process has the id {pid}.")
    if port is not None and _is_free(host, port):
        raise CallerError(f"nothing listens at {host}:{port}.")
    values: Json = {"pid": pid, "port": port, "host": host, "cwd": str(root)}
    values |= {"core": str(_program(core, root)) if core else None, "program": str(path) if path else None}
    speaks = kind == "port" and adapter.port_speaks_dap
    return Plan(
        adapter,
        () if speaks else find_debugger(adapter, root),
        f"{kind} {pid if pid is not None else f'{host}:{port}' if port is not None else core}",
        "attach",
        {"type": adapter.types[0], "request": "attach", "name": "lsp-mcp", **filled(template, values)},
        root,
        break_on=break_on,
        address=(host, port) if speaks and port is not None else None,
    )


def _called(name: str | None) -> DebugAdapter | None:
    if name is None:
        return None
    for adapter in debuggers():
        if name == adapter.name or name in adapter.types:
            return adapter
    return load_debugger(name)  # says which there are


def _with_modules() -> DebugAdapter:
    return next(adapter for adapter in debuggers() if "{module}" in adapter.launch.values())


def _attaching(kind: str, pid: int | None, program: Path | None, root: Path) -> DebugAdapter:
    """The debugger for a process whose program says what it is.

    Raises:
        CallerError: nothing says it.
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
    """Whether nothing listens there: without connecting, which a debuggee might take for its only client."""
    with socket.socket() as probe:
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _program(name: str, root: Path) -> Path:
    path = (root / Path(name).expanduser()).resolve()
    if not path.exists():
        raise CallerError(f"{name} does not exist (looked in {root}).")
    return path


def _cwd(wish: Wish, root: Path) -> Path:
    folder = (root / Path(wish.cwd).expanduser()).resolve() if wish.cwd else root
    if not folder.is_dir():
        raise CallerError(f"cwd {wish.cwd} is not a folder.")
    return folder


def _launch(wish: Wish, adapter: DebugAdapter, root: Path, values: Json, title: str, more: Json | None = None) -> Plan:
    """The plan of a launch with these values of the adapter's template, `more` laid over it."""
    program = values.get("program")
    folder = Path(program) if program and Path(program).is_dir() else Path(program).parent if program else root
    if program and not Path(program).is_dir() and adapter.program_is_folder:
        values = {**values, "program": str(folder)}
    everything: Json = {
        "program_dir": str(folder),
        "args": list(wish.args),
        "cwd": str(_cwd(wish, root)),
        "stop_on_entry": wish.stop_on_entry,
        "interpreter": interpreter(adapter, root),
        "just_my_code": True,
        **values,
    }
    launch = filled({**adapter.launch, **(more or {})}, everything)
    arguments = {"type": adapter.types[0], "request": "launch", "name": title, **launch}
    return Plan(
        adapter,
        find_debugger(adapter, root),
        title,
        "launch",
        arguments,
        _cwd(wish, root),
        wish.env,
        None if wish.stdin == OPEN else wish.stdin,
        wish.stdin == OPEN,
        wish.break_on,
        remarks=(f"{adapter.name} was never tried with lsp-mcp",) if adapter.untested else (),
    )


def _configured(wish: Wish, name: str, root: Path) -> Plan:
    own = configuration(root, name)
    kind = str(own.get("type") or "")
    adapter = _called(wish.debugger) or next((one for one in debuggers() if kind in one.types), None)
    if adapter is None:
        types = [one for adapter in debuggers() for one in adapter.types]
        raise CallerError(f"the configuration {name!r} has the {unknown('type', kind, types)}")
    request = "attach" if own.get("request") == "attach" else "launch"
    left_out = [key for key in _LATER if own.get(key)]
    arguments = {key: value for key, value in own.items() if key not in (*_LATER, "env", "presentation")}
    if wish.args:
        arguments["args"] = list(wish.args)
    if request == "launch":
        base = {**adapter.launch}
        for key in ("program", "module", "args", "stopOnEntry"):
            base.pop(key, None)
        defaults = filled(base, {"cwd": str(root), "interpreter": interpreter(adapter, root), "just_my_code": True})
        arguments = {**defaults, **arguments}
    return Plan(
        adapter,
        find_debugger(adapter, root),
        name,
        "attach" if request == "attach" else "launch",
        {**arguments, "type": adapter.types[0]},
        Path(str(own.get("cwd") or root)),
        {**{key: str(value) for key, value in (own.get("env") or {}).items()}, **wish.env},
        None if wish.stdin == OPEN else wish.stdin,
        wish.stdin == OPEN,
        wish.break_on,
        remarks=tuple(f"{key} {own[key]!r} was not run: run it first if it is needed" for key in left_out),
    )


# --- tests -----------------------------------------------------------------------------------------


def _test(wish: Wish, test: str, root: Path) -> Plan:
    """The plan for a command that runs tests, or for a test's name."""
    folder = root
    command = test.strip()
    if found := _CD.match(command):
        folder = (root / shlex.split(found["folder"])[0]).resolve()
        command = found["rest"].strip()
    able = [adapter] if (adapter := _called(wish.debugger)) else debuggers()
    if plan := _by_command(wish, command, folder, able, root):
        return plan
    if named := _by_name(command, able, root):
        plan = _by_command(wish, named, root, able, root)
        assert plan
        return plan
    known = "; ".join(f"{one.name}: {', '.join(run.pattern for run in one.tests)}" for one in able if one.tests)
    raise CallerError(
        f"no test is called {test[:120]!r}, and it is no command that a debugger here knows. Pass a test's name, "
        f"FILE::NAME, or what find_impact names. Known are {known}"
    )


def _by_command(wish: Wish, command: str, folder: Path, able: Iterable[DebugAdapter], root: Path) -> Plan | None:
    for adapter in able:
        for run in adapter.tests:
            if not (found := re.match(run.pattern, command, re.S)):
                continue
            if run.needs_program and not wish.program:
                raise CallerError(f"{command[:80]!r} needs program=, the compiled test program.")
            values: Json = {key: _word(value) for key, value in found.groupdict().items() if value is not None}
            args = [*shlex.split(found.groupdict().get("args") or ""), *wish.args]
            values["args"] = args
            if "folder" in values:
                values["folder"] = str((folder / values["folder"]).resolve())
            if wish.program:
                values["program"] = str(_program(wish.program, root))
            moved = Wish(**{**vars(wish), "args": args, "cwd": wish.cwd or str(folder)})
            plan_folder = values.get("folder")
            more = {**run.launch, **({"cwd": None} if run.own_folder and wish.cwd is None else {})}
            if plan_folder:
                values["program"] = plan_folder
            return _launch(moved, adapter, root, values, command, more)
    return None


def _word(value: str) -> str:
    try:
        return shlex.split(value)[0] if value else value
    except ValueError:
        return value


def _by_name(name: str, able: Iterable[DebugAdapter], root: Path) -> str | None:
    """The command that runs the only test called `name`, or `FILE::name`.

    Raises:
        CallerError: there are several.
    """
    file, _, bare = name.rpartition("::")
    bare = bare.strip()
    if not re.fullmatch(r"[\w.]+", bare):
        return None
    found: list[str] = []
    for adapter in able:
        for rule in adapter.named_tests:
            pattern = re.compile(rule.pattern.replace("{name}", re.escape(bare)), re.M)
            for path in _test_files(root, rule.files):
                inside = path.relative_to(root)
                if file and inside.as_posix() != file.removeprefix("./"):
                    continue
                if path.stat().st_size <= _LARGEST and pattern.search(path.read_text("utf-8", "replace")):
                    values = {"file": inside.as_posix(), "folder": inside.parent.as_posix(), "name": bare}
                    found.append(str(filled(rule.command, values)))
    found = list(dict.fromkeys(found))
    if len(found) > 1:
        raise CallerError(f"several tests are called {bare}; pass one of: {'; '.join(found[:6])}")
    return found[0] if found else None


def _test_files(root: Path, patterns: Sequence[str]) -> Iterable[Path]:
    from fnmatch import fnmatchcase

    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = [one for one in folders if not one.startswith(".") and one not in _SKIPPED]
        for name in files:
            seen += 1
            if seen > _MOST_TEST_FILES:
                return
            if any(fnmatchcase(name, pattern) for pattern in patterns):
                yield Path(folder) / name
