"""`lsp-mcp daemon`: show and stop running daemons."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from lsp_mcp.cli.help import console, working
from lsp_mcp.door.place import NO_FOLDER, daemons, folder
from lsp_mcp.door.stuck import Silent, silent
from lsp_mcp.prose import count
from lsp_mcp.visible import visible_lines

_MIB = 1024 * 1024
_STATUS = {"tell": "status"}


@dataclass(frozen=True)
class DaemonStatus:
    """A daemon's status, and the path of its log."""

    about: dict[str, Any]
    log: Path


def show(*, as_json: bool) -> None:
    """Print this user's daemons: root, version, start, clients, and language servers with their memory."""
    found, stuck = _status()
    reasons = _reasons(found)
    for lost in stuck:
        why = f"process {lost.pid} does not answer; end it: lsp-mcp daemon stop {lost.root}"
        click.echo(f"{lost.root}\n  {why}", err=True)
    for one in found:
        one.about.pop("parts", None)
        one.about["differs"] = reasons.get(one.about["pid"], [])
    if as_json:
        click.echo(json.dumps([{**one.about, "log": str(one.log)} for one in found], indent=2))
        return
    if not found and not stuck:
        why_none = f"{NO_FOLDER}; see: lsp-mcp doctor" if folder() is None else "the next session or call starts one"
        click.echo(f"no daemon is running; {why_none}")
    for one in found:
        _print(one)


def roots() -> list[str]:
    """The workspace roots of the running daemons."""
    return [one.about["root"] for one in _request_all("status")]


def differing() -> dict[str, list[str]]:
    """By root that has several daemons: the names of what these differ in."""
    found = _request_all("status")
    reasons = _reasons(found)
    return {one.about["root"]: reasons[one.about["pid"]] for one in found if one.about["pid"] in reasons}


def _reasons(found: list[DaemonStatus]) -> dict[int, list[str]]:
    """By process: the names of flags, variables and programs in which the daemons of its root differ."""
    reasons = {}
    for one in found:
        same = [other.about.get("parts", {}) for other in found if other.about["root"] == one.about["root"]]
        if len(same) > 1:
            names = sorted({name for parts in same for name in parts})
            reasons[one.about["pid"]] = [name for name in names if len({parts.get(name) for parts in same}) > 1]
    return reasons


def stop(root: str | None, *, everything: bool, as_json: bool) -> None:
    """Stop the daemons for `root`, or of the workspace around the working folder, or all (`everything`).

    Open sessions start another with their next call. A daemon that does not answer is killed.
    """
    running, stuck = _status()
    wanted = None if everything else Path(root or ".").resolve()
    exactly = root is not None
    stopped = [one for one in running if wanted is None or _serves(one.about["root"], wanted, exactly=exactly)]
    lost = [one for one in stuck if wanted is None or _serves(one.root, wanted, exactly=exactly)]
    with working("stopping daemons"):
        told = [told for one in stopped for told in _request_all("stop", one.log.stem)]
        unkilled = [one.pid for one in lost if not one.end()]
    if ending := [str(pid) for pid in (*(one.about["pid"] for one in told if one.about["ends"]), *unkilled)]:
        raise click.ClickException(f"still ending, look again later: process {', '.join(ending)}")
    ended = [*(one.about["root"] for one in stopped), *(one.root for one in lost)]
    if as_json:
        click.echo(json.dumps({"stopped": ended}, indent=2))
        return
    if (running or stuck) and not ended:
        click.echo(f"no daemon serves {wanted}; all others: lsp-mcp daemon stop --all")
        return
    click.echo(f"{count(len(ended), 'daemon')} stopped" + "".join(f"\n  {one}" for one in ended))


def _serves(root: str, folder: Path, *, exactly: bool) -> bool:
    served = Path(root)
    return served == folder if exactly else folder.is_relative_to(served)


def logs(*, as_json: bool) -> None:
    """Print the daemons' logs."""
    home = folder()
    files = sorted(Path(home).glob("*.log")) if home else ()
    found = {str(path): text for path in files if (text := path.read_text("utf-8", "replace").strip())}
    if as_json:
        click.echo(json.dumps([{"log": path, "text": text} for path, text in found.items()], indent=2))
        return
    for path, text in found.items():
        click.echo(f"{click.style(path, bold=True)}\n{visible_lines(text)}\n")


def _status() -> tuple[list[DaemonStatus], list[Silent]]:
    """The running daemons, and those that do not answer."""
    home = folder()
    found = [] if home is None else [(Path(home, f"{name}.log"), about) for name, about in daemons(home, _STATUS)]
    stuck = [silent(log.stem) for log, about in found if not about.get("pid")]
    return [DaemonStatus(about, log) for log, about in found if about.get("pid")], list(filter(None, stuck))


def _request_all(what: str, name: str | None = None) -> list[DaemonStatus]:
    home = folder()
    if home is None:
        return []
    return [
        DaemonStatus(about, Path(home, f"{found}.log"))
        for found, about in daemons(home, {"tell": what}, name)
        if about.get("pid")
    ]


def _ago(seconds: float) -> str:
    return f"{seconds / 60:.0f} min ago" if seconds >= 60 else f"{seconds:.0f} s ago"


def _print(one: DaemonStatus) -> None:
    about = one.about
    shown = console(highlight=False, soft_wrap=True)
    since = time.strftime("%H:%M", time.localtime(about["since"]))
    memory = sum(server["rss"] for server in about["servers"])
    shown.print(about["root"], style="bold")
    shown.print(
        f"  process {about['pid']}, version {about['version']}, since {since}, "
        f"{count(len(about['clients']), 'client')}, {(about['rss'] + memory) / _MIB:.0f} MiB in all"
    )
    for server in about["servers"]:
        shown.print(f"  {server['name']}: process {server['pid']}, {server['rss'] / _MIB:.0f} MiB")
    for name in about["at_rest"]:
        shown.print(f"  {name}: ended, starts with the next question")
    for address in about.get("neovims", ()):
        shown.print(f"  Neovim: {address}")
    activity = f"{count(about['calls'], 'call')} running" if about["calls"] else f"last asked {_ago(about['unused'])}"
    shown.print(
        f"  {activity}; memory limit for the language servers of all daemons: {about['memory_limit'] / _MIB:.0f} MiB"
    )
    if about["differs"]:
        shown.print(f"  not shared with the other daemons of this root, which differ in: {', '.join(about['differs'])}")
    for client in about["clients"]:
        shown.print(
            f"  client: process {client['pid']}, since {time.strftime('%H:%M', time.localtime(client['since']))}"
        )
    shown.print(f"  log: {one.log}")
