"""A text with values before it, between two lines of `---`: strict, and valid YAML. Pure.

A value is JSON on one line. A list of objects has one object per line, so that versions compare line by line:

    ---
    title: "A title"
    history:
      - {"who": "you"}
    ---

    The text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from lsp_mcp.errors import CallerError

_FENCE = "---"
_KEY = re.compile(r"([a-z][a-z0-9_]*):(?: +(.*))?")
_ITEM = re.compile(r" +- +(.*)")
# YAML ends a line at some of these or does not take them, and others turn the text around them.
_HIDDEN = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)  # fmt: skip


def rendered(values: Mapping[str, Any], body: str) -> str:
    """The text of a file with these values, whose keys are words, before `body`."""
    lines = [_FENCE]
    for key, value in values.items():
        if isinstance(value, list | tuple) and value and all(isinstance(one, dict) for one in value):
            lines += [f"{key}:", *(f"  - {encoded(one)}" for one in value)]
        else:
            lines.append(f"{key}: {encoded(value)}")
    head = "\n".join([*lines, _FENCE, ""])
    return f"{head}\n{body}\n" if body else head


def parsed(text: str) -> tuple[dict[str, Any], str]:
    """The values and the body of a file; of a rendered one exactly what it was made of.

    Raises:
        CallerError: it is not of the form; the message says in which line.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        raise CallerError(f"line 1 is not {_FENCE}")
    values: dict[str, Any] = {}
    items: list[Any] | None = None  # of the list that is being read
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == _FENCE:
            return values, _body("\n".join(lines[number:]))
        if items is not None and (item := _ITEM.fullmatch(line)):
            items.append(decoded(item[1], f"line {number}"))
        elif found := _KEY.fullmatch(line):
            if found[1] in values:
                raise CallerError(f"line {number} repeats {found[1]}")
            items = None if found[2] and found[2].strip() else []
            values[found[1]] = decoded(found[2], f"line {number}") if items is None else items
        else:
            raise CallerError(f"line {number} is not of the form `name: JSON value`: {line[:60]!r}")
    raise CallerError(f"the line {_FENCE} that ends the values is missing")


def encoded(value: Any) -> str:
    """JSON on one line, in which no character is hidden."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def decoded(text: str, where: str) -> Any:
    """The value that is JSON at `where`. Raises CallerError."""
    try:
        return json.loads(text, parse_constant=_constant, parse_float=_float)
    except (ValueError, RecursionError) as error:
        place = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) and "\n" in text else ""
        raise CallerError(f"{where} is not JSON{place}: {str(error).partition(':')[0]}") from None


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _float(digits: str) -> float:
    found = float(digits)
    return found if math.isfinite(found) else _constant(digits)


def _body(rest: str) -> str:
    return rest.removeprefix("\n").removesuffix("\n")
