"""Put one entry into the text of another program's configuration file, and leave the rest of the text as it is.

JSON (with or without comments) is edited as text: the new member is inserted, nothing else moves. TOML gets its new
table at the end of the file, YAML goes through ruamel.yaml. The result is always parsed again before it is used: it
must contain the old content and the entry, and nothing else.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import tomlkit
import tomlkit.exceptions

from lsp_mcp.clients import Format
from lsp_mcp.errors import ConfigError

BOM = "\ufeff"

_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|(//[^\r\n]*|/\*.*?\*/)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf'{_STRING}|(?<=[\w"}}\]])\s*(,)(?=\s*[}}\]])', re.DOTALL)
_INDENT = re.compile(r'^([ \t]+)"', re.MULTILINE)
_SPACE = re.compile(r"\s*")


def parse(text: str, form: Format) -> dict[str, Any]:
    """The content of `text`; an empty table for an empty text.

    Raises:
        ConfigError: the text is invalid or not a table; the message says where.
    """
    text = text.removeprefix(BOM)
    try:
        if form == "toml":
            return tomllib.loads(text)
        if form == "yaml":
            return _table_of(_yaml().parsed(text))
        plain = text if form == "json" else _plain(text)
        config = json.loads(plain) if plain.strip() else {}
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        hint = " (comments are not allowed in this file)" if form == "json" and _without_comments(text) != text else ""
        raise ConfigError(f"it is not {form.upper()}: {error}{hint}") from None
    except RecursionError:
        raise ConfigError("it is nested too deeply") from None
    return _table_of(config)


def _table_of(config: Any) -> dict[str, Any]:
    if not isinstance(config, dict):
        raise ConfigError(f"it holds a {type(config).__name__}, not an object")
    return config


def _yaml() -> ModuleType:
    """The module for YAML, imported only for the few clients that need it."""
    from lsp_mcp.cli import yaml_text

    return yaml_text


def entry_at(config: dict[str, Any], path: tuple[str, ...]) -> Any:
    """The value at the key path `path`; None if there is none.

    Raises:
        ConfigError: part of the path is not a table.
    """
    value: Any = config
    for depth, key in enumerate(path):
        if not isinstance(value, dict):
            raise ConfigError(f"its {'.'.join(path[:depth])!r} is not a table")
        if key not in value:
            return None
        value = value[key]
    return value


def with_entry(text: str, form: Format, path: tuple[str, ...], entry: dict[str, Any]) -> str:
    """`text` with `entry` at the key path `path`, replacing the value there.

    Raises:
        ConfigError: the text is invalid, or cannot be edited without losing something.
    """
    before = parse(text, form)
    entry_at(before, path)
    wanted = copy.deepcopy(before)
    _table(wanted, path[:-1])[path[-1]] = entry
    bom = BOM if text.startswith(BOM) else ""
    edit = {"toml": _toml_edits, "yaml": _yaml_edits}.get(form, _json_edits)
    for attempt in edit(text.removeprefix(BOM), path, entry, wanted):
        try:
            if parse(attempt, form) == wanted and not _comments(text, form) - _comments(attempt, form):
                return bom + attempt
        except ConfigError:
            continue
    raise ConfigError("it is written in a way that lsp-mcp cannot edit without losing something, such as a comment")


def without_entry(text: str, form: Format, path: tuple[str, ...]) -> str:
    """`text` without the value at the key path `path`, which must exist.

    Raises:
        ConfigError: the text is invalid, or cannot be edited without losing something.
    """
    wanted = copy.deepcopy(parse(text, form))
    del entry_at(wanted, path[:-1])[path[-1]]
    bom = BOM if text.startswith(BOM) else ""
    body = text.removeprefix(BOM)
    after = (
        _yaml().without_value(body, path)
        if form == "yaml"
        else _toml_removed(body, path)
        if form == "toml"
        else _json_removed(body, path)
    )
    try:
        left = parse(after, form)
    except ConfigError:
        left = None
    if left is None or (left != wanted and left != _pruned(wanted, path[:-1])):
        raise ConfigError("it is written in a way that lsp-mcp cannot edit without losing something")
    return bom + after


def holds_nothing(text: str, form: Format, path: tuple[str, ...], new_file: dict[str, Any]) -> bool:
    """Whether `text` has no comments, and no content but empty tables on `path` and what a `new_file` begins with."""
    left = _pruned(parse(text, form), path)
    return left in ({}, new_file) and not _comments(text, form)


def _pruned(config: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """`config` without the empty tables on `path`."""
    for depth in range(len(path), 0, -1):
        table = entry_at(config, path[: depth - 1])
        if table and table.get(path[depth - 1]) == {}:
            del table[path[depth - 1]]
    return config


def snippet(form: Format, config: dict[str, Any]) -> str:
    """The text of a new file that holds `config`."""
    if form == "yaml":
        return str(_yaml().written(config))
    if form != "toml":
        return json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    return tomlkit.dumps(_toml_tables(config))


def _comments(text: str, form: Format) -> Counter[str]:
    """The comments of `text`; for TOML at least as many things as it has comments."""
    if form == "toml":
        return Counter(re.findall("#", text))
    if form == "yaml":
        return Counter(_yaml().comments(text))
    return Counter(match[1] for match in _COMMENT.finditer(text) if match[1] is not None)


def _table(config: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for key in path:
        config = config.setdefault(key, {})
    return config


# --- JSON ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Member:
    """A member of an object, by offsets in the text."""

    key: str
    start: int
    value: int
    end: int


def _json_edits(text: str, path: tuple[str, ...], entry: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    plain = _plain(text)
    if not plain.strip():
        return [text + snippet("json", wanted)]
    start = _skip_space(plain, 0)
    for depth, key in enumerate(path):
        members = _members(plain, start)
        found = next((member for member in reversed(members) if member.key == key), None)
        if found is None:
            value: Any = entry
            for name in reversed(path[depth + 1 :]):
                value = {name: value}
            return [_inserted(text, plain, start, members, key, value)]
        if depth + 1 == len(path):
            return [_replaced(text, plain, found, entry)]
        start = found.value
    return []


def _json_removed(text: str, path: tuple[str, ...]) -> str:
    """`text` without the member at `path`, its comma and its line; comments beside it stay."""
    plain = _plain(text)
    start = _skip_space(plain, 0)
    for key in path[:-1]:
        start = next(member for member in reversed(_members(plain, start)) if member.key == key).value
    members = _members(plain, start)
    at = max(number for number, member in enumerate(members) if member.key == path[-1])
    if at + 1 < len(members):  # up to the next one, which takes its place
        return text[: members[at].start] + text[members[at + 1].start :]
    if at:
        return text[: members[at - 1].end] + text[members[at].end :]
    end = members[at].end
    trailing = re.match(r"\s*,", _without_comments(text)[end:])
    return text[: start + 1] + text[end + (trailing.end() if trailing else 0) :]


def _replaced(text: str, plain: str, member: _Member, value: Any) -> str:
    """`text` with another value of `member`."""
    unit = _unit(plain) if "\n" in text.strip() else None
    value_text = _dumped(value, unit, _newline(text), _line_indent(text, member.start))
    return text[: member.value] + value_text + text[member.end :]


def _inserted(text: str, plain: str, start: int, members: list[_Member], key: str, value: Any) -> str:
    """`text` with a new last member in the object that begins at `start`."""
    _, end = json.JSONDecoder().raw_decode(plain, start)
    newline, unit = _newline(text), _unit(plain)
    name = json.dumps(key, ensure_ascii=False)
    if not (members and "\n" in text[start:end]) and "\n" not in text.strip() and text.strip() != "{}":
        at = members[-1].end if members else start + 1
        return f"{text[:at]}{', ' if members else ''}{name}: {_dumped(value, None)}{text[at:]}"
    if members and "\n" not in text[start:end]:  # an object on one line of several
        at = members[-1].end
        return f"{text[:at]}, {name}: {_dumped(value, None)}{text[at:]}"
    at = members[-1].end if members else start + 1
    rest = text[at : end - 1]  # up to the closing brace: space, comments, a trailing comma
    kept = rest.rstrip()
    comma = members and "," in _without_comments(rest)
    outer = _line_indent(text, start)
    indent = _member_indent(text, members[-1]) if members else outer + unit
    closing = rest[len(kept) :] if members else newline + outer
    return (
        f"{text[:at]}{',' if members and not comma else ''}{kept}{newline}{indent}"
        f"{name}: {_dumped(value, unit, newline, indent)}{',' if comma else ''}{closing}{text[end - 1 :]}"
    )


def _members(plain: str, start: int) -> list[_Member]:
    """The members of the object that begins at `start` of `plain`, which is known to be valid JSON."""
    decoder = json.JSONDecoder()
    members = []
    at = _skip_space(plain, start + 1)
    while plain[at] != "}":
        key, after = decoder.raw_decode(plain, at)
        value = _skip_space(plain, _skip_space(plain, after) + 1)
        _, end = decoder.raw_decode(plain, value)
        members.append(_Member(key, at, value, end))
        at = _skip_space(plain, end)
        if plain[at] == ",":
            at = _skip_space(plain, at + 1)
    return members


def _plain(text: str) -> str:
    """`text` as strict JSON: spaces stand where comments and trailing commas were, so that offsets stay."""
    return _TRAILING_COMMA.sub(_spaces, _without_comments(text))


def _without_comments(text: str) -> str:
    return _COMMENT.sub(_spaces, text)


def _spaces(match: re.Match[str]) -> str:
    return match[0] if match[1] is None else re.sub(r"[^\r\n]", " ", match[0])


def _skip_space(plain: str, at: int) -> int:
    found = _SPACE.match(plain, at)
    return found.end() if found else at


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(plain: str) -> str:
    found = _INDENT.search(plain)
    return found[1] if found else "  "


def _line_indent(text: str, at: int) -> str:
    """The indentation of the line that contains the offset `at`."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _member_indent(text: str, member: _Member) -> str:
    return _line_indent(text, member.start)


def _dumped(value: Any, unit: str | None, newline: str = "\n", indent: str = "") -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + indent)


# --- TOML ------------------------------------------------------------------------------------------


def _toml_edits(text: str, path: tuple[str, ...], entry: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    newline = _newline(text)
    table: dict[str, Any] = entry
    for key in reversed(path):
        table = {key: table}
    gap = newline * (1 if text.endswith("\n") else 2) if text else ""
    appended = text + gap + tomlkit.dumps(_toml_tables(table)).replace("\n", newline)
    return [appended, _toml_set(text, path, entry)]


def _yaml_edits(text: str, path: tuple[str, ...], entry: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    return [_yaml().with_value(text, path, entry)]


def _toml_set(text: str, path: tuple[str, ...], entry: dict[str, Any]) -> str:
    """Put the entry where tomlkit puts it; an existing entry is updated in place and keeps its comments."""
    try:
        document = tomlkit.parse(text)
        table: Any = document
        for key in path:
            if key not in table:
                table[key] = {}
            table = table[key]
        for key in [key for key in table if key not in entry]:
            del table[key]
        for key, value in entry.items():
            if key not in table or table[key] != value:
                table[key] = value
        return tomlkit.dumps(document)
    except (tomlkit.exceptions.TOMLKitError, TypeError, AttributeError):
        return ""


def _toml_removed(text: str, path: tuple[str, ...]) -> str:
    try:
        document = tomlkit.parse(text)
        table: Any = document
        for key in path[:-1]:
            table = table[key]
        table.remove(path[-1])
        return tomlkit.dumps(document)
    except (tomlkit.exceptions.TOMLKitError, TypeError, AttributeError):
        return text


def _toml_tables(config: dict[str, Any]) -> tomlkit.TOMLDocument:
    """`config` as TOML, without headers for tables that only contain tables."""
    document = tomlkit.document()
    for key, value in config.items():
        document.append(key, _toml_table(value) if isinstance(value, dict) else tomlkit.item(value))
    return document


def _toml_table(config: dict[str, Any]) -> tomlkit.items.Table:
    table = tomlkit.table(is_super_table=bool(config) and all(isinstance(value, dict) for value in config.values()))
    for key, value in config.items():
        table.append(key, _toml_table(value) if isinstance(value, dict) else tomlkit.item(value))
    return table
