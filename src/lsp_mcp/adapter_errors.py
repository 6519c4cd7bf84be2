"""What is wrong with an adapter's file, for its author: the line, the key, and the key that was probably meant."""

from __future__ import annotations

import difflib
import re
import tomllib
import typing
from types import UnionType
from typing import Any

import msgspec

_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>[^`]*)`")
_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_STEP = re.compile(r"[^.\[\]]+|\[\d+\]|\[\.\.\.\]")


def problem(text: str, error: Exception, model: type[msgspec.Struct]) -> str:
    """The sentence about `error`, found in the adapter `text` when it was read as `model`."""
    if isinstance(error, tomllib.TOMLDecodeError) or not isinstance(error, msgspec.ValidationError):
        return str(error)  # TOML's own errors have their line
    said = str(error)
    path = match["path"] if (match := _PATH.search(said)) else ""
    said = _PATH.sub("", said)
    steps = _STEP.findall(path)
    key = ".".join(step for step in steps if not step.startswith("["))
    if unknown := _UNKNOWN.match(said):
        name = unknown["key"]
        known = list(fields(model, steps))
        near = difflib.get_close_matches(name, known, n=1)
        said = f"{key}.{name}".lstrip(".") + " is not a field" + (f"; did you mean {near[0]}?" if near else "")
        key = f"{key}.{name}".lstrip(".")
    elif key:
        said = f"{key}: {said}"
    line = _line(text, key)
    return f"line {line}: {said}" if line else said


def fields(model: Any, steps: list[str]) -> tuple[str, ...]:
    """The names of the fields of the table at `steps` below `model`; none if that is not a table with fields."""
    for step in steps:
        if step.startswith("["):
            model = next(iter(typing.get_args(model)), None)
        elif isinstance(model, type) and issubclass(model, msgspec.Struct):
            model = typing.get_type_hints(model).get(step)
        else:
            return ()
        if isinstance(model, UnionType):
            model = next(one for one in typing.get_args(model) if one is not type(None))
    return model.__struct_fields__ if isinstance(model, type) and issubclass(model, msgspec.Struct) else ()


def _line(text: str, key: str) -> int:
    """The line, from 1, of the key `a.b.c` in TOML, of the first one if there are several; 0 if it is not found."""
    *tables, name = key.split(".")
    inside = not tables
    for number, line in enumerate(text.split("\n"), 1):
        if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line):
            inside = header[1] == ".".join(tables)
            if header[1] == key or header[1].startswith(f"{key}."):
                return number
        elif inside and re.match(rf'\s*"?{re.escape(name)}"?\s*[=.]', line):
            return number
    return _line(text, ".".join(tables)) if tables else 0
