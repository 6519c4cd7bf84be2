"""The read-only questions: references, callers, subtypes, names."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

from graph import Graph, Place, Symbol
from sampling import spelled_at, symbols
from session import ALL, Answer, Session, place
from verdicts import Outcome, Verdict, judged

_CALLED = ("func", "method", "function")
_INNERMOST = re.compile(r"<[^<>]*>")
_NAMED = ("func", "method", "type", "localtype", "var", "const", "field", "function", "class", "enum")


def references(session: Session, graph: Graph, at: Place) -> tuple[Answer, Outcome]:
    """Ask for the references of what is spelled `at` a place.

    Right: every place that the oracle has for the symbol, in every package, test and system, and none but those and
    the places of its family (`Graph.family`: for a method of Go the methods that interfaces may relate it to). If two
    symbols are spelled there, as for an embedded field, the answer may be that for either, or for both.
    """
    answer = session.ask(
        "find_symbol_references_by_anchor", symbol_anchor=session.anchor(at), limit=ALL, include_code=False
    )
    return answer, references_outcome(answer, graph, at)


def references_outcome(answer: Answer, graph: Graph, at: Place) -> Outcome:
    """The verdict on an answer about what is spelled `at` a place of `graph`."""
    got = _inside(place(item) for item in answer.json.get("references", []))
    there = graph.at[at]
    allowed = graph.unknown(got).union(*(graph.family(symbol) for symbol in there))
    unread = graph.unread_places(there[0])
    outcomes = [
        judged(answer, got, graph.required(symbol), allowed, unread, symbol.elsewhere, symbol.has_unnamed)
        for symbol in there
    ]
    return min(outcomes, key=lambda outcome: list(Verdict).index(outcome.verdict))


def random_references(session: Session, graph: Graph, rng: random.Random) -> Iterator[tuple[Answer, Outcome]]:
    """References of random symbols of all kinds, asked at definitions and at uses."""
    for symbol in symbols(graph, rng, outside=rng.random() < 0.1):
        yield references(session, graph, spelled_at(symbol, rng))


def random_callers(session: Session, graph: Graph, rng: random.Random) -> Iterator[tuple[Answer, Outcome]]:
    """Callers of random functions and methods.

    Right: every place where the oracle sees a call of exactly this function, and no place that is not a use of it or of
    its family.
    """
    for symbol in symbols(graph, rng, lambda one: bool(one.calls) and one.kind in _CALLED):
        at = spelled_at(symbol, rng)
        if len(graph.at[at]) > 1:
            continue
        answer = session.ask("find_calls", symbol=session.anchor(at), limit=ALL)
        sites = _inside(
            place(site) for caller in answer.json.get("callers", []) for site in caller.get("call_sites", [])
        )
        unread = graph.unread_places(symbol)
        allowed = graph.family(symbol) | graph.unknown(sites)
        yield answer, judged(answer, sites, graph.required(symbol, calls=True), allowed, unread, (), symbol.has_unnamed)


def random_subtypes(session: Session, graph: Graph, rng: random.Random) -> Iterator[tuple[Answer, Outcome]]:
    """The types below random types; not those whose base is a parameter of a template, below which there is no type.

    Right: all types on package level, of the tree and not generic, that the oracle says implement the interface or
    derive from the class. Others (of dependencies, in functions, generic, interfaces themselves) may be there or not.
    """
    required_types = {one for symbol in graph.symbols.values() for one in symbol.subtypes}
    types = {where for id_ in required_types if id_ in graph.symbols for where in graph.symbols[id_].where}
    for symbol in symbols(graph, rng, lambda one: bool(one.subtypes) and one.kind != "typeparam"):
        at = rng.choice(sorted(symbol.where & symbol.uses))
        answer = session.ask("find_implementations", symbol=session.anchor(at), direction="down", limit=ALL)
        got = set(_all(answer.json.get("implementations", [])))
        wanted = [graph.symbols[id_] for id_ in symbol.subtypes if id_ in graph.symbols]
        # A type may be shown at any of its declarations.
        required = {next(iter(sorted(one.where & got or one.where))) for one in wanted}
        allowed = got - (types - {place for one in wanted for place in one.where} - symbol.where)
        # Where the oracle does not read, the name may be that of a base.
        yield answer, judged(answer, got, required, allowed, graph.unread_places(symbol))


def random_names(session: Session, graph: Graph, rng: random.Random) -> Iterator[tuple[Answer, Outcome]]:
    """Definitions by the name of random symbols that are not locals, alone or qualified by their type.

    Right: the definition is among the answers, preceded only by symbols of the same name. Names with more results than
    the limit are skipped. Rightly flagged: the name also occurs where the oracle does not read, and may be declared
    there; or the answer lacks another symbol of that name in the tree.
    """
    named = [symbol for symbol in graph.symbols.values() if symbol.kind in _NAMED]
    for symbol in symbols(graph, rng, lambda one: one.kind in _NAMED and bool(one.where & one.uses)):
        alike = [one for one in named if one.name == symbol.name]
        if len(alike) > 20:
            continue
        name = f"{symbol.owner}.{symbol.name}" if symbol.owner and rng.random() < 0.5 else symbol.name
        answer = session.ask("find_symbol_definitions_by_name", symbol_name=name, similar=True, limit=ALL)
        got = [(place(item), str(item["name"])) for item in answer.json.get("definitions", [])]
        shown = {at for at, _ in got}
        lacks = name == symbol.name and any(_inside(iter(one.where)) and not one.where & shown for one in alike)
        yield answer, _names_outcome(answer, got, symbol, lacks or bool(graph.unread_places(symbol)))


def _names_outcome(answer: Answer, got: list[tuple[Place, str]], symbol: Symbol, is_unread: bool) -> Outcome:
    places = [at for at, _ in got]
    found = [places.index(at) for at in symbol.where if at in places]
    wanted = min(symbol.where).shown
    if not found:
        flagged = Verdict.FLAGGED if answer.hiding else Verdict.WRONG
        return Outcome(Verdict.CAUTIOUS if answer.error else flagged, f"{wanted} is not among {len(got)} results")
    before = [name for _, name in got[: min(found)] if symbol.name not in _words(name)]
    if before:
        return Outcome(Verdict.WRONG, f"{wanted} stands behind {', '.join(before[:5])}")
    flagged = Verdict.FLAGGED if is_unread else Verdict.CAUTIOUS
    return Outcome(flagged if answer.hiding else Verdict.RIGHT, "the definition is there")


def _words(name: str) -> list[str]:
    """The parts of a qualified name, without template arguments."""
    while (shorter := _INNERMOST.sub("", name)) != name:
        name = shorter
    return name.partition("<")[0].replace("::", ".").split(".")


def _inside(places: Iterator[Place]) -> set[Place]:
    """Those in the tree: results in dependencies are not examined."""
    return {at for at in places if not at.file.startswith("/")}


def _all(nodes: list[dict[str, Any]], key: str = "implementations") -> Iterator[Place]:
    for node in nodes:
        at = place(node)
        if not at.file.startswith("/"):
            yield at
        yield from _all(node.get(key, []))
