"""The types of the LSP specification, from `lsprotocol`, seen as JSON: their fields and values.

`lsprotocol` is imported on first use: it takes 0.2 s.
"""

from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, Union

from lsp_mcp.text import Json

Kind = Any
"""A type as a type hint: a class of `lsprotocol`, `str`, `Sequence[…]`, a union, …"""

_WORDS = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


class Field(NamedTuple):
    """A field of an object."""

    kind: Kind
    required: bool


@cache
def params_kinds() -> Mapping[str, Kind]:
    """The type of the params of each method of LSP that a client may send; None for no params."""
    from lsprotocol import types as lsp

    return {
        method: params
        for method, (_, _, params, _) in lsp.METHOD_TO_TYPES.items()
        if lsp.message_direction(method) != "serverToClient"
    }


@cache
def request_methods() -> frozenset[str]:
    """Every request of LSP that a client may send."""
    from lsprotocol import types as lsp

    return frozenset(method for method in params_kinds() if lsp.METHOD_TO_TYPES[method][1])


@cache
def object_fields(kind: type) -> Mapping[str, Field]:
    """The fields of an object by their names in JSON."""
    from lsprotocol import types as lsp

    hints = typing.get_type_hints(kind, vars(lsp))
    given = inspect.signature(kind).parameters.items()
    return {_json_name(name): _field(hints[name], parameter.default) for name, parameter in given}


@cache
def well_known_fields() -> Mapping[str, Field]:
    """The types of these field names in methods that servers add to LSP."""
    from lsprotocol import types as lsp

    kinds: dict[str, Kind] = {
        "textDocument": lsp.TextDocumentIdentifier,
        "uri": str,
        "position": lsp.Position,
        "positions": Sequence[lsp.Position],
        "range": lsp.Range,
        "ranges": Sequence[lsp.Range],
        "selectionRange": lsp.Range,
        "item": dict,
    }
    return {name: Field(kind | None, required=False) for name, kind in kinds.items()}


@cache
def alternatives(kind: Kind) -> tuple[Kind, ...]:
    """The members of a union; otherwise the type itself."""
    return typing.get_args(kind) if origin(kind) in (Union, types.UnionType) else (kind,)


def origin(kind: Kind) -> Any:
    """`Sequence` of `Sequence[str]`; None for a type without parameters."""
    return typing.get_origin(kind)


def parameters(kind: Kind) -> tuple[Any, ...]:
    """`str` of `Sequence[str]`."""
    return typing.get_args(kind)


def choices(kind: Kind) -> tuple[Any, ...]:
    """The values of a constant or of an enumeration; none for other types."""
    if origin(kind) is Literal:
        return parameters(kind)
    return tuple(member.value for member in kind) if _is_class(kind, enum.Enum) else ()


def json_type(value: Any) -> type:
    """The type of JSON values; `float` for all numbers."""
    return float if type(value) is int else type(value)


@cache
def kind_json_type(kind: Kind) -> type:
    """The `json_type` of values of a type that is not a union."""
    if values := choices(kind):
        return json_type(values[0])
    if kind in _WORDS:
        return float if kind is int else kind
    return list if origin(kind) in (Sequence, tuple) else dict


def most_alike(value: Json, kinds: Sequence[Kind]) -> list[Kind]:
    """The object types that best match `value`.

    Those with the most of its constants, then the most of its fields, then the fewest missing ones.
    """

    def likeness(kind: Kind) -> tuple[int, int, int]:
        known = {name: field for name, field in object_fields(kind).items() if name in value}
        constants = sum(value[name] in choices(field.kind) for name, field in known.items())
        missing = sum(field.required for name, field in object_fields(kind).items() if name not in value)
        return constants, len(known), -missing

    best = max(map(likeness, kinds))
    return [kind for kind in kinds if likeness(kind) == best]


def described(kind: Kind) -> str:
    """The description of a type's values in errors."""
    if values := choices(kind):
        return ("one of " if len(values) > 1 else "") + ", ".join(map(repr, values))
    if kind in _WORDS:
        return _WORDS[kind]
    if kind_json_type(kind) is list:
        return "a list"
    return "an object" if origin(kind) or kind is dict else f"an object ({kind.__name__})"


def _field(kind: Kind, default: Any) -> Field:
    # lsprotocol fills in constants that the specification requires, like `kind` of a `CreateFile`.
    if isinstance(default, str):
        return Field(Literal[default], required=True)
    return Field(kind, required=default is inspect.Parameter.empty)


def _json_name(name: str) -> str:
    """`from_ranges` → `fromRanges`, `from_` → `from`."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in others)


def _is_class(kind: Kind, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)
