"""`lsp-mcp warm`: build indexes and caches ahead of the first question."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import click

from lsp_mcp.backend import Backend, Report
from lsp_mcp.cache_folders import cache_folder, checkouts_gone, why_not_kept
from lsp_mcp.cli.help import console
from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.errors import LspMcpError
from lsp_mcp.sessions.running import Running
from lsp_mcp.visible import visible_lines

_READY_TIMEOUT = 3600.0  # seconds, unless the user sets another limit: an index of millions of lines takes that long
_ANY_WORD = "main"  # checking its progress makes it read all files


@dataclass(frozen=True)
class Warmed:
    """The result for one language server; `problem` is empty if everything was built."""

    server: str
    seconds: float
    indexed: int | None = None  # files in its own index, if it reports that
    problem: str = ""


def warm(flags: ServerFlags, *, as_json: bool) -> int:
    """Build the indexes and caches of every language server; the exit status, 1 if one is incomplete or cannot be kept.

    Raises:
        ConfigError: see `ServerFlags.sessions`.
    """
    _compile()
    if "--ready-timeout" not in flags.given:
        flags = replace(flags, ready_timeout=_READY_TIMEOUT)
    running = flags.running()
    root = running.code.workspace.root
    gone = checkouts_gone(root)  # before the first index is made: those of checkouts that are gone go then
    try:
        done = asyncio.run(_warm(running))
    finally:
        running.kill()
    problem = why_not_kept(root)
    if as_json:
        about = {
            "cache": str(cache_folder()),
            "problem": problem,
            "servers": [{**vars(one), "seconds": round(one.seconds, 1)} for one in done],
            "not_used": list(map(str, gone)),
        }
        click.echo(json.dumps(about, indent=2))
    else:
        for one in done:
            indexed = f", {one.indexed:,} files in its index" if one.indexed is not None else ""
            said = f"incomplete: {one.problem}" if one.problem else f"built in {one.seconds:.1f} s{indexed}"
            click.echo(visible_lines(f"{one.server}: {said}"))
        for other in gone:
            what = "its paths are absolute, so it was built again for this checkout"
            click.echo(visible_lines(f"not used: what was kept for {other}, which is not there any more ({what})"))
        kept = f"in {cache_folder()} for {root}, and where its servers keep their own"
        click.echo(visible_lines(f"not kept: {problem}" if problem else f"kept {kept}"))
    return 1 if problem or any(one.problem for one in done) else 0


def _compile() -> None:
    """Write the bytecode of this program and of what a session imports, where it is missing.

    uv leaves it out, and PYTHONDONTWRITEBYTECODE, which many images set, keeps Python from writing it: then each start
    compiles a thousand files.
    """
    import compileall
    import py_compile

    import lsp_mcp.server.serving

    compileall.compile_dir(Path(lsp_mcp.__file__).parent, quiet=2)
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)  # typing.io (Python < 3.13) is a class, and has none
        if not spec or not spec.has_location or not spec.origin or not spec.cached or Path(spec.cached).exists():
            continue
        with contextlib.suppress(OSError, py_compile.PyCompileError):  # an installation that is not the user's
            py_compile.compile(spec.origin, spec.cached, doraise=True)


async def _warm(running: Running) -> list[Warmed]:
    running.begin()
    with console(stderr=True).status("starting …") as status:

        async def report(_: float, __: float | None, message: str) -> None:
            from rich.markup import escape

            status.update(escape(visible_lines(message)))

        try:
            return [await _built(backend, report) for backend in await running.code.require_backends()]
        finally:
            await running.close()


async def _built(backend: Backend, report: Report) -> Warmed:
    begun = time.monotonic()
    try:
        await backend.ready(report)
        await backend.sync()
        await report(0, None, f"{backend.plugin.name}: reading the words of all files")
        await backend.words.files_with(_ANY_WORD)
        await report(0, None, f"{backend.plugin.name}: checking all files")
        await backend.problems.check()
        facts = await backend.coverage.facts()
    except LspMcpError as error:
        return Warmed(backend.plugin.name, time.monotonic() - begun, problem=str(error))
    left = "" if backend.state() == "running" else "it was still loading when --ready-timeout was over"
    return Warmed(backend.plugin.name, time.monotonic() - begun, facts.indexed, left)
