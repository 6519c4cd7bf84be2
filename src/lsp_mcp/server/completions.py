"""Completion of the arguments of prompts and resources: `Completions` (docs/contracts/prompts.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.types import CompleteRequestParams, CompleteResult, Completion, PromptReference

from lsp_mcp.errors import LspMcpError
from lsp_mcp.server.diagnostics import PATH
from lsp_mcp.server.prompts import SYMBOL
from lsp_mcp.toolsets.tool import Call, Tool

_MOST = 100  # values of one answer, by the protocol
_ANCHOR = re.compile(r"(?P<scheme>[\w+.-]+://)(?P<file>[^#]*)(?P<place>#.*)?")
_WORD_STARTS = re.compile(r"(?:^|\.|::)(?=\w)")


class Completions:
    """Completes symbol names, anchors, and paths in the workspace `root`; `tools` are the offered tools by name."""

    def __init__(self, tools: Mapping[str, Tool], root: Path) -> None:
        self._search = tools.get("find_symbol_definitions_by_name")
        self._outline = tools.get("list_symbols_in_file")
        self._root = root

    async def complete(self, _: ServerRequestContext, params: CompleteRequestParams) -> CompleteResult:
        """The completions; empty if there are none, or while the language server is not available."""
        name, value = params.argument.name, params.argument.value
        values: list[str] = []
        try:
            if isinstance(params.ref, PromptReference):
                values = await self._symbols(value) if name == SYMBOL and value else []
            elif name == PATH:
                values = [*self._paths(value)]
        except (LspMcpError, OSError, ValueError):
            pass  # no suggestion; the prompt or the resource itself reports the error
        return CompleteResult(
            completion=Completion(values=values[:_MOST], total=len(values), has_more=len(values) > _MOST)
        )

    async def _symbols(self, value: str) -> list[str]:
        if match := _ANCHOR.fullmatch(value):
            if match["place"] is None:
                return [f"{match['scheme']}{path}" for path in self._paths(match["file"])]
            found = await _answer(self._outline, file_path=match["file"], include_code=False)
            return [anchor for anchor in _anchors(found.get("file_symbols", [])) if anchor.startswith(value)]
        found = await _answer(self._search, symbol_name=value, similar=True, limit=_MOST, include_code=False)
        whole = [one["name"] for one in found.get("definitions", [])]
        short = [_shortened(name, value) for name in whole]
        # A name of several symbols identifies none of them.
        names = [name if short.count(own) > 1 else own for name, own in zip(whole, short, strict=True)]
        return list(dict.fromkeys(names))

    def _paths(self, value: str) -> Iterator[str]:
        """Files and folders that begin with `value`, folders with a `/`; hidden ones only if `value` asks for them."""
        folder, _, start = value.rpartition("/")
        place = (self._root / folder).resolve()
        if not place.is_relative_to(self._root):
            return
        for path in sorted(place.iterdir()):
            if path.name.startswith(start) and (start or not path.name.startswith(".")):
                yield f"{folder}/{path.name}".lstrip("/") + ("/" if path.is_dir() else "")


async def _answer(tool: Tool | None, **arguments: Any) -> dict[str, Any]:
    """The answer of `tool` as data; empty if it is not offered."""
    found = json.loads(await tool.call(Call(format="json"), arguments)) if tool else {}
    return found if isinstance(found, dict) else {}


def _anchors(symbols: list[dict[str, Any]]) -> Iterator[str]:
    for symbol in symbols:
        yield symbol["anchor"]
        yield from _anchors(symbol.get("children", []))


def _shortened(name: str, value: str) -> str:
    """The shortest suffix of a qualified `name` that begins with `value`; the whole name if none does."""
    starts = [match.end() for match in _WORD_STARTS.finditer(name)]
    fitting = [name[start:] for start in starts if name[start:].lower().startswith(value.lower())]
    return fitting[-1] if fitting else name
