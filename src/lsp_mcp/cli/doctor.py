"""`lsp-mcp doctor`: which programs are installed, their versions, and the commands that install missing ones."""

from __future__ import annotations

import asyncio
import json
import platform
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import click
import msgspec

from lsp_mcp import __version__
from lsp_mcp.adapters import Adapter, adapter_names, load_adapter
from lsp_mcp.cache_folders import cache_folder, why_not_kept
from lsp_mcp.cli.daemon import differing
from lsp_mcp.cli.help import console, working
from lsp_mcp.cli.language_checks import Spoken, in_daemon, spoken, started
from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.cli.server_checks import Check, printed_version, requirement_check, server_checks
from lsp_mcp.clients import project_files
from lsp_mcp.dap.adapter import DebugAdapter, debugger_names, debuggers, load_debugger
from lsp_mcp.dap.finding import found_program
from lsp_mcp.disk.extent import TooLargeError
from lsp_mcp.disk.feed import too_large
from lsp_mcp.disk.watch import Watch
from lsp_mcp.door.place import NO_FOLDER, daemons, folder
from lsp_mcp.errors import ConfigError, LspMcpError, MissingProgramError
from lsp_mcp.nvim.connections import HOW_TO_START
from lsp_mcp.programs import version_words
from lsp_mcp.project_adapters import project_adapters
from lsp_mcp.prose import count
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.sessions.choosing import is_installed, other_adapters
from lsp_mcp.sessions.languages import Share, shares

_INOTIFY = Path("/proc/sys/fs/inotify")
_COMMON = 0.1  # part of the workspace's files in a language for which a server is advised
_INOTIFY_LOW = {"max_user_watches": 65_536, "max_user_instances": 128}  # less is too little for a large workspace
_INOTIFY_GOOD = {"max_user_watches": 524_288, "max_user_instances": 512}


def diagnose(flags: ServerFlags, names: Sequence[str], *, start: bool = False, as_json: bool) -> int:
    """Check the servers `names`; without names, those that would run with `flags`.

    With `start`, they are started in the workspace, and it is said which are ready.

    Returns the exit status: 1 if something that is needed is missing or broken, else 0.

    Raises:
        ConfigError: one of the names is unknown.
    """
    named = dict.fromkeys([*names, *flags.adapters])
    chosen = [load_adapter(name) for name in named if name not in debugger_names()]
    debugging = [load_debugger(name) for name in named if name in debugger_names()]
    with working("checking programs"):
        found = asyncio.run(_checks(flags, chosen, debugging, start=start))
    checks, languages = found.checks, found.languages
    failed = any(check.failed for check in checks)
    if as_json:
        shown = {
            "ok": not failed,
            "version": __version__,
            "python": platform.python_version(),
            "languages": msgspec.to_builtins(languages),
            "checks": [asdict(check) for check in checks],
        }
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        _show(checks, languages)
    return 1 if failed else 0


class Found(msgspec.Struct, frozen=True):
    """All that was found: the checks, and the languages of the workspace."""

    checks: Sequence[Check]
    languages: Sequence[Spoken] = ()


async def _checks(flags: ServerFlags, chosen: list[Adapter], debugging: list[DebugAdapter], *, start: bool) -> Found:
    if debugging and not chosen:
        return Found([one for adapter in debugging for one in await _debugger(flags, adapter, needed=True)])
    root, fitting = _workspace(flags, chosen)
    if flags.through_neovim:
        return Found([root, *await _neovims(flags), *_inotify()])
    wanted = [adapter.name for adapter in chosen or fitting]
    every = [load_adapter(name) for name in adapter_names()]
    paths = _paths(flags, root, every) if not chosen else []
    languages = shares(paths, every)
    adapters = (
        chosen
        or [*fitting, *_others(fitting, every, languages)]
        or [adapter for adapter in every if not adapter.untested]
    )
    per_server = await asyncio.gather(
        *(server_checks(adapter, flags.paths.get(adapter.name), root, adapter.name in wanted) for adapter in adapters)
    )
    if not wanted and not any(server.state == "ok" for server, *_ in per_server):
        # No particular server was requested, but without any server this program is of no use.
        per_server = [[replace(check, needed=True) for check in checks] for checks in per_server]
    common = {adapter.name for adapter in adapters if _is_common(adapter, languages)}
    per_server = [[replace(one, advised=one.advised or one.name in common) for one in checks] for checks in per_server]
    databases = [check for adapter in adapters if adapter.name in wanted for check in _database(flags, adapter, root)]
    shown = debugging or (debuggers() if flags.debugs else [])
    found = [one for adapter in shown for one in await _debugger(flags, adapter, needed=bool(debugging))]
    servers = [check for checks in per_server for check in checks]
    unknown = _untrusted(root)
    told: Sequence[Spoken] = ()
    if languages:
        place = Path(root.path)
        here = [one for one in adapters if is_installed(one)]
        ready = await started(flags, here) if start else in_daemon(place)
        told = spoken(languages, adapters, paths, place, ready)
    return Found([root, *unknown, *servers, *databases, *found, *_inotify(), *_cache(root), _shared(root)], told)


def _others(fitting: list[Adapter], every: list[Adapter], languages: Sequence[Share]) -> list[Adapter]:
    """The servers of the further languages of the workspace."""
    single = [adapter.name for adapter in every if not adapter.is_fallback]
    return [one for one in other_adapters(fitting, single) if any(one in share.adapters for share in languages)]


def missing_servers(flags: ServerFlags) -> list[str]:
    """The servers of the workspace's main languages that are not installed, and that lsp-mcp can install."""
    root, fitting = _workspace(flags, [])
    every = [load_adapter(name) for name in adapter_names()]
    languages = shares(_paths(flags, root, every), every)
    common = [one for one in _others(fitting, every, languages) if _is_common(one, languages)]
    missing = [one for one in (*fitting, *common) if one.install and not is_installed(one)]
    return list(dict.fromkeys(one.name for one in missing))


def _is_common(adapter: Adapter, languages: Sequence[Share]) -> bool:
    return any(share.part >= _COMMON and adapter in share.adapters for share in languages)


async def _debugger(flags: ServerFlags, adapter: DebugAdapter, *, needed: bool) -> list[Check]:
    """The debugger, and the programs that it needs."""
    get = f"lsp-mcp install {adapter.name}" if adapter.install else f"install {adapter.title}, and put it on PATH"
    note = "not tested with lsp-mcp" if adapter.untested else ""
    needs = [await requirement_check(adapter, need, Path.cwd(), needed=needed) for need in adapter.requires]
    try:
        program = found_program(adapter, flags.workspace().root)
    except MissingProgramError as error:
        return [Check(adapter.name, "missing", needed, note=str(error), get=get), *needs]
    command = version_words(adapter, program)
    version, problem = await printed_version(command) if command else ("", "")
    if problem:
        return [Check(adapter.name, "broken", needed, path=str(program), note=problem, get=get), *needs]
    return [Check(adapter.name, "ok", needed, version, str(program), note), *needs]


def _database(flags: ServerFlags, adapter: Adapter, root: Check) -> list[Check]:
    """The compilation database that the server would use, if it needs one."""
    if root.state != "ok":
        return []
    plugin = plugin_of(adapter)
    try:
        needed = plugin.setup(Path(root.path), flags.database() if plugin.compiles_files else None)
    except ConfigError as error:
        return [Check("compilation database", "missing", True, note=str(error))]
    if needed is None:
        return []
    is_ok = needed.state == "ok"
    return [Check(needed.name, needed.state, False, "", needed.path, needed.note, needed.get, advised=not is_ok)]


def _cache(root: Check) -> list[Check]:
    """Whether indexes of the workspace can be kept."""
    if root.state != "ok":
        return []
    problem = why_not_kept(Path(root.path))
    note = f"{problem}; indexes are built again in each session" if problem else ""
    get = "make room there, or set LSP_MCP_CACHE to another folder" if problem else ""
    return [Check("cache", "low" if problem else "ok", needed=False, path=str(cache_folder()), note=note, get=get)]


def _shared(root: Check) -> Check:
    """Whether sessions can share language servers here, how many do, and why those of `root` may not."""
    home = folder()
    if home is None:
        note = f"{NO_FOLDER}, so each session starts its own language servers"
        get = "set XDG_RUNTIME_DIR to a folder of yours with mode 0700"
        return Check("shared servers", "low", False, note=note, get=get)
    about = [about for _, about in daemons(home, {"tell": "status"})]
    clients = sum(len(one.get("clients", ())) for one in about)
    note = f"{count(len(about), 'daemon')} for {count(clients, 'session')}; see: lsp-mcp daemon status"
    if names := differing().get(root.path):
        note += f"; several for {root.path}, which differ in {', '.join(names)}"
    return Check("shared servers", "ok", needed=False, path=home, note=note if about else "")


async def _neovims(flags: ServerFlags) -> list[Check]:
    """The Neovim that would be used, or else all running ones, with the language clients of each."""
    neovims = flags.neovims()
    checks = []
    try:
        found, unusable = await neovims.connections.find()
        for one in found:
            note = f"in {one.cwd}"
            checks.append(Check("Neovim", "ok", needed=False, version=one.version, path=one.address.text, note=note))
        checks += [Check("Neovim", "broken", needed=False, note=reason) for reason in unusable]
        try:
            sessions = await neovims.sessions(None)
            assert sessions.host
            names = [client.name for client in await sessions.host.clients.all()]
            note = f"its language clients: {', '.join(names) or 'none yet; it starts them when a file is opened'}"
            connection = sessions.host.present()
            checks.append(
                Check(
                    "connects to",
                    "ok",
                    needed=True,
                    version=connection.version,
                    path=connection.address.text,
                    note=note,
                )
            )
        except LspMcpError as error:
            checks.append(Check("connects to", "missing", needed=True, note=str(error), get=HOW_TO_START))
    finally:
        await neovims.close()
    return checks


def _workspace(flags: ServerFlags, chosen: list[Adapter]) -> tuple[Check, list[Adapter]]:
    """The workspace root, and the servers that would run in it."""
    name = "workspace root"
    try:
        root = flags.workspace().root
    except ConfigError as error:
        return Check(name, "missing", True, path=flags.workspace_root, note=str(error)), []
    if flags.through_neovim:
        return Check(name, "ok", True, path=str(root)), []
    try:
        flags.check_root(root)
        fitting = chosen or flags.fitting()
        _measure(flags, root, fitting)
    except ConfigError as error:
        return Check(name, "unusable", True, path=str(root), note=str(error)), chosen
    markers = [(adapter, marker) for adapter in fitting if (marker := _marker(adapter, root))]
    found = ", ".join(f"{marker} ({adapter.name})" for adapter, marker in markers)
    by_files = ", ".join(adapter.name for adapter in fitting)
    note = f"has {found}" if found else "" if chosen else f"no root marker, but source files for {by_files}"
    if not (fitting or flags.no_code):
        note = "no project file or source file near its top: a server starts when a file of its language matters"
    return Check(name, "ok", True, path=str(root), note=note), fitting


def _paths(flags: ServerFlags, root: Check, adapters: Sequence[Adapter]) -> list[str]:
    """The files in the workspace, without what `lsp-mcp setup` wrote there."""
    if root.state != "ok":
        return []
    folder = Path(root.path)
    settings = {str(path) for path in project_files(folder)}
    return [path for path in _read(folder, adapters, flags.most_files).paths() if path not in settings]


def _untrusted(root: Check) -> list[Check]:
    """The project's adapters that are not read."""
    folder = Path(root.path)
    names = [str(file.path.relative_to(folder)) for file in project_adapters(folder) if not file.trusted]
    note = f"not read: {', '.join(names)}"
    return [Check("project adapters", "low", needed=False, note=note, get="lsp-mcp trust")] if names else []


def _measure(flags: ServerFlags, root: Path, adapters: Sequence[Adapter]) -> None:
    """Read all folders, as the start of a server does.

    Raises:
        ConfigError: there are too many files.
    """
    try:
        _read(root, adapters, flags.most_files).close()
    except TooLargeError as error:
        raise too_large(root, error) from None


def _read(root: Path, adapters: Sequence[Adapter], most_files: int | None) -> Watch:
    ignored = {name for adapter in adapters for name in adapter.workspace.ignored_folders}
    watch = Watch([root], ignored, method="scan", most_files=most_files)
    watch.start()
    return watch


def _marker(adapter: Adapter, root: Path) -> str:
    """The nearest root marker of `adapter` in `root` or above it; empty if there is none."""
    for place in (root, *root.parents):
        for marker in adapter.workspace.root_markers:
            if (place / marker).exists():
                return marker if place == root else _home(str(place / marker))
    return ""


def _inotify() -> list[Check]:
    """Whether the kernel's inotify limits are high enough; empty where there is no inotify."""
    try:
        values = {name: int((_INOTIFY / name).read_text()) for name in _INOTIFY_LOW}
    except (OSError, ValueError):
        return []
    version = ", ".join(f"{value:,} {name.removeprefix('max_user_')}" for name, value in values.items())
    low = [name for name, value in values.items() if value < _INOTIFY_LOW[name]]
    if not low:
        return [Check("inotify", "ok", False, version)]
    note = "too low for a large workspace: changes there are found by slower scans"
    get = f"sudo sysctl {' '.join(f'fs.inotify.{name}={_INOTIFY_GOOD[name]}' for name in low)}"
    return [Check("inotify", "low", False, version, note=note, get=get)]


_SIGNS = {
    "ok": ("✓", "green"),
    "low": ("!", "yellow"),
    "missing": ("✗", "red"),
    "broken": ("✗", "red"),
    "unusable": ("✗", "red"),
}


def _show(checks: Sequence[Check], languages: Sequence[Spoken]) -> None:
    from rich.text import Text

    shown = console(highlight=False, soft_wrap=True)
    shown.print(f"lsp-mcp {__version__}, Python {platform.python_version()}\n")
    width = max(len(check.name) for check in checks)
    for check in checks:
        shows = check.needed or check.state in ("ok", "low")
        sign, color = _SIGNS[check.state] if shows else _SIGNS["low"] if check.advised else ("-", "dim")
        path = _home(check.path)
        about = f"{check.version or ('' if check.state == 'ok' else check.state):8} {path}".strip()
        fits = width + 4 + len(about) <= shown.width
        about = about if fits else about.removesuffix(path).rstrip()
        shown.print(Text.assemble((sign, color), f" {check.name:{width}}  ", about))
        if not fits:  # in one piece, to be copied
            room = shown.width - len(path)
            shown.print(" " * (width + 4 if width + 4 <= room else max(0, min(4, room))) + path)
        if check.note:
            room = max(40, shown.width - width - 4)
            note = textwrap.fill(check.note, room, break_long_words=False, break_on_hyphens=False)
            shown.print(textwrap.indent(note, " " * (width + 4)), style="dim")
    if languages:
        shown.print("\nLanguages of the workspace")
        wide = max(len(one.language) for one in languages)
        for one in languages:
            room = max(40, shown.width - wide - 4)
            text = textwrap.fill(one.sentence, room, break_long_words=False, break_on_hyphens=False)
            shown.print(f"  {one.language:{wide}}  {textwrap.indent(text, ' ' * (wide + 4)).lstrip()}")
    for check in checks:
        if check.get and (check.failed or check.state == "low" or check.advised):
            shown.print(f"\n{check.name} is {check.state}. To fix it:", style="bold")
            for way in check.get.split("; "):
                shown.print(f"  {way}")


def _home(path: str) -> str:
    home = str(Path.home())
    return f"~{path.removeprefix(home)}" if path.startswith(f"{home}/") else path
