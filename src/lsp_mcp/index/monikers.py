"""SCIP's names of symbols: `SCHEME MANAGER PACKAGE VERSION DESCRIPTORS`. Pure.

A space within a part is doubled, and `.` stands for an empty part. Two repositories name one symbol alike but for the
version, so `key` leaves that out.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

_PARTS = re.compile(r"((?:[^ ]|  )*) ")
_SIMPLE = re.compile(r"[A-Za-z0-9_+\-$]+")
_NAME = r"(?:`(?:[^`]|``)+`|[\w+\-$]+)"
_DESCRIPTOR = re.compile(
    rf"(?P<name>{_NAME})(?P<suffix>[/#.:!]|\([\w+\-$]*\)\.)|\[(?P<type>{_NAME})\]|\((?P<arg>{_NAME})\)"
)
_IMPLEMENTATION = "impl"
_KINDS = {"#": "type", ".": "variable", "/": "namespace", ":": "meta", "!": "macro"}


class Moniker(NamedTuple):
    """A symbol that other repositories can name; `descriptors` are still as spelled."""

    scheme: str
    manager: str
    package: str
    version: str
    descriptors: str

    @property
    def identity(self) -> str:
        """Everything but the version."""
        return identity(self.scheme, self.manager, self.package, self.descriptors)


def identity(scheme: str, manager: str, package: str, descriptors: str) -> str:
    """What names one symbol in all repositories, whatever the version."""
    return f"{scheme} {manager} {package} {descriptors}"


def key(identity: str) -> int:
    """A number of 63 bits by which a symbol is found; the store compares the `identity` too."""
    return int.from_bytes(hashlib.blake2b(identity.encode(), digest_size=8).digest(), "big") >> 1


def parse(symbol: str) -> Moniker | None:
    """The parts of a symbol; None if it is local to its document or has not this form."""
    if symbol.startswith("local "):
        return None
    parts, at = [], 0
    for _ in range(4):
        found = _PARTS.match(symbol, at)
        if not found:
            return None
        part = found[1].replace("  ", " ")
        parts.append("" if part == "." else part)
        at = found.end()
    scheme, manager, package, version = parts
    return Moniker(scheme, manager, package, version, symbol[at:]) if symbol[at:] else None


def escaped(name: str) -> str:
    """`name` as a descriptor spells it: in backquotes unless it has only letters, digits and `_+-$`."""
    return name if _SIMPLE.fullmatch(name) else f"`{name.replace('`', '``')}`"


class Described(NamedTuple):
    """The names in descriptors: `path` of the namespaces, `names` of types and members, the last one's kind."""

    path: str
    names: tuple[str, ...]
    kind: str


def described(descriptors: str) -> Described | None:
    """The names in `descriptors`; None for parameters and for what has not this form.

    A member of `impl#[Type][Trait]`, rust-analyzer's form, is one of `Type`.
    """
    path: list[str] = []
    names: list[str] = []
    kind, at = "", 0
    while at < len(descriptors):
        found = _DESCRIPTOR.match(descriptors, at)
        if not found or found["arg"] or (found["type"] and (found.end() == len(descriptors) or not names)):
            return None
        at = found.end()
        if found["type"]:
            if names[-1] == _IMPLEMENTATION and kind == "type":
                names[-1] = _plain(_unquoted(found["type"]))
            continue
        kind = _KINDS.get(found["suffix"], "function")
        if kind == "function" and names:
            kind = "method"
        (path if kind == "namespace" else names).append(_unquoted(found["name"]))
    return Described("/".join(path), tuple(names), kind)


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name[0] == "`" else name


def _plain(type_name: str) -> str:
    """The word of a type without its arguments, references and path: `Map` of `&mut a::Map<K>`."""
    words = re.findall(r"\w+", type_name.partition("<")[0])
    return words[-1] if words else type_name
