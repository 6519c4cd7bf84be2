"""The params of an LSP request from a caller, checked against the types of the specification.

Language servers ignore a misspelled field, and fail over a missing one without naming it; this names it. The order for
a request that is passed on: `checked_params`, the texts of `walker.documents(params, home)`, `Walker.inward(params,
home)`. So numbers are still the caller's here; whether they are in a document is checked later.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lsp_mcp.errors import CallerError
from lsp_mcp.objects.fields import FieldPath, shown, spelled, whole
from lsp_mcp.objects.lsp_types import (
    Field,
    Kind,
    alternatives,
    choices,
    described,
    json_type,
    kind_json_type,
    most_alike,
    object_fields,
    origin,
    parameters,
    params_kinds,
    request_methods,
    well_known_fields,
)
from lsp_mcp.text import Json
from lsp_mcp.visible import quoted

__all__ = ["checked_params", "request_methods"]

_METHOD = re.compile(r"[\w$][\w$.-]*(/[\w$.-]+)+", re.ASCII)
_TOKENS = ("workDoneToken", "partialResultToken")


def checked_params(method: str, params: Any) -> Json | None:
    """`params` if they are valid for `method`; None if it takes none.

    Nothing is lost or added; numbers like 3.0 become integers. Objects from a server that are handed back may have
    fields and enumeration values that the specification does not name. For a method that it doesn't define, only fields
    with well-known names are checked.

    Raises:
        CallerError: something is missing, unknown or of a wrong type; the message names the field by its path.
    """
    if not isinstance(method, str) or not (_METHOD.fullmatch(method) or method in params_kinds()):
        raise CallerError(f"{shown(method)} is not an LSP method; examples: textDocument/hover or $/memoryUsage")
    if params is not None and not isinstance(params, dict):
        raise CallerError(f"params: expected an object, got {shown(params)}")
    if token := next((token for token in _TOKENS if token in (params or {})), None):
        raise CallerError(f"params.{token}: leave it out: answers are complete, without progress")
    if method not in params_kinds():
        return None if params is None else _checked_fields(params, well_known_fields(), (), closed=False)
    kind = params_kinds()[method]
    if kind is None and params:
        raise CallerError(f"{method} takes no params, got {shown(params)}")
    return None if kind is None else _checked_object(params or {}, kind, ())


# --- checks: each returns the value, with numbers like 3.0 as integers, or raises a `CallerError` ---


def _checked(value: Any, kind: Kind, path: FieldPath, *, closed: bool) -> Any:
    """`closed`: only the specification's values of an enumeration are allowed."""
    kinds = alternatives(kind)
    if Any in kinds:
        return value
    likely = [part for part in kinds if kind_json_type(part) is json_type(value)]
    if not likely:
        raise _misfit(value, kinds, path)
    if len(likely) > 1 and isinstance(value, dict):
        likely = most_alike(value, likely)
    problems = []
    for part in likely:
        try:
            return _checked_as(part, value, path, closed=closed)
        except CallerError as error:
            problems.append(error)
    raise problems[0]


def _checked_as(kind: Kind, value: Any, path: FieldPath, *, closed: bool) -> Any:
    """`value`, which has the right type in JSON."""
    if choices(kind):
        return _checked_choice(value, kind, path, closed=closed)
    if kind is int:
        return _checked_integer(value, path)
    if isinstance(value, list):
        return _checked_list(value, kind, path, closed=closed)
    if not isinstance(value, dict):
        return value
    if kind is dict:
        return _checked_fields(value, well_known_fields(), path, closed=closed)
    if origin(kind):
        part = parameters(kind)[1]
        return {key: _checked(item, part, (*path, key), closed=closed) for key, item in value.items()}
    return _checked_object(value, kind, path)


def _checked_choice(value: Any, kind: Kind, path: FieldPath, *, closed: bool) -> Any:
    value = value if isinstance(value, str) else _checked_integer(value, path)
    if value not in choices(kind) and (closed or origin(kind)):
        raise _misfit(value, (kind,), path)
    return value


def _checked_integer(value: Any, path: FieldPath) -> int:
    number = whole(value)
    if number is None:
        raise _misfit(value, (int,), path)
    return number


def _checked_list(value: list[Any], kind: Kind, path: FieldPath, *, closed: bool) -> list[Any]:
    kinds = parameters(kind)
    if origin(kind) is not tuple:
        kinds *= len(value)
    if len(value) != len(kinds):
        raise CallerError(f"{spelled('params', path)}: expected {len(kinds)} items, got {shown(value)}")
    pairs = zip(value, kinds, strict=True)
    return [_checked(item, part, (*path, index), closed=closed) for index, (item, part) in enumerate(pairs)]


def _checked_object(value: Json, kind: type, path: FieldPath) -> Json:
    # Callers create params and contexts; other objects come from a server, which may extend the specification.
    is_callers = kind.__name__.endswith(("Params", "Context"))
    known = object_fields(kind)
    if is_callers and (unknown := next((name for name in value if name not in known), None)):
        raise _unknown_field(unknown, [name for name in known if name not in _TOKENS], path)
    return _checked_fields(value, known, path, closed=is_callers)


def _checked_fields(value: Json, known: Mapping[str, Field], path: FieldPath, *, closed: bool) -> Json:
    """`value` with its known fields checked, and all others unchanged."""
    for name, field in known.items():
        if field.required and name not in value:
            instead = _closest(name, [other for other in value if other not in known])
            got = f", got {quoted(instead)} instead" if instead else ""
            raise CallerError(f"{spelled('params', (*path, name))} is required{got}")
    return {
        name: _checked(item, known[name].kind, (*path, name), closed=closed) if name in known else item
        for name, item in value.items()
    }


# --- what was wrong --------------------------------------------------------------------------------


def _unknown_field(name: str, known: Sequence[str], path: FieldPath) -> CallerError:
    close = _closest(name, known)
    hint = f" (did you mean {close!r}?)" if close else ""
    return CallerError(f"{spelled('params', path)}: unknown field {quoted(name)}{hint}; it takes {', '.join(known)}")


def _misfit(value: Any, kinds: Sequence[Kind], path: FieldPath) -> CallerError:
    is_open = str in kinds or int in kinds  # the specification's values are then only examples
    named = [kind for kind in kinds if kind is not type(None) and not (is_open and choices(kind))]
    expected = " or ".join(dict.fromkeys(map(described, named)))
    return CallerError(f"{spelled('params', path)}: expected {expected}, got {shown(value)}")


def _closest(name: str, names: Collection[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.5)), None)
