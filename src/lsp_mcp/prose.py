"""Parts of sentences: counts and shortened lists."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 reference`, `1,204 references`; `2 switches` with a plural of its own."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def first_few(names: Sequence[str], most: int = 3) -> str:
    """`a, b, c and 1,201 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def and_list(words: Sequence[str]) -> str:
    """`a`, `a and b`, or `a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
