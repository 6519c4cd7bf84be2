"""Types of the Language Server Protocol 3.18: typed dictionaries, so that a message is used as it was decoded.

Made by scripts/protocol_types.py (`make reference`), which lists what is used. They are final: `in` tells the members
of a union apart. Do not edit.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict, final


@final
class Position(TypedDict):
    line: int
    character: int


@final
class Range(TypedDict):
    start: Position
    end: Position


@final
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


@final
class CallHierarchyOutgoingCall(TypedDict):
    to: CallHierarchyItem
    fromRanges: list[Range]


@final
class CodeDescription(TypedDict):
    href: str


@final
class Location(TypedDict):
    uri: str
    range: Range


@final
class DiagnosticRelatedInformation(TypedDict):
    location: Location
    message: str


@final
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


@final
class CodeActionDisabled(TypedDict):
    reason: str


@final
class TextEdit(TypedDict):
    range: Range
    newText: str


@final
class OptionalVersionedTextDocumentIdentifier(TypedDict):
    uri: str
    version: NotRequired[int]


@final
class AnnotatedTextEdit(TypedDict):
    annotationId: str
    range: Range
    newText: str


@final
class StringValue(TypedDict):
    value: str
    kind: str


@final
class SnippetTextEdit(TypedDict):
    range: Range
    snippet: StringValue
    annotationId: NotRequired[str]


@final
class TextDocumentEdit(TypedDict):
    textDocument: OptionalVersionedTextDocumentIdentifier
    edits: list[TextEdit | AnnotatedTextEdit | SnippetTextEdit]


@final
class CreateFileOptions(TypedDict):
    overwrite: NotRequired[bool]
    ignoreIfExists: NotRequired[bool]


@final
class CreateFile(TypedDict):
    uri: str
    kind: str
    options: NotRequired[CreateFileOptions]
    annotationId: NotRequired[str]


@final
class RenameFileOptions(TypedDict):
    overwrite: NotRequired[bool]
    ignoreIfExists: NotRequired[bool]


@final
class RenameFile(TypedDict):
    oldUri: str
    newUri: str
    kind: str
    options: NotRequired[RenameFileOptions]
    annotationId: NotRequired[str]


@final
class DeleteFileOptions(TypedDict):
    recursive: NotRequired[bool]
    ignoreIfNotExists: NotRequired[bool]


@final
class DeleteFile(TypedDict):
    uri: str
    kind: str
    options: NotRequired[DeleteFileOptions]
    annotationId: NotRequired[str]


@final
class ChangeAnnotation(TypedDict):
    label: str
    needsConfirmation: NotRequired[bool]
    description: NotRequired[str]


@final
class WorkspaceEdit(TypedDict):
    changes: NotRequired[dict[str, list[TextEdit]]]
    documentChanges: NotRequired[list[TextDocumentEdit | CreateFile | RenameFile | DeleteFile]]
    changeAnnotations: NotRequired[dict[str, ChangeAnnotation]]


@final
class Command(TypedDict):
    title: str
    command: str
    tooltip: NotRequired[str]
    arguments: NotRequired[list[Any]]


@final
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


@final
class DocumentSymbol(TypedDict):
    name: str
    kind: int
    range: Range
    selectionRange: Range
    detail: NotRequired[str]
    tags: NotRequired[list[int]]
    deprecated: NotRequired[bool]
    children: NotRequired[list[DocumentSymbol]]


@final
class LocationLink(TypedDict):
    targetUri: str
    targetRange: Range
    targetSelectionRange: Range
    originSelectionRange: NotRequired[Range]


@final
class SymbolInformation(TypedDict):
    location: Location
    name: str
    kind: int
    deprecated: NotRequired[bool]
    tags: NotRequired[list[int]]
    containerName: NotRequired[str]


@final
class TextDocumentIdentifier(TypedDict):
    uri: str


@final
class TextDocumentPositionParams(TypedDict):
    textDocument: TextDocumentIdentifier
    position: Position


@final
class TypeHierarchyItem(TypedDict):
    name: str
    kind: int
    uri: str
    range: Range
    selectionRange: Range
    tags: NotRequired[list[int]]
    detail: NotRequired[str]
    data: NotRequired[Any]


@final
class LocationUriOnly(TypedDict):
    uri: str


@final
class WorkspaceSymbol(TypedDict):
    location: Location | LocationUriOnly
    name: str
    kind: int
    data: NotRequired[Any]
    tags: NotRequired[list[int]]
    containerName: NotRequired[str]


HierarchyItem = CallHierarchyItem | TypeHierarchyItem
DocumentChange = TextDocumentEdit | CreateFile | RenameFile | DeleteFile
