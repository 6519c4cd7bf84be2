"""`checked_params`: right params go through as they are; wrong ones are refused by the name of the field."""

import subprocess
import sys
from inspect import Parameter, signature
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp

from lsp_mcp.errors import CallerError
from lsp_mcp.objects.params import checked_params, request_methods
from lsp_mcp.text import Json
from objects.lsp_objects import HOME, plain, typed

DOCUMENT = {"uri": HOME}
PLACE = {"line": 1, "character": 1}
RANGE = {"start": PLACE, "end": PLACE}
AT = {"textDocument": DOCUMENT, "position": PLACE}
METHODS = sorted(request_methods() - {"initialize", "shutdown"})


def refusal(method: Any, params: Any) -> str:
    with pytest.raises(CallerError) as caught:
        checked_params(method, params)
    return str(caught.value)


# --- what goes through -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/hover", AT),
        ("textDocument/references", AT | {"context": {"includeDeclaration": True}}),
        ("textDocument/formatting", {
            "textDocument": DOCUMENT, "options": {"tabSize": 4, "insertSpaces": True, "more": 1},
        }),
        ("workspace/symbol", {"query": ""}),
        ("workspace/executeCommand", {"command": "x", "arguments": [1.0, None, {"line": "x"}]}),
        ("workspaceSymbol/resolve", {"name": "f", "kind": 12, "location": {"uri": HOME}}),
        ("textDocument/signatureHelp", AT | {"context": None}),
        ("textDocument/colorPresentation", {
            "textDocument": DOCUMENT,
            "color": {"red": 1, "green": 0.5, "blue": 0, "alpha": 1},
            "range": RANGE,
        }),
        ("textDocument/ast", {"textDocument": DOCUMENT, "range": RANGE, "depth": "deep"}),
        ("textDocument/ast", {"textDocument": DOCUMENT, "range": None}),
        ("textDocument/switchSourceHeader", {"uri": HOME}),
        ("textDocument/symbolInfo", AT),
        ("textDocument/typeHierarchy", AT | {"direction": 2, "resolve": 5}),
        ("typeHierarchy/resolve", {"item": {"uri": HOME, "range": RANGE, "data": 3}, "resolve": 1, "direction": 0}),
        ("rust-analyzer/viewHir", AT),
        ("$/memoryUsage", {}),
    ],
)  # fmt: skip
def test_right_params_go_through_as_they_are(method: str, params: Json) -> None:
    assert checked_params(method, params) == params


@pytest.mark.parametrize("params", [None, {}])
def test_a_method_without_params_has_none(params: Any) -> None:
    assert checked_params("shutdown", params) is None


def test_a_method_that_lsp_does_not_define_may_have_none() -> None:
    assert checked_params("$/memoryUsage", None) is None


@pytest.mark.parametrize(
    ("method", "item"),
    [
        ("completionItem/resolve", {"label": "f", "score": 0.9, "kind": 99, "tags": [7], "data": {"x": 1.0}}),
        ("codeAction/resolve", {"title": "fix", "isExtracted": True, "diagnostics": [
            {"range": RANGE, "message": "m", "severity": 9, "category": "c", "code": None},
        ]}),
        ("callHierarchy/incomingCalls", {"item": {
            "name": "f", "kind": 255, "uri": HOME, "range": RANGE, "selectionRange": RANGE, "usr": "x",
        }}),
    ],
)  # fmt: skip
def test_what_a_server_added_to_lsp_may_be_handed_back(method: str, item: Json) -> None:
    assert checked_params(method, item) == item


def test_whole_numbers_become_integers_and_the_params_that_were_given_stay() -> None:
    given_params: dict[str, Any] = AT | {"position": {"line": 3.0, "character": 4.0}}
    checked = checked_params("textDocument/hover", given_params)
    assert checked is not None
    assert [type(number) for number in checked["position"].values()] == [int, int]
    assert type(given_params["position"]["line"]) is float


# --- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("textDocument/hover", None, "params.textDocument is required"),
        ("textDocument/hover", {"textDocument": {}, "position": PLACE}, "params.textDocument.uri is required"),
        ("textDocument/hover", AT | {"textDocument": {"url": HOME}},
         "params.textDocument.uri is required, got 'url' instead"),
        ("textDocument/hover", AT | {"textDocument": HOME},
         f"params.textDocument: expected an object (TextDocumentIdentifier), got '{HOME}'"),
        ("textDocument/hover", AT | {"textDocument": {"uri": 3}}, "params.textDocument.uri: expected a string, got 3"),
        ("textDocument/hover", AT | {"position": {"line": "x", "character": 1}},
         "params.position.line: expected an integer, got 'x'"),
        ("textDocument/hover", AT | {"position": {"line": True, "character": 1}},
         "params.position.line: expected an integer, got True"),
        ("textDocument/hover", AT | {"position": {"line": 1.5, "character": 1}},
         "params.position.line: expected an integer, got 1.5"),
        ("textDocument/hover", AT | {"position": {"line": None, "character": 1}},
         "params.position.line: expected an integer, got None"),
        ("textDocument/hover", {"textDocument": DOCUMENT, "positon": PLACE},
         "params: unknown field 'positon' (did you mean 'position'?); it takes textDocument, position"),
        ("textDocument/hover", AT | {"zzz": 1}, "params: unknown field 'zzz'; it takes textDocument, position"),
        ("textDocument/hover", [AT], f"params: expected an object, got {[AT]!r:.80}… ({len(repr([AT]))} characters)"),
        ("textDocument/references", AT | {"context": {"includeDeclration": True}},
         "params.context: unknown field 'includeDeclration' (did you mean 'includeDeclaration'?); "
         "it takes includeDeclaration"),
        ("textDocument/references", AT | {"context": {"includeDeclaration": "true"}},
         "params.context.includeDeclaration: expected true or false, got 'true'"),
        ("textDocument/completion", AT | {"context": {"triggerKind": 9}},
         "params.context.triggerKind: expected one of 1, 2, 3, got 9"),
        ("textDocument/codeAction", {"textDocument": DOCUMENT, "range": RANGE, "context": {"diagnostics": [{}]}},
         "params.context.diagnostics[0].range is required"),
        ("textDocument/selectionRange", {"textDocument": DOCUMENT, "positions": [PLACE, {"line": 1}]},
         "params.positions[1].character is required"),
        ("textDocument/selectionRange", {"textDocument": DOCUMENT, "positions": PLACE},
         f"params.positions: expected a list, got {PLACE}"),
        ("textDocument/rename", AT | {"newName": 5}, "params.newName: expected a string, got 5"),
        ("shutdown", {"now": True}, "shutdown takes no params, got {'now': True}"),
        # unions
        ("textDocument/didChange", {"textDocument": {"uri": HOME, "version": 1}, "contentChanges": [{"text": 1}]},
         "params.contentChanges[0].text: expected a string, got 1"),
        ("textDocument/didChange", {"textDocument": {"uri": HOME, "version": 1},
                                    "contentChanges": [{"text": "", "range": 1}]},
         "params.contentChanges[0].range: expected an object (Range), got 1"),
        ("completionItem/resolve", {"label": "x", "documentation": 3},
         "params.documentation: expected a string or an object (MarkupContent), got 3"),
        ("completionItem/resolve", {"label": "x", "documentation": {"kind": "markdown"}},
         "params.documentation.value is required"),
        ("codeAction/resolve", {"title": "x", "kind": 3}, "params.kind: expected a string, got 3"),
        ("codeAction/resolve", {"title": "x", "edit": {"documentChanges": [{"kind": "creat", "uri": HOME}]}},
         "params.edit.documentChanges[0].kind: expected 'create', got 'creat'"),
        ("codeAction/resolve", {"title": "x", "edit": {"documentChanges": [{"kind": "rename", "uri": HOME}]}},
         "params.edit.documentChanges[0].oldUri is required"),
        ("codeAction/resolve", {"title": "x", "edit": {"changes": {HOME: [{"range": RANGE}]}}},
         f"params.edit.changes.{HOME}[0].newText is required"),
        # not in LSP
        ("textDocument/ast", {"textDocument": HOME},
         f"params.textDocument: expected an object (TextDocumentIdentifier), got '{HOME}'"),
        ("textDocument/ast", {"textDocument": DOCUMENT, "range": {"start": PLACE}}, "params.range.end is required"),
        ("textDocument/symbolInfo", AT | {"position": [1, 1]},
         "params.position: expected an object (Position), got [1, 1]"),
        ("typeHierarchy/resolve", {"item": 3}, "params.item: expected an object, got 3"),
        ("typeHierarchy/resolve", {"item": {"selectionRange": {}}}, "params.item.selectionRange.start is required"),
        ("textDocument/switchSourceHeader", {"uri": None, "range": 1},
         "params.range: expected an object (Range), got 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_its_path(method: str, params: Any, message: str) -> None:
    assert refusal(method, params) == message


@pytest.mark.parametrize("token", ["workDoneToken", "partialResultToken"])
@pytest.mark.parametrize("method", ["textDocument/hover", "textDocument/ast"])
def test_progress_that_nobody_would_read_is_refused(method: str, token: str) -> None:
    assert refusal(method, AT | {token: 1}).startswith(f"params.{token}: leave it out")


@pytest.mark.parametrize(
    "method",
    ["", " ", "hover", "textDocument/", "/hover", "textDocument/hover\n", "a\n/hover", "a/b c", "a//b", None, 3],
)  # fmt: skip
def test_what_is_not_a_method_is_refused(method: Any) -> None:
    assert "is not an LSP method; examples: textDocument/hover" in refusal(method, {})


@pytest.mark.parametrize("method", METHODS)
@given(st.data())
@settings(max_examples=5, deadline=None)
def test_every_required_field_is_asked_for_and_of_its_type(method: str, data: st.DataObject) -> None:
    kind: Any = lsp.METHOD_TO_TYPES[method][2]
    params = plain(data.draw(typed(kind)))
    required = [name for name, field in signature(kind).parameters.items() if field.default is Parameter.empty]
    assert required
    for field in required:
        first, *others = field.split("_")
        name = first + "".join(map(str.title, others))
        rest = {key: value for key, value in params.items() if key != name}
        assert refusal(method, rest) == f"params.{name} is required"
        assert refusal(method, params | {name: True}).startswith(f"params.{name}: expected ")


# --- methods ---------------------------------------------------------------------------------------


def test_the_requests_are_those_that_a_client_sends() -> None:
    assert {"textDocument/hover", "typeHierarchy/subtypes", "workspace/symbol", "shutdown"} <= request_methods()
    assert not {"workspace/applyEdit", "textDocument/didOpen", "$/cancelRequest", "client/registerCapability"} & (
        request_methods()
    )


def test_importing_the_check_does_not_import_what_is_heavy() -> None:
    code = "import sys, lsp_mcp.objects.params; sys.exit('lsprotocol' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
