"""Renames that are written, checked, and undone: `random_renames`."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from graph import Graph, Place, Symbol
from language import Language
from sampling import spelled_at, symbols
from session import Answer, Session
from sources import git
from verdicts import Outcome, Verdict

_TAKEN = 0.5  # share of new names that something else has


def random_renames(
    session: Session, language: Language, live: Path, shadow: Path, graph: Graph, rng: random.Random
) -> Iterator[tuple[Answer, Outcome]]:
    """Rename random symbols to new names of the same length; every second time to one that something else has.

    Right: compilers and checkers say nothing new (for Go: `go build`, `go vet`, and `go test -run XXX`; for C and C++:
    the compiler, of each unit that includes what changed); no file has another change than the new name for the old;
    and either the name changed at all places that the oracle has for the symbol and at none that it has for another,
    or, always if something else has the new name, the oracle, asked about the tree as it is now, sees the same symbols
    spelled at the same places as before, and the same types below each.
    Rightly refused: the same rename, made at exactly the places that the oracle has for the symbol, would not keep the
    code as it is; or the word is where the oracle does not read.
    """
    language.trouble(live, [])
    for symbol in symbols(graph, rng):
        name = (_taken(symbol, graph, rng) if rng.random() < _TAKEN else "") or language.new_name(symbol, graph, rng)
        at = spelled_at(symbol, rng)
        if not name or len(graph.at[at]) > 1:
            continue
        answer = session.ask("rename_symbol_by_anchor", symbol_anchor=session.anchor(at), new_name=name)
        if answer.error:
            yield answer, _refused(language, live, shadow, graph, symbol, name)
            continue
        yield answer, _applied(answer, language, live, graph, symbol, name)
        git(live, "checkout", "-q", "--", ".")
        git(live, "clean", "-fdq")


def _taken(symbol: Symbol, graph: Graph, rng: random.Random) -> str:
    """A name as long as that of `symbol`, and as visible, that something else has; "" if there is none."""
    name, fits = symbol.name, re.compile(r"(?!main$|init$)[A-Za-z]\w*", re.ASCII)
    others = {one.name for one in graph.symbols.values() if not one.outside and fits.fullmatch(one.name)}
    same = [one for one in others if len(one) == len(name) and one[0].isupper() == name[0].isupper() and one != name]
    return rng.choice(sorted(same)) if same and fits.fullmatch(name) else ""


def _applied(answer: Answer, language: Language, live: Path, graph: Graph, symbol: Symbol, name: str) -> Outcome:
    changed = git(live, "diff", "--name-only").split()
    why = "" if changed else "no file has changed"
    places: set[Place] = set()
    for file in changed:
        before = subprocess.check_output(["git", "show", f"HEAD:{file}"], cwd=live).decode()
        after = (live / file).read_bytes().decode()
        if not _only_renamed(before, after, symbol.name, name):
            why = why or f"{file} has other changes than the name"
        places.update(_spelled_at(file, before, after, symbol.name, name))
    others = places - symbol.uses  # comments, code that the oracle does not read, and a mistake or a related symbol
    is_taken = name in graph.words
    if is_taken or symbol.found or not symbol.uses <= places or any(place in graph.at for place in others):
        now = language.graph(live)
        why = why or graph.same(now)
        if new := [error for error in now.broken if error not in graph.broken]:
            why = f"the oracle: {'; '.join(new[:3])}"
    if not why and (said := language.trouble(live, changed)):
        why = f"compilers and checkers: {said}"
    if not why:
        return Outcome(Verdict.CAUTIOUS if answer.hiding else Verdict.RIGHT)
    return Outcome(Verdict.FLAGGED if answer.hiding else Verdict.WRONG, f"{symbol.name} → {name}: {why}")


def _spelled_at(file: str, before: str, after: str, old: str, new: str) -> Iterator[Place]:
    """The places where `after` has the name `new` and `before`, as long, has `old`."""
    texts = zip(before.removeprefix("\ufeff").split("\n"), after.removeprefix("\ufeff").split("\n"), strict=False)
    for number, (was, is_now) in enumerate(texts, 1):
        if was != is_now:
            for found in re.finditer(rf"\b{new}\b", is_now):
                if was.startswith(old, found.start()):
                    yield Place(file, number, found.start() + 1)


def _only_renamed(before: str, after: str, old: str, new: str) -> bool:
    """Whether the texts differ only in the name, also in names made of it; a short one may be in any other word."""
    short = rf"(?:(?<![^\W_])|(?<=\bExample)){new}(?![^\W_])" if len(new) < 4 else new
    return re.sub(short, old, before) == re.sub(short, old, after)


def _refused(language: Language, live: Path, shadow: Path, graph: Graph, symbol: Symbol, name: str) -> Outcome:
    """Whether the refusal was right: make the rename at the oracle's places, in a copy."""
    if symbol.outside:
        return Outcome(Verdict.RIGHT, "not ours")
    if graph.unread_places(symbol):
        return Outcome(Verdict.FLAGGED, "the word is where the oracle does not read")
    shutil.rmtree(shadow, ignore_errors=True)
    shutil.copytree(live, shadow, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    changed = spelled(shadow, symbol.uses, symbol.name, name)
    if said := language.trouble(shadow, changed):
        return Outcome(Verdict.FLAGGED, said)
    after = language.graph(shadow)
    why = graph.same(after)
    new = [error for error in after.broken if error not in graph.broken]
    if why or new:
        return Outcome(Verdict.FLAGGED, (new or [why])[0])
    return Outcome(Verdict.CAUTIOUS, f"{symbol.name} → {name} at {len(symbol.uses)} places keeps the code as it is")


def spelled(folder: Path, places: frozenset[Place], old: str, new: str) -> list[str]:
    """Write `new` for `old` at `places`; the files."""
    by_file: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        by_file[place.file].append(place)
    for file, there in by_file.items():
        lines = (folder / file).read_bytes().decode("utf-8-sig").split("\n")
        for place in sorted(there, reverse=True):
            line, start = lines[place.line - 1], place.character - 1
            if line.startswith(old, start):
                lines[place.line - 1] = line[:start] + new + line[start + len(old) :]
        (folder / file).write_bytes("\n".join(lines).encode())
    return sorted(by_file)
