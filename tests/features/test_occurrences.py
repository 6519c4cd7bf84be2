"""Where a name stands that an answer does not have, in workspaces in which it stands nearly everywhere."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakes.bounded import bounded
from lsp_mcp.adapters import load_adapter
from lsp_mcp.evidence.identity import Identity
from lsp_mcp.evidence.occurrences import Claim, covered, occurrences
from lsp_mcp.gaps import Gap
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.text import Point, Span, Text

ROOT = Path("/w")
HOME = ROOT / "home.go"
SYMBOL = Identity("name", frozenset({(HOME, Point(1, 1))}))


class Everywhere:
    """A backend of files that have the name twice; it remembers which were read."""

    def __init__(self) -> None:
        self.read: list[Path] = []
        self.plugin = plugin_of(load_adapter("gopls"))
        self.documents = self
        self.words = SimpleNamespace(occurrences=self._words, that_can_mean=self._all)

    async def text(self, path: Path) -> Text:
        self.read.append(path)
        return Text("name name\n")

    async def _words(self, _: Path, text: Text, name: str) -> list[Span]:
        return text.words(name)

    async def _all(self, spans: Any, *_: object) -> Any:
        return spans


@bounded
async def test_of_too_many_places_the_first_are_looked_at_and_all_in_doubted_files() -> None:
    backend: Any = Everywhere()
    files = [ROOT / f"{number}.go" for number in range(1000)]
    claim = Claim("name", (HOME, Point(1, 1)), ())
    found, unread, unreadable = await occurrences(backend, claim, SYMBOL, files, None, {files[900]}, 20)
    assert backend.read == [*files[:10], files[900]]
    assert [place.path for place in found] == sorted((*files[:10], files[900]) * 2, key=files.index)
    assert unread == [path for path in files if path not in backend.read]
    assert not unreadable


@bounded
async def test_without_a_bound_every_file_is_read_for_what_the_answer_lacks() -> None:
    backend: Any = Everywhere()
    files = [ROOT / f"{number}.go" for number in range(1000)]
    has = {(path, Point(1, 1)) for path in files}
    claim = Claim("name", (HOME, Point(1, 1)), has, counts=lambda place: place.path != files[3])
    found, unread, unreadable = await occurrences(backend, claim, SYMBOL, files, None, (), None)
    assert [(place.path, place.span.start) for place in found] == [(p, Point(1, 6)) for p in files if p != files[3]]
    assert not unread
    assert not unreadable


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(lambda names: ROOT.joinpath(*names))


@given(st.lists(PATHS), st.lists(st.lists(PATHS)))
def test_a_gap_is_about_its_files_and_all_below_its_folders(files: list[Path], about: list[list[Path]]) -> None:
    gaps = [Gap("not_searched", "why", tuple(paths)) for paths in about]
    there = [re.escape(str(path)) for paths in about for path in paths]
    wanted = re.compile(rf"(?:{'|'.join(there)})(?:/|\Z)") if there else re.compile("(?!)")
    assert covered(gaps, files) == {path for path in files if wanted.match(str(path))}
