"""Answers as the JSON that seeds/001 publishes, without white space."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsp_mcp.edits.plan import CreateFile, DeleteFile, EditPlan, FileChange, RenameFile
from lsp_mcp.features.hierarchy import Node
from lsp_mcp.features.places import Place
from lsp_mcp.features.symbols import Symbol
from lsp_mcp.render.answers import AnchorTo, Answer, Definitions, Hierarchy, Outline, ReferenceList, Rename

Json = dict[str, Any]
Shown = Callable[[Path], str]


def document(answer: Answer, shown: Shown, anchor: AnchorTo) -> str:
    """`answer` as compact JSON; `shown` gives a file's path as callers see it."""
    head = {"message": answer.message, "status": answer.status, "arguments": answer.arguments}
    return json.dumps({**head, **_body(answer, shown, anchor)}, ensure_ascii=False, separators=(",", ":"))


def _body(answer: Answer, shown: Shown, anchor: AnchorTo) -> Json:
    match answer:
        case Definitions():
            return {"definitions": [_symbol(s, answer.with_code, shown, anchor) for s in answer.symbols]}
        case Outline():
            return {"file_symbols": [_symbol(s, answer.with_code, shown, anchor) for s in answer.symbols]}
        case ReferenceList():
            return {"references": [_place(p, answer.with_code, shown, anchor) for p in answer.places]}
        case Rename():
            return _file_edits(answer.plan, shown)
        case Hierarchy():
            return {
                field: [_node(node, answer.with_code, shown, anchor) for node in nodes]
                for field, nodes in answer.trees.items()
            }
    raise TypeError(f"no document form for {type(answer).__name__}")


def _symbol(symbol: Symbol, with_code: bool, shown: Shown, anchor: AnchorTo) -> Json:
    out: Json = {"name": symbol.name, "kind": symbol.kind, **_place(symbol.place, with_code, shown, anchor)}
    if symbol.hover:
        out["hover_info"] = symbol.hover
    if symbol.children:
        out["children"] = [_symbol(child, with_code, shown, anchor) for child in symbol.children]
    return out


def _place(place: Place, with_code: bool, shown: Shown, anchor: AnchorTo) -> Json:
    start = place.span.start
    out: Json = {
        "location": {"file": shown(place.path), "line": start.line, "character": start.character},
        "anchor": anchor(place.path, start),
    }
    if with_code:
        out["code"] = place.code
    if place.container:
        out["container"] = place.container
    return out


def _node(node: Node, with_code: bool, shown: Shown, anchor: AnchorTo) -> Json:
    out: Json = {
        "name": node.symbol.name,
        "kind": node.symbol.kind,
        **_place(node.symbol.place, with_code, shown, anchor),
    }
    if node.sites:
        out["call_sites"] = [_place(site, with_code, shown, anchor) for site in node.sites]
    if node.mark:
        out["not_expanded"] = node.mark
    if node.children:
        out["children"] = [_node(child, with_code, shown, anchor) for child in node.children]
    return out


def _file_edits(plan: EditPlan, shown: Shown) -> Json:
    by_file: dict[Path, list[Json]] = {}
    for step in plan.steps:
        if isinstance(step, FileChange):
            by_file.setdefault(step.path, []).extend(_edits(step))
    out: Json = {"file_edits": [{"file": shown(path), "edits": edits} for path, edits in by_file.items()]}
    if operations := [_operation(s, shown) for s in plan.steps if not isinstance(s, FileChange)]:
        out["file_operations"] = operations
    return out


def _edits(change: FileChange) -> list[Json]:
    return [
        {
            "start_line": one.span.start.line,
            "start_character": one.span.start.character,
            "end_line": one.span.end.line,
            "end_character": one.span.end.character,
            "old_text": one.old_text,
            "new_text": one.new_text,
        }
        for one in change.changes
    ]


def _operation(step: CreateFile | RenameFile | DeleteFile, shown: Shown) -> Json:
    match step:
        case CreateFile():
            return {"kind": "create", "file": shown(step.path)}
        case RenameFile():
            return {"kind": "rename", "file": shown(step.old), "new_file": shown(step.new)}
        case DeleteFile():
            return {"kind": "delete", "file": shown(step.path)}
