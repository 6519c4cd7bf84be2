"""Choosing symbols at random, with all kinds equally likely."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator

from graph import Graph, Place, Symbol


def anything(_: Symbol) -> bool:
    """Every symbol will do."""
    return True


def symbols(
    graph: Graph, rng: random.Random, fits: Callable[[Symbol], bool] = anything, *, outside: bool = False
) -> Iterator[Symbol]:
    """Symbols, endlessly, kind after kind; more of those with several uses, which are the harder questions."""
    strata: dict[tuple[str, bool], list[Symbol]] = defaultdict(list)
    for one in sorted(graph.symbols.values(), key=lambda symbol: symbol.id):
        if one.outside <= outside and one.uses and fits(one):  # one of a comment has none
            strata[one.kind, one.generic].append(one)
            if len(one.uses) > 2:
                strata[one.kind, one.generic] += [one] * 3
    if not strata:
        return
    while True:
        for stratum in rng.sample(sorted(strata), len(strata)):
            yield rng.choice(strata[stratum])


def spelled_at(symbol: Symbol, rng: random.Random) -> Place:
    """A place of the symbol: every third time its definition."""
    definitions = sorted(symbol.uses & symbol.where)
    if definitions and rng.random() < 0.34:
        return rng.choice(definitions)
    return rng.choice(sorted(symbol.uses))
