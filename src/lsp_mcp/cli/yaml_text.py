"""One entry into or out of a YAML file, its comments, quotes and order kept (ruamel.yaml)."""

from __future__ import annotations

import io
import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from lsp_mcp.errors import ConfigError

_COMMENT = re.compile(r"(?:^|\s)#.*$", re.MULTILINE)
_LONGEST_LINE = 1_000_000  # none is folded


def parsed(text: str) -> Any:
    """What `text` holds; an empty table for an empty text.

    Raises:
        ConfigError: it is not YAML; the message says where.
    """
    try:
        found = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"it is not YAML: {' '.join(str(error).split())[:300]}") from None
    return {} if found is None else found


def with_value(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str:
    """`text` with `value` at the key path `path`; `text` is known to hold tables on the way."""
    yaml, document = _loaded(text)
    table = document
    for key in path[:-1]:
        if table.get(key) is None:
            table[key] = CommentedMap()
        table = table[key]
    table[path[-1]] = value
    return _dumped(yaml, document)


def without_value(text: str, path: tuple[str, ...]) -> str:
    """`text` without what is at the key path `path`, which is there."""
    yaml, document = _loaded(text)
    table = document
    for key in path[:-1]:
        table = table[key]
    del table[path[-1]]
    return _dumped(yaml, document)


def written(value: dict[str, Any]) -> str:
    """`value` as a file."""
    yaml, _ = _loaded("")
    return _dumped(yaml, value)


def comments(text: str) -> list[str]:
    """At least the comments of `text`."""
    return [found.strip() for found in _COMMENT.findall(text)]


def _loaded(text: str) -> tuple[YAML, Any]:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = _LONGEST_LINE
    if re.search(r"^( +)- ", text, re.MULTILINE) and not re.search(r"^- ", text, re.MULTILINE):
        yaml.indent(mapping=2, sequence=4, offset=2)
    document = yaml.load(text)
    return yaml, CommentedMap() if document is None else document


def _dumped(yaml: YAML, document: Any) -> str:
    out = io.StringIO()
    yaml.dump(document, out)
    return out.getvalue()
