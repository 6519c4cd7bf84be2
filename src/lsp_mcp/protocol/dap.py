"""Types of the Debug Adapter Protocol: typed dictionaries, so that a message is used as it was decoded.

Made by scripts/protocol_types.py (`make reference`), which lists what is used. Do not edit.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class Checksum(TypedDict):
    algorithm: str
    checksum: str


class Source(TypedDict):
    name: NotRequired[str]
    path: NotRequired[str]
    sourceReference: NotRequired[int]
    presentationHint: NotRequired[str]
    origin: NotRequired[str]
    sources: NotRequired[list[Source]]
    adapterData: NotRequired[Any]
    checksums: NotRequired[list[Checksum]]


class Breakpoint(TypedDict):
    id: NotRequired[int]
    verified: bool
    message: NotRequired[str]
    source: NotRequired[Source]
    line: NotRequired[int]
    column: NotRequired[int]
    endLine: NotRequired[int]
    endColumn: NotRequired[int]
    instructionReference: NotRequired[str]
    offset: NotRequired[int]
    reason: NotRequired[str]


class ExceptionBreakpointsFilter(TypedDict):
    filter: str
    label: str
    description: NotRequired[str]
    default: NotRequired[bool]
    supportsCondition: NotRequired[bool]
    conditionDescription: NotRequired[str]


class ColumnDescriptor(TypedDict):
    attributeName: str
    label: str
    format: NotRequired[str]
    type: NotRequired[str]
    width: NotRequired[int]


class Capabilities(TypedDict):
    supportsConfigurationDoneRequest: NotRequired[bool]
    supportsFunctionBreakpoints: NotRequired[bool]
    supportsConditionalBreakpoints: NotRequired[bool]
    supportsHitConditionalBreakpoints: NotRequired[bool]
    supportsEvaluateForHovers: NotRequired[bool]
    exceptionBreakpointFilters: NotRequired[list[ExceptionBreakpointsFilter]]
    supportsStepBack: NotRequired[bool]
    supportsSetVariable: NotRequired[bool]
    supportsRestartFrame: NotRequired[bool]
    supportsGotoTargetsRequest: NotRequired[bool]
    supportsStepInTargetsRequest: NotRequired[bool]
    supportsCompletionsRequest: NotRequired[bool]
    completionTriggerCharacters: NotRequired[list[str]]
    supportsModulesRequest: NotRequired[bool]
    additionalModuleColumns: NotRequired[list[ColumnDescriptor]]
    supportedChecksumAlgorithms: NotRequired[list[str]]
    supportsRestartRequest: NotRequired[bool]
    supportsExceptionOptions: NotRequired[bool]
    supportsValueFormattingOptions: NotRequired[bool]
    supportsExceptionInfoRequest: NotRequired[bool]
    supportTerminateDebuggee: NotRequired[bool]
    supportSuspendDebuggee: NotRequired[bool]
    supportsDelayedStackTraceLoading: NotRequired[bool]
    supportsLoadedSourcesRequest: NotRequired[bool]
    supportsLogPoints: NotRequired[bool]
    supportsTerminateThreadsRequest: NotRequired[bool]
    supportsSetExpression: NotRequired[bool]
    supportsTerminateRequest: NotRequired[bool]
    supportsDataBreakpoints: NotRequired[bool]
    supportsReadMemoryRequest: NotRequired[bool]
    supportsWriteMemoryRequest: NotRequired[bool]
    supportsDisassembleRequest: NotRequired[bool]
    supportsCancelRequest: NotRequired[bool]
    supportsBreakpointLocationsRequest: NotRequired[bool]
    supportsClipboardContext: NotRequired[bool]
    supportsSteppingGranularity: NotRequired[bool]
    supportsInstructionBreakpoints: NotRequired[bool]
    supportsExceptionFilterOptions: NotRequired[bool]
    supportsSingleThreadExecutionRequests: NotRequired[bool]


class ExceptionDetails(TypedDict):
    message: NotRequired[str]
    typeName: NotRequired[str]
    fullTypeName: NotRequired[str]
    evaluateName: NotRequired[str]
    stackTrace: NotRequired[str]
    innerException: NotRequired[list[ExceptionDetails]]


class ExceptionInfoResponse(TypedDict):
    exceptionId: str
    description: NotRequired[str]
    breakMode: str
    details: NotRequired[ExceptionDetails]


class VariablePresentationHint(TypedDict):
    kind: NotRequired[str]
    attributes: NotRequired[list[str]]
    visibility: NotRequired[str]
    lazy: NotRequired[bool]


class EvaluateResponse(TypedDict):
    result: str
    type: NotRequired[str]
    presentationHint: NotRequired[VariablePresentationHint]
    variablesReference: int
    namedVariables: NotRequired[int]
    indexedVariables: NotRequired[int]
    memoryReference: NotRequired[str]


class OutputEvent(TypedDict):
    category: NotRequired[str]
    output: str
    group: NotRequired[str]
    variablesReference: NotRequired[int]
    source: NotRequired[Source]
    line: NotRequired[int]
    column: NotRequired[int]
    data: NotRequired[Any]


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


class StoppedEvent(TypedDict):
    reason: str
    description: NotRequired[str]
    threadId: NotRequired[int]
    preserveFocusHint: NotRequired[bool]
    text: NotRequired[str]
    allThreadsStopped: NotRequired[bool]
    hitBreakpointIds: NotRequired[list[int]]


class Thread(TypedDict):
    id: int
    name: str


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
