"""`EditPlan`: the effect of an LSP 3.17 WorkspaceEdit on each file, computed without touching the disk.

A plan is bound to the texts it was made from: `apply` refuses it if a file has other content by then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any

from msgspec import Struct

from lsp_mcp.errors import EditError, OutdatedEditError, PathError
from lsp_mcp.protocol.lsp import Position, Range, WorkspaceEdit
from lsp_mcp.text import BOM, Json, PositionEncoding, Span, Text
from lsp_mcp.uris import uri_path


class TextChange(Struct, frozen=True):
    """`old_text` at `span` becomes `new_text`; `before.slice(span) == old_text`."""

    span: Span
    old_text: str
    new_text: str


class FileChange(Struct, frozen=True):
    """The content of `path` becomes `after`. `changes` are in the order of the text and don't overlap."""

    path: Path
    before: Text
    after: str
    changes: tuple[TextChange, ...]

    def without(self, left_out: Collection[TextChange]) -> FileChange | None:
        """The file's change without those `left_out`; None if nothing remains."""
        kept = tuple(change for change in self.changes if change not in left_out)
        return self.with_changes(kept) if kept else None

    def with_changes(self, changes: Iterable[TextChange]) -> FileChange:
        """The change of the same file by `changes`. Raises `EditError`: they overlap."""
        ordered = tuple(sorted(changes, key=lambda change: change.span))
        pieces, copied = [], 0
        for change in ordered:
            start = self.before.point_offset(change.span.start)
            if start < copied:
                raise EditError(f"the changes of {self.path.name} overlap in line {change.span.start.line}")
            pieces += [self.before.content[copied:start], change.new_text]
            copied = self.before.point_offset(change.span.end)
        return FileChange(self.path, self.before, "".join([*pieces, self.before.content[copied:]]), ordered)


class CreateFile(Struct, frozen=True):
    """Create an empty file at `path`.

    If there is one: `overwrite` empties it, else `ignore_if_exists` leaves it, else the plan fails.
    """

    path: Path
    overwrite: bool = False
    ignore_if_exists: bool = False


class RenameFile(Struct, frozen=True):
    """Rename the file or folder `old` to `new`. An existing file is replaced if `overwrite`; otherwise as above."""

    old: Path
    new: Path
    overwrite: bool = False
    ignore_if_exists: bool = False


class DeleteFile(Struct, frozen=True):
    """Delete the file or folder `path`, with its content if `recursive`."""

    path: Path
    recursive: bool = False
    ignore_if_not_exists: bool = False


Step = FileChange | CreateFile | RenameFile | DeleteFile


class EditPlan(Struct, frozen=True):
    """The steps in order; each sees the result of the ones before it.

    `confirmations` are the annotations (LSP 3.17, `ChangeAnnotation`) that need the user's consent first: label and
    description of each.
    """

    steps: tuple[Step, ...]
    confirmations: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files whose text changes, each once, by the name they have when it does."""
        return tuple(dict.fromkeys(step.path for step in self.steps if isinstance(step, FileChange)))

    @property
    def edit_count(self) -> int:
        """The number of text changes in all files."""
        return sum(len(step.changes) for step in self.steps if isinstance(step, FileChange))


def in_order(steps: Iterable[Step]) -> Iterator[Step]:
    """`steps` with adjacent text changes sorted by file: gopls 0.24 sends them in a different order each time."""
    changes: list[FileChange] = []
    for step in (*steps, None):
        if isinstance(step, FileChange):
            changes.append(step)
            continue
        yield from sorted(changes, key=lambda change: change.path)
        changes.clear()
        if step:
            yield step


def plan_workspace_edit(
    edit: WorkspaceEdit,
    read: Callable[[Path], Text],
    encoding: PositionEncoding,
    version: Callable[[Path], int | None],
) -> EditPlan:
    """The plan for `edit`, with the text of each file before and after.

    `read(path)` is the text as the server sees it, with a byte order mark if it has one, and raises `PathError` for a
    missing file; `version(path)` is the version of the open document, or None. Both are called with the files' present
    names on disk, however the edit renames them.

    An edit cannot remove or shift a byte order mark, split a CRLF (an edge between CR and LF, as sent by a server that
    counts only LF, is moved before both), or bring LF into a document whose lines all end with CRLF (a server's `\\n`
    becomes the document's line end). An edit without effect is left out.

    Raises:
        EditError: the edit is malformed, overlaps itself, is outside the text, names something other
            than files, or was made for another version of a document.
        PathError: raised by `read` for a file that the edit changes.
    """
    steps: list[Step] = []
    for operation in _parse(edit):
        match operation:
            case _TextEdits():
                if change := _file_change(operation, steps, read, encoding, version):
                    steps.append(change)
            case CreateFile(path, overwrite=False, ignore_if_exists=True) if _exists(path, steps, read):
                pass
            case RenameFile(_, new, overwrite=False, ignore_if_exists=True) if _exists(new, steps, read):
                pass
            case _:
                steps.append(operation)
    return EditPlan(tuple(steps), _confirmations(edit))


# --- what is where in the middle of a plan ---------------------------------------------------------


def _trace(path: Path, steps: Sequence[Step]) -> tuple[Path | None, Text | None]:
    """Where the content at `path` after `steps` is before them (None: they create it), and its text if it is new."""
    text = None
    for step in reversed(steps):
        match step:
            case FileChange() if step.path == path:
                text = Text(step.after) if text is None else text
            case CreateFile() if step.path == path:
                return None, Text("") if text is None else text
            case RenameFile() if path.is_relative_to(step.new):
                path = step.old / path.relative_to(step.new)
            case RenameFile(old=gone) | DeleteFile(path=gone) if path.is_relative_to(gone):
                raise EditError(f"The server's edit changes {path} after renaming or deleting it. Nothing was changed.")
    return path, text


def _exists(path: Path, steps: Sequence[Step], read: Callable[[Path], Text]) -> bool:
    try:
        origin, _ = _trace(path, steps)
        if origin:
            read(origin)
    except (EditError, PathError):
        return False
    return True


def _file_change(
    operation: _TextEdits,
    steps: Sequence[Step],
    read: Callable[[Path], Text],
    encoding: PositionEncoding,
    version: Callable[[Path], int | None],
) -> FileChange | None:
    origin, text = _trace(operation.path, steps)
    # gopls sends 0 for a file that is not open.
    if origin and operation.version and operation.version != version(origin):
        raise OutdatedEditError(
            f"{operation.path} changed since the server made this edit (for version {operation.version}). "
            "Nothing was changed; ask again."
        )
    before = read(origin or operation.path) if text is None else text
    try:
        after, changes = _edit_text(before, operation.edits, encoding)
    except EditError as error:
        raise EditError(f"The server's edit of {operation.path} {error}. Nothing was changed.") from None
    return FileChange(operation.path, before, after, changes) if changes else None


# --- text edits ------------------------------------------------------------------------------------


def _edit_text(
    before: Text, edits: Sequence[_TextEdit], encoding: PositionEncoding
) -> tuple[str, tuple[TextChange, ...]]:
    """`before` after `edits`, all of which count in `before`, and the changes that they make."""
    pieces, changes, copied, last_end = [], [], 0, 0
    crlf = ends_lines_with_crlf(before.content)
    for raw_start, raw_end, sent in sorted(_offsets(before, edits, encoding), key=lambda edit: edit[:2]):
        if raw_start < last_end:
            raise EditError("overlaps itself")
        last_end = raw_end
        # A point is never before the byte order mark nor between CR and LF.
        span = before.offsets_span(raw_start, raw_end)
        start, end = before.point_offset(span.start), before.point_offset(span.end)
        new_text = sent.removeprefix(BOM) if start > raw_start else sent
        new_text = new_text.removesuffix("\r") if end < raw_end else new_text
        if crlf:
            new_text = with_crlf(new_text)
        old_text = before.content[start:end]
        if new_text != old_text:
            changes.append(TextChange(span, old_text, new_text))
            pieces += [before.content[copied:start], new_text]
            copied = end
    return "".join([*pieces, before.content[copied:]]), tuple(changes)


def _offsets(text: Text, edits: Sequence[_TextEdit], encoding: PositionEncoding) -> Iterator[tuple[int, int, str]]:
    for range_, new_text in edits:
        offsets = text.range_offsets(range_, encoding)
        if offsets is None:
            raise EditError(f"has a range that is not in the text: {range_} (LSP's own numbers)")
        start, end = offsets
        if start > end:
            raise EditError(f"has a range that ends before it starts: {range_} (LSP's own numbers)")
        yield start, end, new_text


_LONE_LF = re.compile(r"(?<!\r)\n")


def with_crlf(content: str) -> str:
    """`content` with CRLF where a line ends with LF."""
    return _LONE_LF.sub("\r\n", content)


def ends_lines_with_crlf(content: str) -> bool:
    """Whether all lines of `content` end with CRLF."""
    return 0 < content.count("\r\n") == content.count("\n") == content.count("\r")


# --- the wire's form -------------------------------------------------------------------------------

_TextEdit = tuple[Range, str]  # an LSP `Range` and its new text


class _TextEdits(Struct, frozen=True):
    """An LSP `TextDocumentEdit`."""

    path: Path
    version: int | None
    edits: list[_TextEdit]


def _parse(edit: Mapping[str, Any]) -> list[_TextEdits | CreateFile | RenameFile | DeleteFile]:
    try:
        if edit.get("documentChanges"):  # preferred where both are there (LSP 3.17, `WorkspaceEdit`)
            return [_operation(change) for change in edit["documentChanges"]]
        merged: dict[Path, list[_TextEdit]] = {}  # two spellings of a URI are one file
        for uri, edits in (edit.get("changes") or {}).items():
            merged.setdefault(uri_path(uri), []).extend(map(_text_edit, edits))
        return [_TextEdits(path, None, edits) for path, edits in merged.items()]
    except PathError as error:
        raise EditError(f"The server's edit cannot be applied: {error} Nothing was changed.") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise EditError(f"The server's edit is malformed ({error!r}). Nothing was changed.") from None


def _operation(change: Json) -> _TextEdits | CreateFile | RenameFile | DeleteFile:
    options = change.get("options") or {}
    overwrite, ignore = bool(options.get("overwrite")), bool(options.get("ignoreIfExists"))
    match change.get("kind"):
        case None:
            document = change["textDocument"]
            edits = [_text_edit(edit) for edit in change["edits"]]
            return _TextEdits(uri_path(document["uri"]), document.get("version"), edits)
        case "create":
            return CreateFile(uri_path(change["uri"]), overwrite, ignore)
        case "rename":
            return RenameFile(uri_path(change["oldUri"]), uri_path(change["newUri"]), overwrite, ignore)
        case "delete":
            recursive, missing = bool(options.get("recursive")), bool(options.get("ignoreIfNotExists"))
            return DeleteFile(uri_path(change["uri"]), recursive, missing)
    raise TypeError(f"no such operation: {change['kind']}")


def _text_edit(edit: Json) -> _TextEdit:
    new_text: Any = edit["newText"]
    if not isinstance(new_text, str):
        raise TypeError("newText is not a string")
    range_ = edit["range"]
    return {"start": _position(range_["start"]), "end": _position(range_["end"])}, new_text


def _position(position: Json) -> Position:
    return {"line": index(position["line"]), "character": index(position["character"])}


def _confirmations(edit: Mapping[str, Any]) -> tuple[str, ...]:
    # rust-analyzer 1.95 adds its annotations to every edit: those that nothing refers to mean nothing.
    named = {one.get("annotationId") for one in edit.get("documentChanges") or ()}
    named |= {one.get("annotationId") for part in edit.get("documentChanges") or () for one in part.get("edits") or ()}
    annotations = (edit.get("changeAnnotations") or {}).items()
    asking = [one for id_, one in annotations if id_ in named and one.get("needsConfirmation")]
    return tuple(": ".join(str(one[key]) for key in ("label", "description") if one.get(key)) for one in asking)
