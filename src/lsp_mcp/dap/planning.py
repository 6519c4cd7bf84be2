"""Making a `Plan` for running: by program, module, test or configuration."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_mcp.dap.adapter import Break, DebugAdapter, debuggers, filled, load_debugger
from lsp_mcp.dap.finding import find_debugger, fitting, interpreter, is_marked
from lsp_mcp.dap.launch_json import configuration
from lsp_mcp.dap.plan import Plan
from lsp_mcp.errors import CallerError, unknown
from lsp_mcp.workspace import from_home, named_path

Json = dict[str, Any]
OPEN = "open"  # as `stdin`: the program can be sent input while it runs
_CD = re.compile(r"^\s*cd\s+(?P<folder>'[^']*'|\"[^\"]*\"|\S+)\s*&&\s*(?P<rest>.*)$", re.S)
_MOST_TEST_FILES = 20_000  # searched for a test's name
_LARGEST = 2 * 1024 * 1024  # bytes of one
_SKIPPED = {"node_modules", "venv", "vendor", "__pycache__", "testdata"}
_LATER = ("preLaunchTask", "postDebugTask")


@dataclass(frozen=True)
class Wish:
    """The caller's description of the program for `debug_start`; exactly one of the first four names it."""

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
        raise CallerError("pass one of program, module, test, config.")
    if wish.config:
        return _configured(wish, wish.config, root)
    if wish.test:
        return _test(wish, wish.test, root)
    if wish.module:
        adapter = called(wish.debugger) or _with_modules()
        return _launch(wish, adapter, root, {"module": wish.module}, wish.module)
    assert wish.program
    program = existing(wish.program, root)
    adapter = called(wish.debugger) or fitting(program, wish.program, root)
    return _launch(wish, adapter, root, {"program": str(program)}, wish.program)


def called(name: str | None) -> DebugAdapter | None:
    """The debugger that callers or configurations call `name`; None without a name. Raises ConfigError if unknown."""
    if name is None:
        return None
    for adapter in debuggers():
        if name == adapter.name or name in adapter.types:
            return adapter
    return load_debugger(name)  # says which there are


def _with_modules() -> DebugAdapter:
    return next(adapter for adapter in debuggers() if "{module}" in adapter.launch.values())


def existing(name: str, root: Path) -> Path:
    """The file or folder `name`, relative to `root` or absolute. Raises CallerError if it does not exist."""
    path = named_path(from_home(name), root).resolve()
    if not path.exists():
        raise CallerError(f"{name} does not exist (looked in {root}).")
    return path


def _cwd(wish: Wish, root: Path) -> Path:
    folder = named_path(from_home(wish.cwd), root).resolve() if wish.cwd else root
    if not folder.is_dir():
        raise CallerError(f"cwd {wish.cwd} is not a folder.")
    return folder


def _launch(wish: Wish, adapter: DebugAdapter, root: Path, values: Json, title: str, more: Json | None = None) -> Plan:
    """The plan of a launch with these values of the adapter's template; `more` takes precedence."""
    program = values.get("program")
    folder = Path(program) if program and Path(program).is_dir() else Path(program).parent if program else root
    if program and adapter.program_is_folder and Path(program).suffix.lower() in adapter.extensions:
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
    compiled = adapter.launch_executable if program and is_marked(adapter, Path(program)) else {}
    launch = filled({**adapter.launch, **compiled, **(more or {})}, everything)
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
    adapter = called(wish.debugger) or next((one for one in debuggers() if kind in one.types), None)
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
        folder = named_path(shlex.split(found["folder"])[0], root).resolve()
        command = found["rest"].strip()
    able = [adapter] if (adapter := called(wish.debugger)) else debuggers()
    if plan := _by_command(wish, command, folder, able, root):
        return plan
    if named := _by_name(command, able, root):
        plan = _by_command(wish, named, root, able, root)
        assert plan
        return plan
    known = dict.fromkeys(run.example for one in able for run in one.tests if run.example)
    raise CallerError(
        f"no test is called {test[:120]!r}, and it is not a command that a debugger here knows. Pass a test's name, "
        f"FILE::NAME, or a command such as {', '.join(f'`{one}`' for one in known)}."
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
                values["folder"] = str(named_path(values["folder"], folder).resolve())
            if wish.program:
                values["program"] = str(existing(wish.program, root))
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
