"""`lsp-mcp adapters check`: which of the six basic questions a language server answers on a small project."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import click

from lsp_mcp.adapters import Adapter, adapter_files, load_adapter, user_folder
from lsp_mcp.backend import Backend, no_report
from lsp_mcp.cli.adapter_samples import Sample, Spot, copied, sample_of_folder, shipped_sample
from lsp_mcp.cli.call import Here, ToolCall
from lsp_mcp.cli.help import working
from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.cli.own_project import caches_in, own_flags, temporary_folder
from lsp_mcp.cli.server_checks import printed_version
from lsp_mcp.errors import CallerError, LspMcpError, MissingProgramError
from lsp_mcp.programs import find_command, version_words
from lsp_mcp.prose import count
from lsp_mcp.requests.references import references
from lsp_mcp.sessions.running import Running
from lsp_mcp.text import Point
from lsp_mcp.visible import visible_lines

State = Literal["works", "incomplete", "fails", "lacks"]
"""Answered as expected; so, but its status names a gap; not so; not so, and the server does not offer it."""

_SIGNS = {"works": ("✓", "green"), "incomplete": ("!", "yellow"), "fails": ("✗", "red"), "lacks": ("-", None)}
_NEW_NAME = "hail"
_MOST_CHECKS, _BETWEEN_CHECKS = 10, 0.5  # seconds
_SO_FAR = "reported so far"  # in the answer of a server whose errors may be of an older text
_MORE = {
    "callHierarchyProvider": "call hierarchy",
    "typeHierarchyProvider": "type hierarchy",
    "implementationProvider": "implementations",
    "typeDefinitionProvider": "type definitions",
    "hoverProvider": "hover",
}


class WrongError(Exception):
    """An answer is not what the sample has; the message says how."""


@dataclass(frozen=True)
class Asked:
    """One question and what came of it."""

    question: str
    state: State
    note: str = ""


@dataclass(frozen=True)
class Checked:
    """All that was found out about one adapter; `problem`: why its server could not be asked."""

    adapter: str
    title: str
    file: str
    command: str = ""
    version: str = ""
    sample: str = ""
    positions: str = ""
    problem: str = ""
    get: str = ""
    questions: tuple[Asked, ...] = ()
    lacks: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Whether the server runs, and does what it offers."""
        return not self.problem and all(one.state != "fails" for one in self.questions)


def check_adapter(flags: ServerFlags, name: str, folder: str, symbol: str, *, as_json: bool) -> int:
    """Check the adapter `name` on its sample, or on a copy of the project in `folder` with the `symbol` there.

    Returns the exit status: 1 if the server is missing, or does not do what it offers.

    Raises:
        ConfigError: no adapter has that name, or its file is invalid.
        CallerError: its languages have no sample, or the folder or symbol does not exist.
    """
    adapter = load_adapter(name)
    file = str(adapter_files("lsp")[name])
    if symbol and not folder:
        raise CallerError("--symbol is one of the project that you name with --sample FOLDER")
    try:
        command = _command(flags, adapter)
    except MissingProgramError as error:
        get = f"lsp-mcp install {name}" if adapter.install else f"install {adapter.title}, and put it on PATH"
        return _shown(Checked(name, adapter.title, file, problem=str(error), get=get), as_json=as_json)
    with temporary_folder("check") as temporary:
        root = temporary / "sample"
        root.mkdir()
        sample = None if folder else shipped_sample(adapter, root)
        if folder:
            copied(adapter, Path(folder).expanduser().resolve(), root)
        elif sample is None:
            languages = ", ".join(adapter.language_names)
            raise CallerError(
                f"lsp-mcp has no sample project of {languages}; pass a small project of yours: lsp-mcp adapters check "
                f"{name} --sample FOLDER"
            )
        own = own_flags(flags, name, root)
        with caches_in(temporary / "cache"), working(f"asking {name}"):
            running = own.running()
            try:
                found = asyncio.run(_check(running, own, command, sample, symbol))
            finally:
                running.kill()
    about = replace(found, title=adapter.title, file=file, command=shlex.join(command))
    return _shown(about, as_json=as_json)


def _command(flags: ServerFlags, adapter: Adapter) -> tuple[str, ...]:
    """The command of the server. Raises MissingProgramError: it, or a program that it needs, is not installed."""
    path = flags.paths.get(adapter.name)
    command = (path, *adapter.command[1:]) if path else find_command(adapter)
    for need in adapter.requires:
        if shutil.which(need.command[0]) is None:
            raise MissingProgramError(f"{need.command[0]}, which {adapter.name} needs, is not on PATH: {need.get}")
    return command


async def _check(
    running: Running, flags: ServerFlags, command: Sequence[str], sample: Sample | None, symbol: str
) -> Checked:
    """Start the server and ask it."""
    running.begin()
    backend = running.code.backends[0]
    adapter = backend.plugin.adapter
    try:
        try:
            await backend.ready(no_report)
            await backend.sync()
        except LspMcpError as error:
            return Checked(adapter.name, "", "", problem=str(error), get=f"lsp-mcp doctor {adapter.name}")
        sample = sample or await sample_of_folder(backend, symbol)
        project = _Project(backend, Here(running, flags), sample)
        questions = [await project.asked(*one) for one in project.questions]
        words = version_words(adapter, Path(command[0]))
        version = (await printed_version(words))[0] if words else ""
        sources = sum(adapter.owns(path, backend.root) for path in backend.root.rglob("*"))
        about = (
            f"{sample.language}, {count(sources, 'file')}; {sample.name} is defined at {_shown_spot(sample.definition)}"
        )
        lacks = tuple(what for key, what in _MORE.items() if not _offers(backend, key))
        unit = backend.encoding.unit
        return Checked(
            adapter.name, "", "", version=version, sample=about, positions=unit, questions=tuple(questions),
            lacks=lacks,
        )  # fmt: skip
    finally:
        await running.close()


Question = Callable[[], Awaitable[str]]
"""Asks, and returns what to say about a right answer; raises WrongError or LspMcpError."""


class _Project:
    """The questions about one sample."""

    def __init__(self, backend: Backend, here: Here, sample: Sample) -> None:
        self._backend = backend
        self._here = here
        self._sample = sample
        self._status = ""  # of the last answer, if a gap hides something
        self.questions: list[tuple[str, str, Question]] = [
            ("definition", "definitionProvider", self._definition),
            ("references", "referencesProvider", self._references),
            ("outline", "documentSymbolProvider", self._outline),
            ("search by name", "workspaceSymbolProvider", self._name),
            ("rename preview", "renameProvider", self._rename),
            ("errors", "", self._errors),
        ]

    async def asked(self, title: str, capability: str, question: Question) -> Asked:
        """What comes of one question; `capability` is what a server announces that answers it."""
        offered = _offers(self._backend, capability)
        self._status = ""
        try:
            note = await question()
        except (WrongError, LspMcpError) as error:
            return Asked(title, "fails" if offered else "lacks", str(error))
        if self._status:
            return Asked(title, "incomplete", f"{note}; status: {self._status}")
        return Asked(title, "works", note)

    async def _definition(self) -> str:
        answer = await self._ask("read_symbol", symbols=[self._anchor(self._sample.use)])
        found = {_spot(one) for one in answer["symbols"] if "location" in one}
        if self._sample.target not in found:
            raise WrongError(f"the use at {_shown_spot(self._sample.use)} leads to {_listed(found)}")
        return _shown_spot(self._sample.target)

    async def _references(self) -> str:
        at = self._sample.use
        alone = await references(self._backend, self._backend.root / at[0], Point(at[1], at[2]))
        first = len(alone.places)
        answer = await self._ask("find_symbol_references_by_anchor", symbol_anchor=self._anchor(at))
        found = {_spot(one) for one in answer["references"]}
        self._compare(found)
        if first >= len(found):
            return f"all {len(found)}"
        return f"all {len(found)}, of which {self._backend.plugin.name} alone found {first} when it was first asked"

    async def _outline(self) -> str:
        file = self._sample.definition[0]
        answer = await self._ask("list_symbols_in_file", file_path=file)
        names = [one["name"] for one in _flat(answer["file_symbols"])]
        if not any(self._sample.outline in name for name in names):
            raise WrongError(f"{file} has {', '.join(names[:5]) or 'no symbols'}, and not {self._sample.outline}")
        return f"{count(len(names), 'symbol')} in {file}"

    async def _name(self) -> str:
        if not self._backend.plugin.adapter.searched_by_name:
            raise WrongError("it has no symbols that are looked for by name")
        answer = await self._ask("find_symbol_definitions_by_name", symbol_name=self._sample.name)
        found = {_spot(one) for one in answer["definitions"]}
        if self._sample.definition not in found:
            raise WrongError(f"{self._sample.name} is found at {_listed(found)}")
        return _shown_spot(self._sample.definition)

    async def _rename(self) -> str:
        anchor = self._anchor(self._sample.definition)
        answer = await self._ask("rename_symbol_by_anchor", symbol_anchor=anchor, new_name=_NEW_NAME, apply=False)
        found = {
            (file["file"], one["start_line"], one["start_character"])
            for file in answer["file_edits"]
            for one in file["edits"]
        }
        self._compare(found)
        return f"{count(len(found), 'place')} in {count(len({file for file, *_ in found}), 'file')}"

    async def _errors(self) -> str:
        file = self._sample.use[0]
        await self._ask("check")  # the state before
        path = self._backend.root / file
        path.write_text(path.read_text("utf-8") + self._sample.broken, "utf-8")
        for _ in range(_MOST_CHECKS):
            answer = await self._ask("check", path=file, all=True)
            told = [one for one in (*answer["new"], *answer["remaining"]) if one["location"]["file"] == file]
            if told or _SO_FAR not in answer["message"]:
                break
            await asyncio.sleep(_BETWEEN_CHECKS)  # it names no version, so nothing says which text it has checked
        if not told:
            raise WrongError(f"nothing was reported about a mistake put into {file}: {answer['message']}")
        return f"{told[0]['message'].partition(chr(10))[0]} ({file}:{told[0]['location']['line']})"

    def _compare(self, found: set[Spot]) -> None:
        """Raises WrongError if `found` are not the places of the symbol."""
        wanted = self._sample.places
        if wanted and found != wanted:
            more = f"; {_listed(found - wanted)} is not one" if found - wanted else ""
            raise WrongError(f"{len(found & wanted)} of {len(wanted)} places, without {_listed(wanted - found)}{more}")
        if self._sample.definition not in found:
            raise WrongError(f"the definition at {_shown_spot(self._sample.definition)} is not among {_listed(found)}")

    async def _ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool. Raises WrongError: an error, with its message."""
        call = ToolCall(self._here.flags, tool, arguments, as_json=True, terminal=False)
        outcome = await call.outcome(self._here, no_report)
        if outcome.out is None:
            raise WrongError(" ".join(outcome.err).removeprefix(f"{tool}: "))
        answer: dict[str, Any] = json.loads(outcome.out)
        if any(gap["hides"] for gap in answer["gaps"]):
            self._status = answer["status"]
        return answer

    def _anchor(self, at: Spot) -> str:
        file, line, character = at
        language = self._backend.plugin.adapter.language_of(Path(file))
        assert language
        return f"{language.scheme}://{file}#{line}:{character}"


def _offers(backend: Backend, capability: str) -> bool:
    """Whether the server announces it: by true, or by options, which may be empty."""
    return backend.capabilities.get(capability) not in (None, False)


def _spot(one: Mapping[str, Any]) -> Spot:
    place = one["location"]
    return place["file"], place["line"], place["character"]


def _flat(symbols: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    for one in symbols:
        yield one
        yield from _flat(one.get("children", ()))


def _shown_spot(at: Spot) -> str:
    return ":".join(map(str, at))


def _listed(spots: Iterable[Spot]) -> str:
    return ", ".join(map(_shown_spot, sorted(spots)[:3])) or "nothing"


def _shown(checked: Checked, *, as_json: bool) -> int:
    """Print it; the exit status."""
    if as_json:
        click.echo(json.dumps({"ok": checked.works, **asdict(checked)}, indent=2, ensure_ascii=False))
        return 0 if checked.works else 1
    version = f" {checked.version}" if checked.version else ""
    click.echo(f"{click.style(checked.adapter, bold=True)}{version}: {checked.title}")
    shown = {"adapter": checked.file, "command": checked.command, "sample": checked.sample}
    for key, value in shown.items():
        if value:
            click.echo(visible_lines(f"  {key}: {value}"))
    if checked.problem:
        click.echo(f"{click.style('✗', fg='red')} {visible_lines(checked.problem)}")
        click.echo(f"To fix it:\n  {checked.get}")
        return 1
    width = max(len(one.question) for one in checked.questions)
    for one in checked.questions:
        sign, color = _SIGNS[one.state]
        state = "" if one.state in ("works", "incomplete") else f"{one.state}: "
        click.echo(f"{click.style(sign, fg=color)} {one.question:{width}}  {visible_lines(state + one.note)}")
    if checked.lacks:
        click.echo(f"- not offered by this server: {', '.join(checked.lacks)}")
    done = sum(one.state in ("works", "incomplete") for one in checked.questions)
    click.echo(f"{done} of {len(checked.questions)} questions were answered as expected.")
    if not checked.works:
        click.echo(f"For your own adapter, see docs/adapters.md; files of yours are in {user_folder()}.")
    return 0 if checked.works else 1
