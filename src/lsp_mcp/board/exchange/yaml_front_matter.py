"""A text with YAML before it, between two lines of `---`, as other programs write it. Pure."""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from lsp_mcp.errors import CallerError

_FENCE = "---"


class _WithoutAliases(Composer):
    """Refuses aliases: ten lines of those can stand for gigabytes."""

    def return_alias(self, a: Any) -> Any:
        raise YAMLError("aliases are not supported")


def parsed(text: str) -> tuple[dict[str, Any], str]:
    """The values, all of them texts, lists or mappings, and the text behind them; no values if there is no first `---`.

    Raises:
        CallerError: the values are not YAML, not a mapping, or have no end.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return {}, text
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise CallerError(f"the line {_FENCE} that ends the values is missing")
    try:
        found = _reader().load("\n".join(["", *lines[1:end]])) or {}
    except (YAMLError, RecursionError) as error:
        raise CallerError(f"its values are not YAML: {_describe_error(error)}") from None
    if not isinstance(found, dict):
        raise CallerError("its values are not of the form `name: value`")
    return found, "\n".join(lines[end + 1 :]).strip("\n")


def _reader() -> YAML:
    """Reads texts, lists and mappings, and makes no other objects."""
    yaml = YAML(typ="base", pure=True)
    yaml.Composer = _WithoutAliases
    return yaml


def _describe_error(error: Exception) -> str:
    """What is wrong, and where: the mark of an error says that in its own words, counted from 1."""
    if isinstance(error, MarkedYAMLError) and error.problem_mark:
        return f"{error.problem},{str(error.problem_mark).partition(',')[2]}"
    return str(error)[:200]
