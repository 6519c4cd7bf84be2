"""Builds that have code under given conditions: `builds_with`, and the settings of one: `settings_of`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

VARIABLE = "RUST_ANALYZER_CFG"
"""The variable that says what is set in a build, with commas: `feature=kv,windows,!feature=std`."""

Features = Mapping[str, Sequence[str]]
"""The features of a package, each with those that it needs."""

_TOKEN = re.compile(r'\s*(?:(?P<name>\w+)(?:\s*=\s*"(?P<value>[^"]*)")?|(?P<sign>[(),]))')
_NESTS = ("all", "any", "not")
_FIXED = {"test": True, "debug_assertions": True, "miri": False, "doc": False, "doctest": False}
# Of these there is one value; those that most machines have are not set beside another.
_USUAL = {"target_pointer_width": ("64",), "panic": ("unwind",), "target_endian": ("little",)}
_TARGETS = {
    "windows": "x86_64-pc-windows-msvc",
    "target_family=windows": "x86_64-pc-windows-msvc",
    "target_os=windows": "x86_64-pc-windows-msvc",
    "target_os=macos": "aarch64-apple-darwin",
    "target_os=linux": "x86_64-unknown-linux-gnu",
    "target_arch=wasm32": "wasm32-unknown-unknown",
    "target_family=wasm": "wasm32-unknown-unknown",
}
_MOST = 40  # options of one build


class _Predicate(Struct, frozen=True):
    """An option, or `all`, `any` or `not` of others."""

    name: str
    parts: tuple[_Predicate, ...] = ()


def builds_with(conditions: Sequence[Sequence[str]]) -> list[str]:
    """What is set in a build that has code under all conditions of `#[cfg]`, for each of `conditions`; empty if there
    is none.

    As few builds as possible. In what nothing names, they do not differ from the usual one.
    """
    wanted = [_wanted(one) for one in conditions]
    groups: list[dict[str, bool]] = []
    of: list[int] = []  # the group of each
    for one in wanted:
        number = next((at for at, group in enumerate(groups) if _go_together(group, one)), len(groups))
        if number == len(groups):
            groups.append({})
        groups[number].update(one)
        of.append(number)
    return [_spelled(groups[number]) if one else "" for number, one in zip(of, wanted, strict=True)]


def settings_of(build: str, usual: Sequence[str], packages: Sequence[Features]) -> Mapping[str, Any]:
    """The settings of `build`, by their names with dots; `usual` are the options that are always set, and `packages`
    have the features of each.
    """
    options = [one.strip() for one in build.split(",") if one.strip()]
    on = {one.removeprefix("feature=") for one in options if one.startswith("feature=")}
    off = {one.removeprefix("!feature=") for one in options if one.startswith("!feature=")}
    known = on & {name for features in packages for name in features}
    others = [one for one in options if "feature=" not in one]
    target = next((_TARGETS[one] for one in others if one in _TARGETS), "")
    single = {name for one in others if (name := one.partition("=")[0]) in _USUAL and "=" in one}
    unset = [f"!{name}={value}" for name in sorted(single) for value in _USUAL[name] if f"{name}={value}" not in others]
    # A feature that no package has, Cargo would refuse.
    cfgs = [*(f"feature={name}" for name in sorted(on - known)), *(one for one in others if one not in _TARGETS)]
    found: dict[str, Any] = {"cargo.cfgs": [*usual, *cfgs, *unset]}
    if any(off & _needed(["default"], features) for features in packages):
        found["cargo.noDefaultFeatures"] = True
        known |= {
            name
            for features in packages
            for name in _needed(["default"], features)
            if name != "default" and name in features and not off & _needed([name], features)
        }
    if known:
        found["cargo.features"] = sorted(known)
    if target:
        found["cargo.target"] = target
    return found if options else {}


def features_in(manifest: Mapping[str, Any]) -> Features:
    """The features of the package of `manifest`, the content of a Cargo.toml, each with those that it needs."""
    optional = {
        name: () for name, said in _table(manifest.get("dependencies")).items() if _table(said).get("optional") is True
    }
    named = _table(manifest.get("features")).items()
    return {**optional, **{name: tuple(map(str, said)) for name, said in named if isinstance(said, list)}}


# --- inside ------------------------------------------------------------------------------------


def _wanted(conditions: Sequence[str]) -> Mapping[str, bool]:
    """The options that are to be set or not; none if nothing fulfils all `conditions`, or they are not understood."""
    wanted: dict[str, bool] | None = {}
    for one in conditions:
        predicate = _parsed(one)
        wanted = _satisfied(predicate, True, wanted) if predicate and wanted is not None else None
    return wanted if wanted and len(wanted) <= _MOST else {}


def _spelled(wanted: Mapping[str, bool]) -> str:
    return ",".join(sorted(f"{'' if is_set else '!'}{name}" for name, is_set in wanted.items()))


def _go_together(group: Mapping[str, bool], other: Mapping[str, bool]) -> bool:
    """Whether one build can have both: of what has one value, only one is set."""
    joined = {**group, **other}
    if len(joined) > _MOST or any(group.get(name, value) != value for name, value in other.items()):
        return False
    targets = {_TARGETS[name] for name, value in joined.items() if value and name in _TARGETS}
    values = [name.partition("=")[0] for name, value in joined.items() if value and name.partition("=")[0] in _USUAL]
    # Features that are off may leave others without what they need.
    features = {value for name, value in joined.items() if name.startswith("feature=")}
    return len(targets) < 2 and len(values) == len(set(values)) and len(features) < 2


def _table(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _needed(names: Sequence[str], features: Features) -> set[str]:
    """The features `names` of a package and all that they need of the same."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        if (name := todo.pop()) not in found:
            found.add(name)
            todo += features.get(name, ())
    return found


def _satisfied(one: _Predicate, value: bool, wanted: Mapping[str, bool]) -> dict[str, bool] | None:
    """`wanted` with what makes `one` have that `value`; None if nothing does."""
    if one.name == "not":
        return _satisfied(one.parts[0], not value, wanted) if len(one.parts) == 1 else None
    if one.name in ("all", "any"):
        if (one.name == "all") == value:
            found: dict[str, bool] | None = dict(wanted)
            for part in one.parts:
                found = _satisfied(part, value, found) if found is not None else None
            return found
        ways = (_satisfied(part, value, wanted) for part in one.parts)
        return next((way for way in ways if way is not None), None)
    if one.name in _FIXED:
        return dict(wanted) if _FIXED[one.name] == value else None
    if wanted.get(one.name, value) != value:
        return None
    return {**wanted, one.name: value}


def _parsed(text: str) -> _Predicate | None:
    """What stands in the parentheses of `#[cfg(…)]`; None if it is not understood."""
    tokens, at = [], 0
    while at < len(text.rstrip()):
        if (found := _TOKEN.match(text, at)) is None:
            return None
        tokens.append(found)
        at = found.end()
    left = iter(tokens)
    try:
        predicate = _one(next(left), left)
    except (StopIteration, ValueError):
        return None
    return predicate if next(left, None) is None else None


def _one(token: re.Match[str], left: Iterator[re.Match[str]]) -> _Predicate:
    name = token["name"]
    if name is None:
        raise ValueError(token[0])
    if name not in _NESTS:
        return _Predicate(name if token["value"] is None else f"{name}={token['value']}")
    if next(left)["sign"] != "(":
        raise ValueError(token[0])
    parts: list[_Predicate] = []
    while (inner := next(left))["sign"] != ")":
        if inner["sign"] != ",":
            parts.append(_one(inner, left))
    return _Predicate(name, tuple(parts))
