"""Answers as the JSON published in docs/contracts/code.md, without white space."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsp_mcp.edits.plan import CreateFile, DeleteFile, EditPlan, FileChange, RenameFile
from lsp_mcp.features.checking.problems import Delta, Problem
from lsp_mcp.features.finding.outlines import FileOutline
from lsp_mcp.features.hierarchy import Node
from lsp_mcp.render.answers import (
    AnchorTo,
    Answer,
    CallPath,
    Change,
    Check,
    Definitions,
    FolderMap,
    Hierarchy,
    ImpactReport,
    ImplementationList,
    Offers,
    Outline,
    ReferenceList,
    Rename,
    Source,
    Sources,
    UnusedList,
    WorkspaceOverview,
)
from lsp_mcp.render.elsewhere import elsewhere_fields
from lsp_mcp.render.folder_map import at_level, folder_totals
from lsp_mcp.render.gaps import gap_objects
from lsp_mcp.render.impact import impact_fields
from lsp_mcp.render.overview import overview_fields
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbols import Symbol, last_line
from lsp_mcp.text import Base, Point, point_numbers
from lsp_mcp.visible import json_text

Json = dict[str, Any]
Shown = Callable[[Path], str]


def document(answer: Answer, shown: Shown, anchor: AnchorTo, base: Base = 1) -> str:
    """`answer` as compact JSON; `shown` returns a file's path for callers. Lines and characters are from `base`."""
    head = {"message": answer.message, "arguments": answer.arguments}
    body = _Form(shown, anchor, base).body(answer)
    body |= elsewhere_fields(answer.elsewhere) if answer.elsewhere else {}
    tail = {"status": answer.status, "gaps": gap_objects(answer.gaps, shown)}
    return json_text({**head, **body, **tail})


class _Form:
    """The forms of one answer's parts."""

    def __init__(self, shown: Shown, anchor: AnchorTo, base: Base) -> None:
        self._shown = shown
        self._anchor = anchor
        self._base = base
        self._files: dict[Path, tuple[str, str]] = {}  # display paths, and the beginnings of their anchors

    def body(self, answer: Answer) -> Json:
        match answer:
            case Definitions():
                return {"definitions": [self._symbol(s, answer.with_code) for s in answer.symbols]}
            case Outline():
                return {"file_symbols": [self._symbol(s, answer.with_code) for s in answer.symbols]}
            case FolderMap() | WorkspaceOverview():
                return self._folder(answer)
            case ReferenceList():
                return {
                    "references": [
                        {**self._place(place, answer.with_code), **self._context(place, answer.context)}
                        for place in answer.places
                    ]
                }
            case Check() | Change() | Offers():
                return self._editing(answer)
            case Sources():
                return {"symbols": [self._source(source) for source in answer.sources]}
            case Rename():
                made = self._delta(answer.delta, with_remaining=False) if answer.delta else {}
                return {**self._file_edits(answer.plan), **made}
            case Hierarchy():
                return {
                    field: [self._node(node, answer.with_code) for node in nodes]
                    for field, nodes in answer.trees.items()
                }
            case ImplementationList():
                return {
                    field: [
                        {**self._symbol(one.symbol, answer.with_code), **({"of": one.of} if one.of else {})}
                        for one in found
                    ]
                    for field, found in answer.lists.items()
                }
            case ImpactReport() | UnusedList():
                return impact_fields(answer, self._place, self._shown)
            case CallPath():
                return {"path": [self._node(node, with_code=False) for node in answer.nodes]}
        raise TypeError(f"no document form for {type(answer).__name__}")

    def _symbol(self, symbol: Symbol, with_code: bool) -> Json:
        out: Json = {"name": symbol.name, "kind": symbol.kind, **self._place(symbol.place, with_code)}
        if last := last_line(symbol):
            out["end_line"] = self._line(last)
        if symbol.hover:
            out["hover_info"] = symbol.hover
        if symbol.children:
            out["children"] = [self._symbol(child, with_code) for child in symbol.children]
        return out

    def _folder(self, answer: FolderMap | WorkspaceOverview) -> Json:
        if isinstance(answer, WorkspaceOverview):
            return overview_fields(answer, lambda place: self._place(place, with_code=False))
        if folders := folder_totals(answer.files, answer.level, self._shown):
            return {"folders": folders}
        return {"files": [self._outline(one, answer.level) for one in answer.files]}

    def _outline(self, file: FileOutline, level: int) -> Json:
        symbols = [self._symbol(one, with_code=False) for one in at_level(file, level)]
        return {
            "file": self._shown(file.path),
            "lines": file.lines,
            "symbol_count": None if file.symbols is None else file.total,
            "file_symbols": symbols,
        }

    def _place(self, place: Place, with_code: bool) -> Json:
        path, start = place.path, place.span.start
        if path not in self._files:
            self._files[path] = self._shown(path), self._anchor(path, None)
        file, anchor = self._files[path]
        out: Json = {
            "location": {"file": file, **point_numbers(start, self._base)},
            "anchor": f"{anchor}{start.line}:{start.character}",
        }
        if with_code:
            out["code"] = place.code
        if place.container:
            out["container"] = place.container
        if place.around:
            out |= {
                "container_start_line": self._line(place.around.start.line),
                "container_end_line": self._line(place.around.end.line),
            }
        return out

    def _context(self, place: Place, number: int) -> Json:
        """`number` lines before and after the place, with its own."""
        if not number:
            return {}
        lines = place.text.numbered(place.span, number)
        return {"context": "\n".join(line for _, line in lines), "context_start_line": self._line(lines[0][0])}

    def _source(self, source: Source) -> Json:
        if source.place is None:
            return {"asked": source.asked, "error": source.problem}
        out: Json = {"asked": source.asked, "name": source.name, "kind": source.kind}
        out |= self._place(source.place, with_code=False)
        out |= {"start_line": self._line(source.first), "end_line": self._line(source.last)}
        if source.hash:
            out["hash"] = source.hash
        if source.role:
            out["role"] = source.role
        out["text"] = "\n".join(line for _, line in source.lines)
        if source.left_out:
            out["left_out"] = [self._line(number) for number in source.left_out]
        if source.hover:
            out["hover_info"] = source.hover
        if source.callees:
            out["callees"] = [self._symbol(callee, with_code=True) for callee in source.callees]
        if source.notes:
            out["notes"] = list(source.notes)
        return out

    def _line(self, number: int) -> int:
        """Line `number` (from 1) in the caller's numbers."""
        return int(point_numbers(Point(number, 1), self._base)["line"])

    def _node(self, node: Node, with_code: bool) -> Json:
        out: Json = {
            "name": node.symbol.name,
            "kind": node.symbol.kind,
            **self._place(node.symbol.place, with_code),
        }
        if last := last_line(node.symbol):
            out["end_line"] = self._line(last)
        if node.sites:
            out["call_sites"] = [self._place(site, with_code) for site in node.sites]
        if node.mark:
            out["not_expanded"] = node.mark
        if node.children:
            out["children"] = [self._node(child, with_code) for child in node.children]
        return out

    def _editing(self, answer: Check | Change | Offers) -> Json:
        match answer:
            case Check():
                return self._delta(answer.delta, with_remaining=answer.with_remaining)
            case Change():
                return {**self._file_edits(answer.plan), **self._delta(answer.delta, with_remaining=False)}
            case Offers():
                return {"actions": list(answer.names)}

    def _delta(self, delta: Delta, *, with_remaining: bool) -> Json:
        return {
            "new": [self._problem(one) for one in delta.new],
            "fixed": [{"file": self._shown(one.path), "message": one.message} for one in delta.fixed],
            **({"remaining": [self._problem(one) for one in delta.remaining]} if with_remaining else {}),
            "remaining_count": len(delta.remaining),
        }

    def _problem(self, problem: Problem) -> Json:
        fixes = {"fixes": list(problem.fixes)} if problem.fixes else {}
        place = self._place(problem.place, with_code=False)
        return {"severity": problem.severity, "message": problem.message, **place, **fixes}

    def _file_edits(self, plan: EditPlan) -> Json:
        by_file: dict[Path, list[Json]] = {}
        for step in plan.steps:
            if isinstance(step, FileChange):
                by_file.setdefault(step.path, []).extend(self._edits(step))
        out: Json = {"file_edits": [{"file": self._shown(path), "edits": edits} for path, edits in by_file.items()]}
        if operations := [self._operation(s) for s in plan.steps if not isinstance(s, FileChange)]:
            out["file_operations"] = operations
        return out

    def _edits(self, change: FileChange) -> list[Json]:
        return [
            {
                **self._numbers("start", one.span.start),
                **self._numbers("end", one.span.end),
                "old_text": one.old_text,
                "new_text": one.new_text,
            }
            for one in change.changes
        ]

    def _numbers(self, which: str, point: Point) -> Json:
        return {f"{which}_{key}": number for key, number in point_numbers(point, self._base).items()}

    def _operation(self, step: CreateFile | RenameFile | DeleteFile) -> Json:
        match step:
            case CreateFile():
                return {"kind": "create", "file": self._shown(step.path)}
            case RenameFile():
                return {"kind": "rename", "file": self._shown(step.old), "new_file": self._shown(step.new)}
            case DeleteFile():
                return {"kind": "delete", "file": self._shown(step.path)}
