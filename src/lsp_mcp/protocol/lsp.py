"""Types of the Language Server Protocol 3.18: typed dictionaries, so that a message is used as it was decoded.

Made by scripts/protocol_types.py (`make reference`), which lists what is used. Do not edit.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class Position(TypedDict):
    line: int
    character: int


class Range(TypedDict):
    start: Position
    end: Position


class CallHierarchyItem(TypedDict):
    name: str
    kind: int
    uri: str
    range: Range
    selectionRange: Range
    tags: NotRequired[list[int]]
    detail: NotRequired[str]
    data: NotRequired[Any]


CallHierarchyIncomingCall = TypedDict(
    "CallHierarchyIncomingCall", {"from": CallHierarchyItem, "fromRanges": list[Range]}
)


class CallHierarchyOutgoingCall(TypedDict):
    to: CallHierarchyItem
    fromRanges: list[Range]


class CodeDescription(TypedDict):
    href: str


class Location(TypedDict):
    uri: str
    range: Range


class DiagnosticRelatedInformation(TypedDict):
    location: Location
    message: str


class Diagnostic(TypedDict):
    range: Range
    message: str
    severity: NotRequired[int]
    code: NotRequired[int | str]
    codeDescription: NotRequired[CodeDescription]
    source: NotRequired[str]
    tags: NotRequired[list[int]]
    relatedInformation: NotRequired[list[DiagnosticRelatedInformation]]
    data: NotRequired[Any]


class CodeActionDisabled(TypedDict):
    reason: str


class TextEdit(TypedDict):
    range: Range
    newText: str


class OptionalVersionedTextDocumentIdentifier(TypedDict):
    uri: str
    version: NotRequired[int]


class AnnotatedTextEdit(TypedDict):
    annotationId: str
    range: Range
    newText: str


class StringValue(TypedDict):
    value: str
    kind: str


class SnippetTextEdit(TypedDict):
    range: Range
    snippet: StringValue
    annotationId: NotRequired[str]


class TextDocumentEdit(TypedDict):
    textDocument: OptionalVersionedTextDocumentIdentifier
    edits: list[TextEdit | AnnotatedTextEdit | SnippetTextEdit]


class CreateFileOptions(TypedDict):
    overwrite: NotRequired[bool]
    ignoreIfExists: NotRequired[bool]


class CreateFile(TypedDict):
    uri: str
    kind: str
    options: NotRequired[CreateFileOptions]
    annotationId: NotRequired[str]


class RenameFileOptions(TypedDict):
    overwrite: NotRequired[bool]
    ignoreIfExists: NotRequired[bool]


class RenameFile(TypedDict):
    oldUri: str
    newUri: str
    kind: str
    options: NotRequired[RenameFileOptions]
    annotationId: NotRequired[str]


class DeleteFileOptions(TypedDict):
    recursive: NotRequired[bool]
    ignoreIfNotExists: NotRequired[bool]


class DeleteFile(TypedDict):
    uri: str
    kind: str
    options: NotRequired[DeleteFileOptions]
    annotationId: NotRequired[str]


class ChangeAnnotation(TypedDict):
    label: str
    needsConfirmation: NotRequired[bool]
    description: NotRequired[str]


class WorkspaceEdit(TypedDict):
    changes: NotRequired[dict[str, list[TextEdit]]]
    documentChanges: NotRequired[list[TextDocumentEdit | CreateFile | RenameFile | DeleteFile]]
    changeAnnotations: NotRequired[dict[str, ChangeAnnotation]]


class Command(TypedDict):
    title: str
    command: str
    tooltip: NotRequired[str]
    arguments: NotRequired[list[Any]]


class CodeAction(TypedDict):
    title: str
    kind: NotRequired[str]
    diagnostics: NotRequired[list[Diagnostic]]
    isPreferred: NotRequired[bool]
    disabled: NotRequired[CodeActionDisabled]
    edit: NotRequired[WorkspaceEdit]
    command: NotRequired[Command]
    data: NotRequired[Any]
    tags: NotRequired[list[int]]


class DocumentSymbol(TypedDict):
    name: str
    kind: int
    range: Range
    selectionRange: Range
    detail: NotRequired[str]
    tags: NotRequired[list[int]]
    deprecated: NotRequired[bool]
    children: NotRequired[list[DocumentSymbol]]


class LocationLink(TypedDict):
    targetUri: str
    targetRange: Range
    targetSelectionRange: Range
    originSelectionRange: NotRequired[Range]


class SymbolInformation(TypedDict):
    location: Location
    name: str
    kind: int
    deprecated: NotRequired[bool]
    tags: NotRequired[list[int]]
    containerName: NotRequired[str]


class TextDocumentIdentifier(TypedDict):
    uri: str


class TextDocumentPositionParams(TypedDict):
    textDocument: TextDocumentIdentifier
    position: Position


class TypeHierarchyItem(TypedDict):
    name: str
    kind: int
    uri: str
    range: Range
    selectionRange: Range
    tags: NotRequired[list[int]]
    detail: NotRequired[str]
    data: NotRequired[Any]


class LocationUriOnly(TypedDict):
    uri: str


class WorkspaceSymbol(TypedDict):
    location: Location | LocationUriOnly
    name: str
    kind: int
    data: NotRequired[Any]
    tags: NotRequired[list[int]]
    containerName: NotRequired[str]
