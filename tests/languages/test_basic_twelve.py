"""What every tested server must do, the same for each language: `samples/*.txtar` has a small project of each.

An answer that lacks something is right only if its status says so.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from archives.workspaces import CallTool, direct
from languages.sample import Sample
from lsp_mcp.errors import LspMcpError, MissingProgramError

SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.txtar"))
TIMEOUT = 120.0  # seconds for one test


class Project:
    """A sample in a folder, and the program that answers about it."""

    def __init__(self, path: Path, root: Path, runner: asyncio.Runner) -> None:
        self.sample = Sample(path)
        self.root = root
        self._runner = runner
        self._call: CallTool | None = None

    async def open(self, stack: AsyncExitStack) -> None:
        """Start the server, in the project of the beginning."""
        self.sample.write(self.root)
        self._call = await stack.enter_async_context(direct(self.sample.backend)(self.root))

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool."""
        assert self._call
        call = self._call(tool, {**arguments, "format": "json"})
        answer = self._runner.run(asyncio.wait_for(_awaited(call), TIMEOUT))
        return dict(json.loads(answer))

    def uses(self, mark: str) -> tuple[list[tuple[str, int, int]], str]:
        """The references of the symbol at `mark`, and what may hide more; empty if the answer is called complete."""
        answer = self.ask("find_symbol_references_by_anchor", symbol_anchor=self.sample.anchor(mark))
        return sorted(map(place, answer["references"])), hidden(answer)


async def _awaited(call: Awaitable[str]) -> str:
    return await call


def place(found: dict[str, Any]) -> tuple[str, int, int]:
    location = found["location"]
    return location["file"], location["line"], location["character"]


def hidden(answer: dict[str, Any]) -> str:
    return str(answer["status"]) if any(gap["hides"] for gap in answer["gaps"]) else ""


@pytest.fixture(scope="module", params=SAMPLES, ids=lambda path: path.stem)
def opened(request: pytest.FixtureRequest) -> Iterator[Project]:
    """One session for all questions about a language."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        project = Project(request.param, Path(folder).resolve(), runner)
        try:
            direct(project.sample.backend)
        except MissingProgramError as error:
            pytest.skip(f"{project.sample.backend}: {error}")
        stack = AsyncExitStack()
        runner.run(project.open(stack))
        try:
            yield project
        finally:
            runner.run(stack.aclose())


@pytest.fixture
def project(opened: Project) -> Project:
    """The session, with the files of the beginning again: other programs have written them."""
    opened.sample.write(opened.root)
    return opened


def test_the_first_question_has_all_uses_in_files_that_nobody_opened(project: Project) -> None:
    assert project.uses("greet") == (project.sample.places("greet"), "")


def test_a_use_leads_to_all_uses(project: Project) -> None:
    assert project.uses("greet_2") == (project.sample.places("greet"), "")


def test_a_use_leads_to_the_definition(project: Project) -> None:
    answer = project.ask("read_symbol", symbols=[project.sample.anchor("greet_2")])
    assert [place(one) for one in answer["symbols"]] == [project.sample.at("greet")]


def test_a_name_leads_to_the_definition(project: Project) -> None:
    answer = project.ask("find_symbol_definitions_by_name", symbol_name="greet")
    found = [one for one in answer["definitions"] if one["name"] == "greet"]  # servers add similar names
    assert [place(one) for one in found] == [project.sample.at("greet")]
    assert answer["definitions"][0] == found[0]


def test_the_outline_of_a_file_has_its_symbols(project: Project) -> None:
    answer = project.ask("list_symbols_in_file", file_path=project.sample.at("greet")[0])
    assert sorted(one["name"] for one in answer["file_symbols"]) == project.sample.names("outline")


def test_callers_are_found_in_all_files(project: Project) -> None:
    if not (callers := project.sample.names("callers")):
        with pytest.raises(LspMcpError):
            project.ask("find_calls", symbol=project.sample.anchor("greet"))
        return
    answer = project.ask("find_calls", symbol=project.sample.anchor("greet"))
    assert sorted(one["name"] for one in answer["callers"]) == callers
    assert hidden(answer) == ""


def test_a_character_beyond_16_bits_moves_no_column(project: Project) -> None:
    assert project.uses("greet_emoji") == (project.sample.places("greet"), "")


def test_a_file_that_another_program_changes_is_read_again(project: Project) -> None:
    assert project.uses("greet")[0] == project.sample.places("greet")
    project.sample.stage("changed")
    assert project.uses("greet") == (project.sample.places("greet"), "")


def test_a_file_that_another_program_creates_is_found(project: Project) -> None:
    before = project.sample.places("greet")
    assert project.uses("greet")[0] == before
    project.sample.stage("later")
    assert project.uses("greet") == (project.sample.places("greet"), "")
    assert len(project.sample.places("greet")) > len(before)


def test_a_file_that_another_program_deletes_is_forgotten(project: Project) -> None:
    file = project.sample.stage("later")
    assert project.uses("greet")[0] == project.sample.places("greet")
    project.sample.delete(file)
    found, _ = project.uses("greet")
    assert found == project.sample.places("greet")


def test_uses_in_code_that_does_not_parse_are_found_or_missed_openly(project: Project) -> None:
    broken = project.sample.stage("broken")
    found, gaps = project.uses("greet")
    places = project.sample.places("greet")
    assert [one for one in found if one[0] != broken] == [one for one in places if one[0] != broken]
    assert set(found) <= set(places)
    assert gaps or found == places


def test_an_anchor_is_followed_through_the_changes_of_another_program(project: Project) -> None:
    file, anchor = project.sample.at("greet")[0], project.sample.anchor("greet")
    assert project.uses("greet")[0] == project.sample.places("greet")
    project.sample.push_down(file)
    answer = project.ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
    assert sorted(map(place, answer["references"])) == project.sample.places("greet")


def test_types_below_a_type_are_found(project: Project) -> None:
    if not (below := project.sample.names("subtypes")):
        with pytest.raises(LspMcpError):
            project.ask("find_implementations", symbol="Greeter")
        return
    answer = project.ask("find_implementations", symbol="Greeter")
    assert sorted(one["name"] for one in answer["implementations"]) == below
    assert hidden(answer) == ""


def test_what_a_change_affects_is_known_or_said_not_to_be(project: Project) -> None:
    answer = project.ask("find_impact", symbols=["greet"])
    uses = [one for one in project.sample.places("greet") if one != project.sample.at("greet")]
    assert sorted(map(place, answer["uses"])) == uses
    exported = {*project.sample.names("callers")} - {*project.sample.names("private")}
    assert sorted(one["name"] for one in answer["exported"]) == sorted(exported)
    assert bool(hidden(answer)) == (not project.sample.names("callers"))


def test_an_edit_and_a_check_tell_what_it_breaks_in_files_that_nobody_opened(project: Project) -> None:
    project.ask("check")
    source = project.ask("read_symbol", symbols=["greet"])["symbols"][0]
    old, new = project.sample.breaks
    code, known = source["text"].replace(old, new), source["hash"]
    edited = project.ask("edit_symbol", symbol="greet", action="replace", code=code, expect=known)
    broken = project.sample.names("broken")
    assert sorted({one["location"]["file"] for one in edited["new"]}) == broken
    assert new in (project.root / project.sample.at("greet")[0]).read_text("utf-8")
    checked = project.ask("check", all=True)
    assert sorted({one["location"]["file"] for one in (*checked["new"], *checked["remaining"])}) == broken
    assert bool(hidden(checked)) == (not broken)


def test_a_rename_changes_every_use_and_no_line_end(project: Project) -> None:
    expected = project.sample.renamed("greet", "hail")
    assert any(b"\r\n" in data for data in expected.values())
    if "rename" in project.sample.lacks:
        with pytest.raises(LspMcpError):
            project.ask("rename_symbol_by_anchor", symbol_anchor=project.sample.anchor("greet"), new_name="hail")
        return
    project.ask("rename_symbol_by_anchor", symbol_anchor=project.sample.anchor("greet"), new_name="hail")
    assert {file: (project.root / file).read_bytes() for file in expected} == expected


def test_each_use_names_the_function_around_it(project: Project) -> None:
    answer = project.ask("find_symbol_references_by_anchor", symbol_anchor=project.sample.anchor("greet"))
    around = sorted(one["container"] for one in answer["references"] if "container" in one)
    assert around == project.sample.names("callers")  # none in a language without a grammar
