"""Layers and circles of what depends on what: `layers`, `circles`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TypeVar

Part = TypeVar("Part", bound=str)
Edges = Mapping[str, Set[str]]
"""What each part depends on."""


def circles(edges: Edges) -> list[list[str]]:
    """The groups of parts that depend on each other, through others too, each sorted; the largest first."""
    return sorted((sorted(group) for group in _groups(edges) if len(group) > 1), key=lambda one: (-len(one), one))


def layers(edges: Edges) -> list[list[str]]:
    """The parts by layer, each sorted: those of the first depend on no other, those of the next only on earlier ones.

    Parts of a circle are in one layer.
    """
    level: dict[str, int] = {}
    for group in _groups(edges):  # what a group depends on comes before it
        below = {other for part in group for other in edges.get(part, ()) if other not in group}
        level |= dict.fromkeys(group, 1 + max((level[other] for other in below), default=-1))
    found: dict[int, list[str]] = {}
    for part, number in level.items():
        found.setdefault(number, []).append(part)
    return [sorted(found[number]) for number in sorted(found)]


def _groups(edges: Edges) -> list[set[str]]:
    """The strongly connected components, those that others depend on first (Tarjan's algorithm, without recursion)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    found: list[set[str]] = []
    parts = sorted({*edges, *(other for others in edges.values() for other in others)})
    for first in parts:
        if first in number:
            continue
        stack = [(first, iter(sorted(edges.get(first, ()))))]
        number[first] = lowest[first] = len(number)
        path.append(first)
        on_path.add(first)
        while stack:
            part, others = stack[-1]
            for other in others:
                if other not in number:
                    number[other] = lowest[other] = len(number)
                    path.append(other)
                    on_path.add(other)
                    stack.append((other, iter(sorted(edges.get(other, ())))))
                    break
                if other in on_path:
                    lowest[part] = min(lowest[part], number[other])
            else:
                stack.pop()
                if stack:
                    lowest[stack[-1][0]] = min(lowest[stack[-1][0]], lowest[part])
                if lowest[part] == number[part]:
                    at = path.index(part)
                    found.append(set(path[at:]))
                    on_path.difference_update(path[at:])
                    del path[at:]
    return found
