"""`lsp-mcp demo`: an agent's loop (read, edit, check, rename, impact) on a small project in a temporary folder."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
import signal
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import click
import msgspec

from lsp_mcp.adapters import Adapter, load_adapter
from lsp_mcp.backend import no_report
from lsp_mcp.cli.call import Here, ToolCall
from lsp_mcp.cli.help import working
from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.cli.own_project import caches_in, own_flags, temporary_folder
from lsp_mcp.data import data_folder
from lsp_mcp.errors import ConfigError, MissingProgramError, unknown
from lsp_mcp.programs import find_program
from lsp_mcp.sessions.choosing import is_installed
from lsp_mcp.sessions.running import Running
from lsp_mcp.visible import visible_lines

_COMPLETE = "status: complete"


class Example(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The project and the questions for one server; adapters/demos.toml says what each field is."""

    language: str
    files: dict[str, str]
    function: str
    changed: str
    error: str
    caller: str
    repaired: str
    new_name: str
    reaches: str


@dataclass(frozen=True)
class Step:
    """One call: what must be in its answer, and what the answer shows, for people."""

    title: str
    tool: str
    arguments: Mapping[str, Any]
    shows: str
    expected: tuple[str, ...]

    @property
    def command(self) -> str:
        """The call as a command of the shell."""
        words = (f"{key}={_word(value)}" for key, value in self.arguments.items())
        return " ".join(["lsp-mcp", "call", self.tool, *words])


@dataclass(frozen=True)
class Answered:
    """The answer to a step; `missing` is what was expected and is not in it."""

    title: str
    command: str
    answer: str
    shows: str
    missing: tuple[str, ...]
    seconds: float


@dataclass
class Demo:
    """One run of the demo; `show` prints each step unless the result is printed as JSON."""

    backend: str
    language: str
    folder: str
    as_json: bool
    steps: list[Answered] = field(default_factory=list)

    def show(self, number: int, step: Answered) -> None:
        """Print a step."""
        if self.as_json:
            return
        click.secho(f"\n{number}. {step.title}", fg="cyan", bold=True)
        click.secho(visible_lines(f"$ {step.command}"), bold=True)
        for line in visible_lines(step.answer).split("\n"):
            click.secho(line, **_style(line))
        if step.missing:
            missing = ", ".join(map(repr, step.missing))
            click.secho(f"✗ not as expected; this is missing: {missing}", fg="red", bold=True)
        else:
            click.secho(f"→ {step.shows}", fg="yellow")


def demo(flags: ServerFlags, *, keep: bool, as_json: bool) -> int:
    """Run the demo; the exit status, 1 if an answer is not as expected.

    Raises:
        ConfigError: there is no demo for the backend.
        MissingProgramError: its server, or every server that there is a demo for, is not installed.
    """
    adapter, example = _chosen(flags)
    with temporary_folder("demo", keep=keep) as folder:
        root = folder / "shop"
        for name, text in example.files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        shown = Demo(adapter.name, example.language, str(root), as_json)
        steps = _steps(example)
        if not as_json:
            click.echo(f"{example.language} with {adapter.name}, as an agent would work. The project is in {root}.")
            click.echo("The last line of an answer is its status: `complete` means that nothing is missing.")
        own = own_flags(flags, adapter.name, root)
        with caches_in(folder / "cache"):
            running = own.running()
            try:
                asyncio.run(_run(running, own, steps, shown))
            except asyncio.CancelledError:
                raise KeyboardInterrupt from None
            finally:
                running.kill()
        return _sum_up(shown, of=len(steps), keep=keep)


def _sum_up(shown: Demo, *, of: int, keep: bool) -> int:
    as_expected = sum(not step.missing for step in shown.steps)
    if shown.as_json:
        about = {
            "ok": as_expected == of,
            "backend": shown.backend,
            "language": shown.language,
            **({"folder": shown.folder} if keep else {}),
            "steps": [asdict(step) for step in shown.steps],
        }
        click.echo(json.dumps(about, indent=2, ensure_ascii=False))
    else:
        seconds = sum(step.seconds for step in shown.steps)
        kept = f" The project stays in {shown.folder}." if keep else ""
        click.echo(f"\n{as_expected} of {of} answers are as expected ({seconds:.1f} s).{kept}")
        if as_expected == of:
            click.echo("For your agent: run `lsp-mcp setup` in your project.")
        else:
            click.echo(f"To see what is wrong: lsp-mcp doctor {shown.backend}")
    return 0 if as_expected == of else 1


def _chosen(flags: ServerFlags) -> tuple[Adapter, Example]:
    """The named server, else the first with a demo that is installed, with what it needs."""
    file = data_folder("adapters") / "demos.toml"
    examples = msgspec.toml.decode(file.read_bytes(), type=dict[str, Example])
    if len(flags.backends) > 1:
        raise ConfigError(f"a demo is of one backend; pass --backend once ({', '.join(examples)})")
    for name in flags.backends:
        if name in examples:
            adapter = load_adapter(name)
            if name not in flags.paths and not is_installed(adapter):
                raise MissingProgramError(f"{_why_not(adapter)}; install it with: lsp-mcp install {name}")
            return adapter, examples[name]
        raise ConfigError(unknown("backend for a demo", name, examples))
    for name, example in examples.items():
        adapter = load_adapter(name)
        needed = all(shutil.which(need.command[0]) for need in adapter.requires)
        if name in flags.paths or (needed and is_installed(adapter)):
            return adapter, example
    ways = "; ".join(f"lsp-mcp install {name} ({example.language})" for name, example in examples.items())
    raise MissingProgramError(f"no language server with a demo is installed; install one with: {ways}")


def _why_not(adapter: Adapter) -> str:
    try:
        find_program(adapter)
    except MissingProgramError as error:
        return str(error)
    return ""


async def _run(running: Running, flags: ServerFlags, steps: list[Step], shown: Demo) -> None:
    """Call the steps in order, to the first whose answer is not as expected."""
    task = asyncio.current_task()
    assert task
    for ended in (signal.SIGTERM, signal.SIGHUP):  # as an interrupt: the folder is removed
        asyncio.get_running_loop().add_signal_handler(ended, task.cancel)
    running.begin()
    here = Here(running, flags)
    try:
        for number, step in enumerate(steps, 1):
            begun = time.monotonic()
            with working(step.title):
                call = ToolCall(flags, step.tool, step.arguments, as_json=False, terminal=False)
                outcome = await call.outcome(here, no_report)
            answer = "\n".join(filter(None, [outcome.out, *outcome.err]))
            missing = tuple(part for part in step.expected if part not in answer)
            seconds = round(time.monotonic() - begun, 2)
            answered = Answered(step.title, step.command, answer, step.shows, missing, seconds)
            shown.steps.append(answered)
            shown.show(number, answered)
            if missing:
                return
    finally:
        await running.close()


def _steps(example: Example) -> list[Step]:
    return [
        Step(
            f"Read {example.function}",
            "read_symbol",
            {"symbols": [example.function]},
            "One declaration by its name, instead of a whole file.",
            (f"function {example.function}", _COMPLETE),
        ),
        Step(
            f"Edit it: {example.function} gets another parameter",
            "edit_symbol",
            {"symbol": example.function, "action": "replace", "code": example.changed},
            "The diff, and at once the error that it causes in another file.",
            ("1 new error", example.error, _COMPLETE),
        ),
        Step(
            "Check",
            "check",
            {},
            f"Errors without a build, in whatever file: {example.caller} was not edited, and no longer fits.",
            ("1 new error in 1 file", example.error, _COMPLETE),
        ),
        Step(
            f"Repair {example.caller}",
            "edit_symbol",
            {"symbol": example.caller, "action": "replace", "code": example.repaired},
            "The error is fixed, and there is no new one.",
            ("no new errors, 1 fixed", _COMPLETE),
        ),
        Step(
            f"Rename {example.function} to {example.new_name}",
            "rename_symbol_by_anchor",
            {"symbol_anchor": example.function, "new_name": example.new_name},
            "All files or none: a rename that could miss a use is refused.",
            ("Successfully renamed", "across 2 files", _COMPLETE),
        ),
        Step(
            f"See what a change to {example.new_name} affects",
            "find_impact",
            {"symbols": [example.new_name]},
            "The uses to look at, the functions that reach them, and the tests to run, with the command.",
            (example.reaches, _COMPLETE),
        ),
    ]


def _word(value: Any) -> str:
    return shlex.quote(value if isinstance(value, str) else json.dumps(value))


def _style(line: str) -> dict[str, Any]:
    """How a line of an answer is shown: a status, and what a diff adds and removes."""
    if line.startswith("status: "):
        return {"fg": "green" if line.startswith(_COMPLETE) else "yellow", "bold": True}
    return {"fg": {"+": "green", "-": "red"}.get(line[:1])}
