"""The types of protocol messages that the program reads or writes, from the protocols' own descriptions: `files`.

LSP's are those of lsprotocol, which is made from the specification's metamodel; DAP's are those of its JSON schema, as
debugpy brings it. A type that one of `_LSP` or `_DAP` has a field of is made as well.
"""

from __future__ import annotations

import enum
import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import files as files_of
from keyword import iskeyword
from pathlib import Path
from typing import Any

import attrs
import lsprotocol.types

FOLDER = Path(__file__).resolve().parent.parent / "src" / "lsp_mcp" / "protocol"
_HEAD = '''"""{title}: typed dictionaries, so that a message is used as it was decoded.

Made by scripts/protocol_types.py (`make reference`), which lists what is used. They are final: `in` tells the members
of a union apart. Do not edit.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict, final
'''
_LSP = (
    "CallHierarchyIncomingCall",
    "CallHierarchyOutgoingCall",
    "CodeAction",
    "Diagnostic",
    "DocumentSymbol",
    "Location",
    "LocationLink",
    "SymbolInformation",
    "TextDocumentPositionParams",
    "TypeHierarchyItem",
    "WorkspaceEdit",
    "WorkspaceSymbol",
)
_UNIONS = """

HierarchyItem = CallHierarchyItem | TypeHierarchyItem
DocumentChange = TextDocumentEdit | CreateFile | RenameFile | DeleteFile
"""
_DAP = ("Scope", "StackFrame", "Variable")
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

Field = tuple[str, str, bool]  # its name, its type, whether it is required
Record = tuple[list[Field], list[str]]  # its fields, and the records that these name


def files() -> dict[Path, str]:
    """The modules of `lsp_mcp.protocol`, by path."""
    return {
        FOLDER / "lsp.py": _module("Types of the Language Server Protocol 3.18", _LSP, _attrs_record) + _UNIONS,
        FOLDER / "dap.py": _module("Types of the Debug Adapter Protocol", _DAP, _schema_record(_dap_schema())),
    }


def _module(title: str, wanted: Sequence[str], record: Callable[[str], Record]) -> str:
    records: dict[str, list[Field]] = {}

    def add(name: str) -> None:
        if name not in records:
            records[name] = []
            fields, named = record(name)
            for other in named:
                add(other)
            records.pop(name)
            records[name] = fields  # after those that it names

    for name in wanted:
        add(name)
    return _HEAD.format(title=title) + "".join(_class(name, fields) for name, fields in records.items())


def _class(name: str, fields: Iterable[Field]) -> str:
    typed = [(field, type_ if required else f"NotRequired[{type_}]") for field, type_, required in fields]
    if any(iskeyword(field) for field, _ in typed):
        entries = ", ".join(f'"{field}": {type_}' for field, type_ in typed)
        return f'\n\n{name} = TypedDict(\n    "{name}", {{{entries}}}\n)\n'
    lines = [f"    {field}: {type_}" for field, type_ in typed]
    return "\n".join(["", "", "@final", f"class {name}(TypedDict):", *(lines or ["    pass"]), ""])


# --- LSP ---------------------------------------------------------------------------------------------


def _attrs_record(name: str) -> Record:
    class_ = getattr(lsprotocol.types, name)
    named: list[str] = []
    hints = typing.get_type_hints(class_, vars(lsprotocol.types))
    fields = [
        (_camel(one.name), _written(hints[one.name], named, optional=_is_optional(one)), not _is_optional(one))
        for one in attrs.fields(class_)
    ]
    return fields, named


def _is_optional(field: Any) -> bool:
    return field.default is None


def _camel(name: str) -> str:
    first, *others = name.rstrip("_").split("_")
    return first + "".join(other.capitalize() for other in others)


def _written(hint: Any, named: list[str], *, optional: bool = False) -> str:
    """`hint` as source text; the None of an `optional` field means that it is absent."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        kinds = [_written(one, named) for one in arguments if not (optional and one is type(None))]
        return " | ".join(dict.fromkeys(kinds)) if "Any" not in kinds else "Any"
    if origin is Sequence:
        return f"list[{_written(arguments[0], named)}]"
    if origin is Mapping:
        return f"dict[{', '.join(_written(one, named) for one in arguments)}]"
    if origin is typing.Literal:
        return type(arguments[0]).__name__
    if hint is Any or hint is object:
        return "Any"
    if hint is type(None):
        return "None"
    if attrs.has(hint):
        named.append(hint.__name__)
        return str(hint.__name__)
    if issubclass(hint, enum.Enum):
        return "int" if issubclass(hint, int) else "str"
    return str(hint.__name__)


# --- DAP ---------------------------------------------------------------------------------------------


def _dap_schema() -> dict[str, Any]:
    found = next(one for one in files_of("debugpy") or () if one.name == "debugProtocol.json")
    schema: dict[str, Any] = json.loads(found.read_text("utf-8"))["definitions"]
    return schema


def _schema_record(definitions: dict[str, Any]) -> Callable[[str], Record]:
    def record(name: str) -> Record:
        """Of an event or a response, its body."""
        schema = definitions[name]
        if "allOf" in schema:
            schema = schema["allOf"][-1]["properties"]["body"]
        named: list[str] = []
        required = schema.get("required", ())
        fields = [
            (field, _schema_type(one, definitions, named), field in required)
            for field, one in schema["properties"].items()
        ]
        return fields, named

    return record


def _schema_type(schema: dict[str, Any], definitions: dict[str, Any], named: list[str]) -> str:
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        if "properties" not in definitions[name]:
            return _schema_type(definitions[name], definitions, named)
        named.append(name)
        return str(name)
    kind = schema.get("type")
    if kind == "array":
        return f"list[{_schema_type(schema['items'], definitions, named)}]"
    if isinstance(kind, str) and kind in _PLAIN:
        return _PLAIN[kind]
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"dict[str, {_schema_type(schema['additionalProperties'], definitions, named)}]"
    return "Any"


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, "utf-8")
