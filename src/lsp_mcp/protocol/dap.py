"""Types of the Debug Adapter Protocol: typed dictionaries, so that a message is used as it was decoded.

Made by scripts/protocol_types.py (`make reference`), which lists what is used. They are final: `in` tells the members
of a union apart. Do not edit.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict, final


@final
class Checksum(TypedDict):
    algorithm: str
    checksum: str


@final
class Source(TypedDict):
    name: NotRequired[str]
    path: NotRequired[str]
    sourceReference: NotRequired[int]
    presentationHint: NotRequired[str]
    origin: NotRequired[str]
    sources: NotRequired[list[Source]]
    adapterData: NotRequired[Any]
    checksums: NotRequired[list[Checksum]]


@final
class Scope(TypedDict):
    name: str
    presentationHint: NotRequired[str]
    variablesReference: int
    namedVariables: NotRequired[int]
    indexedVariables: NotRequired[int]
    expensive: bool
    source: NotRequired[Source]
    line: NotRequired[int]
    column: NotRequired[int]
    endLine: NotRequired[int]
    endColumn: NotRequired[int]


@final
class StackFrame(TypedDict):
    id: int
    name: str
    source: NotRequired[Source]
    line: int
    column: int
    endLine: NotRequired[int]
    endColumn: NotRequired[int]
    canRestart: NotRequired[bool]
    instructionPointerReference: NotRequired[str]
    moduleId: NotRequired[Any]
    presentationHint: NotRequired[str]


@final
class VariablePresentationHint(TypedDict):
    kind: NotRequired[str]
    attributes: NotRequired[list[str]]
    visibility: NotRequired[str]
    lazy: NotRequired[bool]


@final
class Variable(TypedDict):
    name: str
    value: str
    type: NotRequired[str]
    presentationHint: NotRequired[VariablePresentationHint]
    evaluateName: NotRequired[str]
    variablesReference: int
    namedVariables: NotRequired[int]
    indexedVariables: NotRequired[int]
    memoryReference: NotRequired[str]
