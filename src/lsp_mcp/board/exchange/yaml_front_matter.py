"""A text with YAML before it, between two lines of `---`, as other programs write it. Pure."""

from __future__ import annotations

from typing import Any

import yaml

from lsp_mcp.errors import CallerError

_FENCE = "---"


class _Texts(yaml.BaseLoader):
    """YAML of texts, lists and mappings, without aliases: ten lines of those can stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not supported")
        return super().compose_node(parent, index)


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
        found = yaml.load("\n".join(["", *lines[1:end]]), _Texts) or {}  # noqa: S506 (it makes no objects)
    except (yaml.YAMLError, RecursionError) as error:
        raise CallerError(f"its values are not YAML: {_describe_error(error)}") from None
    if not isinstance(found, dict):
        raise CallerError("its values are not of the form `name: value`")
    return found, "\n".join(lines[end + 1 :]).strip("\n")


def _describe_error(error: Exception) -> str:
    """What is wrong, and where: the mark of an error says that in its own words, counted from 1."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"{error.problem},{str(error.problem_mark).partition(',')[2]}"
    return str(error)[:200]
