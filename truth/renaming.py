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

_WORDS = re.compile(r"\w+|\W")
_TAKEN = 0.5  # share of new names that something else has


def random_renames(
    session: Session, language: Language, live: Path, shadow: Path, graph: Graph, rng: random.Random
) -> Iterator[tuple[Answer, Outcome]]:
    """Rename random symbols to new names of the same length; every second time to one that something else has.

    Right: compilers and checkers say nothing new (for Go: `go build`, `go vet`, and `go test -run XXX`; for C and C++:
    the compiler, of each unit that includes what changed); no file has another change than the new name for the old;
    no variable of a function changes that has nothing to do with the symbol; and either the name changed at all places
    that the oracle has for the symbol and at none that it has for another, or, always if something else has the new
    name, the oracle, asked about the tree as it is now, sees the same symbols
    spelled at the same places as before, and the same types below each.
    Rightly refused: the same rename, made at exactly the places that the oracle has for the symbol, would not keep the
    code as it is; or the word is where the oracle does not read.
    """
    language.trouble(live, [])
    for symbol in symbols(graph, rng):
        is_taken = rng.random() < _TAKEN and language.compares
        name = (_taken(symbol, graph, rng) if is_taken else "") or language.new_name(symbol, graph, rng)
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
    moved: dict[Place, Place] = {}
    for file in changed:
        before = subprocess.check_output(["git", "show", f"HEAD:{file}"], cwd=live).decode()
        after = (live / file).read_bytes().decode()
        there = compared(file, before, after, symbol.name, name)
        if there is None:
            why = why or f"{file} has other changes than the name"
        else:
            places |= there[0]
            moved |= there[1]
    others = places - symbol.uses  # comments, code that the oracle does not read, and a mistake or a related symbol
    if foreign := sorted(graph.foreign_locals(symbol, others)):
        why = why or f"another variable is renamed, too: {', '.join(place.shown for place in foreign[:8])}"
    is_taken = name in graph.words
    differs = is_taken or moved or symbol.found or not symbol.uses <= places
    if not language.compares:
        left = symbol.uses - places
        why = why or (f"left as it is: {', '.join(place.shown for place in sorted(left)[:8])}" if left else "")
    elif differs or any(place in graph.at for place in others):
        now = language.graph(live)
        why = why or graph.same(now.moved(moved))
        if new := [error for error in now.broken if error not in graph.broken]:
            why = f"the oracle: {'; '.join(new[:3])}"
    if not why and (said := language.trouble(live, changed)):
        why = f"compilers and checkers: {said}"
    if not why:
        return Outcome(Verdict.CAUTIOUS if answer.hiding else Verdict.RIGHT)
    return Outcome(Verdict.FLAGGED if answer.hiding else Verdict.WRONG, f"{symbol.name} → {name}: {why}")


def compared(file: str, before: str, after: str, old: str, new: str) -> tuple[set[Place], dict[Place, Place]] | None:
    """Where `after` has the name `new` instead of `old`, in `before`; and what has another place, with that before.

    Both names may be written for one, as `old: new` or `old as new` (a property that is named like a variable, an
    import). None: the texts differ in something else. Parts of a name count, too, but not of a short one in other
    words.
    """
    texts = [text.removeprefix("\ufeff").split("\n") for text in (before, after)]
    if len(texts[0]) != len(texts[1]):
        return None
    parts = re.compile(rf"(?:(?<![^\W_])|(?<=\bExample)){new}(?![^\W_])" if len(new) < 4 else new)
    both = re.compile(rf"(?:{old}(:\s*| as ){new}|{new}(:\s*| as ){old})\b")
    already = re.compile(rf"{old}(?::\s*| as ){old}\b")  # two words: `fields: fields{…}`
    places: set[Place] = set()
    moved: dict[Place, Place] = {}
    for number, (was, now) in enumerate(zip(*texts, strict=True), 1):
        at = 0
        if was == now:
            continue
        for word in _WORDS.finditer(was):
            place = Place(file, number, word.start() + 1)
            found = _WORDS.match(now, at)
            pair = both.match(now, at) if word[0] == old and not already.match(was, word.start()) else None
            if pair:
                places.add(place)
                second = pair.end() - (len(new) if pair[1] else len(old))
                moved[Place(file, number, second + 1)] = place
                found = pair
            elif found and found[0] == new and word[0] == old:
                places.add(place)
            elif not found or parts.sub(old, found[0]) != parts.sub(old, word[0]):
                return None
            if at != word.start():
                moved[Place(file, number, at + 1)] = place
            at = found.end()
        if at != len(now):
            return None
    return places, moved


def _refused(language: Language, live: Path, shadow: Path, graph: Graph, symbol: Symbol, name: str) -> Outcome:
    """Whether the refusal was right: make the rename at the oracle's places, in a copy."""
    if symbol.outside:
        return Outcome(Verdict.RIGHT, "not ours")
    if graph.unread_places(symbol):
        return Outcome(Verdict.FLAGGED, "the word is where the oracle does not read")
    shutil.rmtree(shadow, ignore_errors=True)
    shutil.copytree(live, shadow, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    changed, moved = spelled(shadow, symbol, name)
    if said := language.trouble(shadow, changed):
        return Outcome(Verdict.FLAGGED, said)
    if not language.compares:
        return Outcome(Verdict.CAUTIOUS, f"{symbol.name} → {name} at {len(symbol.uses)} places compiles")
    after = language.graph(shadow)
    why = graph.same(after.moved(moved))
    new = [error for error in after.broken if error not in graph.broken]
    if why or new:
        return Outcome(Verdict.FLAGGED, (new or [why])[0])
    return Outcome(Verdict.CAUTIOUS, f"{symbol.name} → {name} at {len(symbol.uses)} places keeps the code as it is")


def spelled(folder: Path, symbol: Symbol, new: str) -> tuple[list[str], dict[Place, Place]]:
    """Write `new` at the places of `symbol`; the files, and what has another place, with that before."""
    old = symbol.name
    by_file: dict[str, list[Place]] = defaultdict(list)
    for place in symbol.uses:
        by_file[place.file].append(place)
    moved: dict[Place, Place] = {}
    for file, there in by_file.items():
        before = (folder / file).read_bytes().decode("utf-8-sig")
        lines = before.split("\n")
        for place in sorted(there, reverse=True):
            line, start = lines[place.line - 1], place.character - 1
            if line.startswith(old, start):
                written = symbol.forms.get(place, "{new}").format(old=old, new=new)
                lines[place.line - 1] = line[:start] + written + line[start + len(old) :]
        after = "\n".join(lines)
        (folder / file).write_bytes(after.encode())
        moved |= (compared(file, before, after, old, new) or (set(), {}))[1]
    return sorted(by_file), moved
