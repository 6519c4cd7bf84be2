"""Anchors used again after edits: `random_anchors`."""

from __future__ import annotations

import itertools
import json
import random
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graph import Graph, Place, Symbol
from language import Language
from reading import references_outcome
from session import ALL, Answer, Session
from session import place as place_of
from verdicts import Outcome, Verdict

_SYMBOLS = 4  # anchors used in each file
_FILES = 3


@dataclass
class _Line:
    """A line that keeps its identity while lines around it are added and removed."""

    text: str
    number: int


@dataclass
class _Handed:
    """An anchor that was handed out, and its line."""

    anchor: Place
    line: _Line


def random_anchors(
    session: Session, language: Language, live: Path, shadow: Path, graph: Graph, rng: random.Random
) -> Iterator[tuple[Answer, Outcome, list[str]]]:
    """Let the program hand out anchors, edit the files, and ask with the old anchors.

    Edits insert comments between declarations and at the ends of lines, delete unused functions, and, where order does
    not matter, move declarations. Right: an answer about the symbol of that line, at its present place
    (`reading.references`), or a refusal if the line is gone. A refusal for an existing symbol is too cautious; an
    answer about another one without a warning is wrong.
    """
    files = _files(graph, rng)
    shutil.rmtree(shadow, ignore_errors=True)
    shutil.copytree(live, shadow, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for file in itertools.cycle(files):
        lines = [_Line(text, 0) for text in (live / file).read_bytes().decode().split("\n")]
        handed: list[_Handed] = []
        steps: list[str] = []
        for _ in range(3):
            _hand_out(session, graph, file, lines, handed, rng)
            for _ in range(rng.randint(1, 3)):
                steps.append(_edited(lines, graph, file, language, rng))
                _write(shadow / file, lines)
                graph = language.graph(shadow)
            _write(live / file, lines)
            shown: set[Place] = set()  # handed out again, by these answers
            for one in rng.sample(handed, min(_SYMBOLS, len(handed))):
                if one.anchor in shown:
                    continue
                answer = session.ask(
                    "find_symbol_references_by_anchor",
                    symbol_anchor=session.anchor(one.anchor), limit=ALL, include_code=False,
                )  # fmt: skip
                shown.update(place_of(item) for item in answer.json.get("references", []))
                yield answer, _outcome(answer, graph, one, lines, file), steps


def _outcome(answer: Answer, graph: Graph, one: _Handed, lines: list[_Line], file: str) -> Outcome:
    now = next((number for number, line in enumerate(lines, 1) if line is one.line), 0)
    if not now:
        if answer.error:
            return Outcome(Verdict.FLAGGED, "its line is gone")
        return Outcome(Verdict.HINTED if answer.remarks else Verdict.WRONG, f"{one.anchor.shown} is gone")
    at = Place(file, now, one.anchor.character)
    if at not in graph.at:
        return Outcome(Verdict.FLAGGED if answer.error else Verdict.RIGHT, "the oracle has nothing there")
    outcome = references_outcome(answer, graph, at)
    return Outcome(outcome.verdict, f"{one.anchor.shown} is at {at.shown} now; {outcome.why}")


def _files(graph: Graph, rng: random.Random) -> list[str]:
    """Files with some symbols."""
    count: dict[str, int] = defaultdict(int)
    for symbol in graph.symbols.values():
        for place in symbol.where & symbol.uses:
            count[place.file] += symbol.kind not in ("local", "label")
    many = sorted(file for file, symbols in count.items() if symbols > 8)
    return rng.sample(many, min(_FILES, len(many)))


def _hand_out(
    session: Session, graph: Graph, file: str, lines: list[_Line], handed: list[_Handed], rng: random.Random
) -> None:
    """Ask for the outline, and for the references of a symbol: their places are handed out.

    An outline may lack what types inside functions, or without a name, declare.
    """
    outline = json.dumps(session.ask("list_symbols_in_file", file_path=file, limit=ALL, include_code=False).json)
    there = [symbol for symbol in graph.symbols.values() if any(place.file == file for place in symbol.where)]
    outlined = [one for one in there if one.kind not in ("local", "label", "typeparam", "param")]
    for symbol in _some(outlined, rng, 6):
        listed = [place for place in symbol.where if place.file == file and f'"{session.anchor(place)}"' in outline]
        handed += [_Handed(place, lines[place.line - 1]) for place in listed]
    for symbol in _some(there, rng, 2):
        at = rng.choice(sorted(place for place in symbol.where))
        session.ask("find_symbol_references_by_anchor", symbol_anchor=session.anchor(at), limit=ALL)
        uses = sorted(place for place in symbol.uses if place.file == file)
        handed += [_Handed(place, lines[place.line - 1]) for place in rng.sample(uses, min(2, len(uses)))]


def _some(these: list[Symbol], rng: random.Random, most: int) -> list[Symbol]:
    return rng.sample(sorted(these, key=lambda one: one.id), min(most, len(these)))


def _blocks(lines: list[_Line]) -> list[tuple[int, int]]:
    """The top-level declarations that end with a line `}`: from after an empty line, end exclusive."""
    found = []
    start = 0
    for number, line in enumerate(lines):
        if not line.text.strip():
            start = number + 1
        elif line.text.startswith("}") and lines[start].text[:1].strip() and not lines[start].text.startswith("}"):
            found.append((start, number + 1))
            start = number + 1
    return found


def _edited(lines: list[_Line], graph: Graph, file: str, language: Language, rng: random.Random) -> str:
    """Change `lines`; returns a description."""
    blocks = _blocks(lines)
    dice = rng.random()
    if not blocks:
        return "nothing"
    start, end = rng.choice(blocks)
    where = f"the declaration that ends at {file}:{end}"
    if dice < 0.35:
        count = rng.randint(1, 5)
        lines[start:start] = [_Line("// one more", 0) for _ in range(count)] + [_Line("", 0)]
        return f"insert {count} lines `// one more` and an empty one above {where}"
    if dice < 0.55:
        for line in lines[start:end]:
            if line.text.endswith(("{", ";", ")")) and not line.text.startswith("#"):
                line.text += " // said"
        return f"append ` // said` to lines of {where}"
    if language.reorders and dice < 0.8:
        moved = lines[start:end]
        del lines[start:end]
        lines += [_Line("", 0), *moved, _Line("", 0)]
        return f"move {where} to the end"
    own = [one for one in graph.symbols.values() if any(p.file == file and start < p.line <= end for p in one.where)]
    if all(place.file == file and start < place.line <= end for one in own for place in one.uses):
        del lines[start:end]
        return f"delete {where}"
    lines.insert(start, _Line("// above", 0))
    return f"insert `// above` above {where}"


def _write(path: Path, lines: list[_Line]) -> None:
    path.write_bytes("\n".join(line.text for line in lines).encode())
