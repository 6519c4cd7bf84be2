"""The tool `find_impact` of the toolset `code`: what a change affects, and unused symbols."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from lsp_mcp.backend import Backend, Scope
from lsp_mcp.errors import CallerError
from lsp_mcp.features.editing.source_files import source_files
from lsp_mcp.features.impact.changed_lines import Hunk, hunks, touched
from lsp_mcp.features.impact.impact import NO_CALLS, Impact, impact, is_exported, ranked
from lsp_mcp.features.impact.unused import Unused, unused
from lsp_mcp.gaps import Gap, news
from lsp_mcp.prose import count, first_few
from lsp_mcp.render.answers import ImpactReport, UnusedList
from lsp_mcp.render.elsewhere import OtherPlaces, together
from lsp_mcp.requests.asking import Answered, answer, ask_each
from lsp_mcp.requests.containers import Container, Containers
from lsp_mcp.requests.places import Place
from lsp_mcp.toolsets.answers import AnchorToolset, Code, Limit, as_list, capped
from lsp_mcp.toolsets.questions import PlacesCheck
from lsp_mcp.toolsets.symbols import SymbolTarget
from lsp_mcp.toolsets.test_commands import commands
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool
from lsp_mcp.wire.git import PLAIN_DIFF, git

_MOST_SYMBOLS = 20  # per call
_MOST_SEEN = 1_500  # functions examined for one symbol
_MOST_JUDGED = 3_000  # symbols examined for `unused`
_MOST_FILES = 2_000
_DIFF = ("diff", *PLAIN_DIFF, "--unified=0", "--relative", "HEAD", "--", ".")
_NEW = ("ls-files", "--others", "--exclude-standard", "-z", "--", ".")
_WHOLE = 1_000_000_000  # lines of a new file


class ImpactTools(AnchorToolset):
    """What a change affects."""

    @tool(title="Find the impact of a change", read_only=True, proven=True, parses=True)
    async def find_impact(
        self,
        call: Call,
        symbols: Annotated[
            list[str] | None,
            BeforeValidator(as_list),
            Field(
                max_length=_MOST_SYMBOLS,
                description="Names, FILE:LINE or anchors; default: those that git diff touches",
            ),
        ] = None,
        depth: Annotated[int, Field(ge=1, le=20, description="Calls to follow"), UNLISTED] = 8,
        unused: Annotated[bool, Field(description="Instead, list unused symbols below path")] = False,
        path: Annotated[str, Field(description="File or folder")] = ".",
        limit: Annotated[Limit, UNLISTED] = 50,
        include_code: Code = True,
        format: FormatChoice = None,
    ) -> str:
        """Find what a change to symbols affects: uses to edit, callers by folder, exported API, and
        the tests that reach it, nearest first, with the command that runs them."""
        if unused:
            return await self._unused(call, path, limit)
        changed: list[str] = []
        notes: list[Gap] = []
        if not symbols:
            symbols, notes = await self._changed(call, path)
            changed = symbols
        found: list[Impact] = []
        backends: list[Backend] = []
        gaps: list[Gap] = []
        others: list[OtherPlaces] = []
        for symbol in symbols:

            async def ask(target: SymbolTarget) -> Impact:
                return await impact(target.backend, target.path, target.identifier.start, depth, _MOST_SEEN)

            check = PlacesCheck[Impact](
                sites=lambda result: result.sites,
                joined=lambda result, checked: result.joined_by(checked.missing, checked.in_code),
                searched=lambda result: result.searched,
                apart=lambda result: result.apart,
            )
            answered = await self._questions.about_symbol(call, symbol, ask, places=_places, check=check)
            found.append(answered.value)
            there, unknown = await self._elsewhere.found(answered.target, "use")
            others += [there] if there else []
            backends.append(answered.target.backend)
            shared = await self._overloads(answered.target, answered.value.uses)
            uses = answered.value.uses
            more = await self._not_counted(answered.target, "uses", uses, is_alone=not uses)
            unnamed = await self._implied(answered.target)
            told = (*answered.gaps, *answered.value.gaps, *shared, *unknown, *more, *unnamed)
            gaps += [gap for gap in told if gap not in gaps]
        gaps += notes
        return self._report(call, found, backends, gaps, others, limit, with_code=include_code, of_diff=bool(changed))

    def _report(
        self,
        call: Call,
        found: Sequence[Impact],
        backends: Sequence[Backend],
        gaps: list[Gap],
        others: Sequence[OtherPlaces],
        limit: int,
        *,
        with_code: bool,
        of_diff: bool,
    ) -> str:
        uses = list({(use.path, use.span.start): use for one in found for use in one.uses}.values())
        functions = {(r.symbol.place.path, r.symbol.place.span.start): r for one in found for r in one.functions}
        tests = {(r.symbol.place.path, r.symbol.place.span.start): r for one in reversed(found) for r in one.tests}
        exported = {symbol.name: symbol for one in found for symbol in one.exported}
        through = {symbol.name: symbol for one in found for symbol in one.through}
        about = [one.symbol.place.path for one in found]
        order = ranked(tests.values(), about)
        names = first_few([one.symbol.name for one in found], 5)
        files = count(len({path for path, _ in tests}), "file")
        callers, reached = count(len(functions), "function"), f"{count(len(tests), 'test')} in {files}"
        message = f"{count(len(uses), 'use')} of {names}, reached from {callers} and {reached if tests else 'no test'}."
        if any(gap.about == NO_CALLS for gap in gaps):
            message = f"{count(len(uses), 'use')} of {names}."
        if not found:
            message = "Nothing that is uncommitted touches a symbol."
        elif of_diff:
            message = f"git diff touches {count(len(found), 'symbol')}. {message} {_risk(found, backends)}".rstrip()
        gaps += capped(min(limit, len(uses)), len(uses))
        root = self._sessions.workspace.root
        return self._render(
            call,
            ImpactReport(
                message=message,
                arguments=call.arguments,
                gaps=gaps,
                uses=sorted(uses, key=lambda use: (use.path, use.span.start))[:limit],
                functions=list(functions.values()),
                exported=list(exported.values()),
                through=list(through.values()),
                tests=order,
                elsewhere=together(others),
                commands=commands(order, about, backends[0].plugin, root) if backends else [],
                with_code=with_code,
            ),
        )

    # --- what git says -----------------------------------------------------------------------------

    async def _changed(self, call: Call, path: str) -> tuple[list[str], list[Gap]]:
        """Anchors of the symbols that uncommitted changes touch, and further remarks."""
        root = self._sessions.workspace.root
        only = self._existing(path)
        changed = hunks(await _git(root, *_DIFF))
        for name in (await _git(root, *_NEW)).split("\0"):
            if name:
                changed[name] = [Hunk(1, _WHOLE)]
        anchors: list[str] = []
        notes: list[Gap] = []
        for name, lines in sorted(changed.items()):
            file = root / name
            backend = next((one for one in self._sessions.backends if one.plugin.language_of(file)), None)
            if backend is None or not file.is_relative_to(only):
                continue
            if not file.is_file():
                notes.append(Gap("not_searched", f"not looked at: {name}, which changed and is not a regular file"))
                continue

            async def ask(file: Path = file, backend: Backend = backend) -> list[Container]:
                return await Containers(backend).known(file)

            answered = await answer(backend, ask, lambda _, file=file: Scope("text", file), report=call.report)  # type: ignore[misc]
            found = touched(answered.value, lines)
            self._targets.hand_out_readable(one.place for one in found)
            anchors += [self._targets.anchor(file, one.place.span.start) for one in found]
        if len(anchors) > _MOST_SYMBOLS:
            text = f"capped at {_MOST_SYMBOLS} of {len(anchors)} touched symbols; pass path, or symbols"
            notes.append(Gap("capped", text))
        return anchors[:_MOST_SYMBOLS], notes

    # --- what nothing uses -------------------------------------------------------------------------

    async def _unused(self, call: Call, path: str, limit: int) -> str:
        below = self._existing(path)
        every: list[Container] = []
        in_headers: list[Container] = []
        by_tests: list[Container] = []
        backends, gaps = await self._sessions.ready(call.report)
        exported: list[Container] = []
        implicit: list[str] = []
        checked = to_go = 0

        async def ask(backend: Backend) -> Answered[Unused]:
            files = await asyncio.to_thread(source_files, below, backend)
            if len(files) > _MOST_FILES:
                gaps.append(Gap("capped", f"capped at {_MOST_FILES:,} of {len(files):,} files; pass a smaller path"))
            word_check = self._sessions.word_checks.for_backend(backend)

            async def judged() -> Unused:
                return await unused(backend, word_check, files[:_MOST_FILES], _MOST_JUDGED)

            return await answer(backend, judged, lambda _: Scope(), report=call.report)

        answers, silent = await ask_each(backends, ask, last=True)
        gaps += silent
        for backend, answered in answers:
            result = answered.value
            every += result.unused
            in_headers += result.in_headers
            by_tests += result.by_tests
            checked += result.checked
            exported += result.exported
            implicit += result.implicit
            gaps += answered.gaps
            to_go += result.left_out + result.late
            if skipped := result.left_out + result.late:
                refused = sum(map(len, result.refused.values()))
                most = result.checked + len(result.unanswered) + refused + len(result.doubted)
                why, first = (" for lack of time", "ask again, which continues, or ") if result.late else ("", "")
                text = f"capped at {most:,} of {most + skipped:,} symbols{why}; {first}pass a smaller path"
                gaps.append(Gap("capped", text))
            gaps += self._not_judged(backend, result)
        self._targets.hand_out_readable(one.place for one in (*every, *in_headers, *by_tests, *exported))
        where = "in the workspace" if path == "." else f"below {path}"
        message = f"{count(len(every), 'unused symbol')} of {checked:,} examined {where}"
        message += f" ({to_go:,} to go)" if to_go else ""
        message += f", {len(in_headers):,} more that headers declare for other code too" if in_headers else ""
        message += f", and {len(by_tests):,} that only tests use." if by_tests else "."
        if exported:
            message += f" {count(len(exported), 'exported one')} without uses here may have some elsewhere."
        if implicit:
            names = first_few(sorted(dict.fromkeys(implicit), key=lambda name: name.lower().startswith("test")))
            message += f" Not judged: {len(implicit):,} that are used without being named ({names})."
        lists: dict[str, list[Container]] = {}
        room = limit
        named = {
            "unused": every,
            "unused_in_headers": in_headers,
            "used_by_tests_only": by_tests,
            "unused_exported": exported,
        }
        for field, found in named.items():
            lists[field] = found[:room]
            room -= len(lists[field])
        gaps += capped(limit - room, len(every) + len(in_headers) + len(by_tests) + len(exported))
        return self._render(
            call,
            UnusedList(
                message=message,
                arguments=call.arguments,
                gaps=gaps,
                lists={field: found for field, found in lists.items() if found},
            ),
        )

    def _not_judged(self, backend: Backend, result: Unused) -> list[Gap]:
        """The gaps for symbols of which it is not known whether they are used."""
        gaps: list[Gap] = []
        if result.unanswered:
            named = first_few(list(dict.fromkeys(one.name for one in result.unanswered)))
            files = sorted({one.place.path for one in result.unanswered})
            text = f"not judged, as {backend.plugin.name} did not answer: {named}; ask again"
            gaps.append(Gap("not_read", text, tuple(files)))
        for reason, ones in result.refused.items():
            named = first_few(list(dict.fromkeys(one.name for one in ones)))
            text = f"not judged, as {reason}: {named}"
            gaps.append(Gap("not_read", text, tuple(sorted({one.place.path for one in ones}))))
        if result.doubted:
            named = first_few(list(dict.fromkeys(one.name for one in result.doubted)), 5)
            doubts = sorted(result.doubts)
            places = first_few([self._sessions.workspace.display_path(path) for path in doubts])
            text = f"not judged, as {places} may use them: {named}"
            gaps.append(Gap("unverified", text, tuple(doubts)))
        if result.unread:
            text = f"nothing declared in {count(len(result.unread), 'file')}, as far as {backend.plugin.name} says"
            gaps.append(news("setup", text, files=result.unread))
        return gaps


def _risk(found: Sequence[Impact], backends: Sequence[Backend]) -> str:
    """What of a diff needs a closer look, as a sentence; empty if there is nothing."""
    judged = list(zip(found, backends, strict=True))
    public = [one.symbol.name for one, of in judged if is_exported(of, one.symbol.name, one.symbol.place)]
    outside = [one.symbol.name for one in found if any(_is_outside(one, use) for use in one.uses)]
    untested = [one.symbol.name for one in found if one.uses and not one.tests]
    named = {"public": public, "used in other folders": outside, "reached by no test": untested}
    risks = [f"{what}: {first_few(names)}" for what, names in named.items() if names]
    return f"Risk: {'; '.join(risks)}." if risks else ""


def _is_outside(one: Impact, use: Place) -> bool:
    return use.path.parent != one.symbol.place.path.parent


def _places(found: Impact) -> Iterator[Place]:
    yield from found.uses
    yield from (one.symbol.place for one in (*found.functions, *found.tests))
    yield from (one.place for one in (found.symbol, *found.through))


async def _git(root: Path, *arguments: str) -> str:
    code, said = await git(root, *arguments)
    if code:
        raise CallerError(f"git diff failed in {root}: {said.strip()[:200]}; pass symbols")
    return said
