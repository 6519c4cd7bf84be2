"""One line or frame as JSON-RPC messages of MCP, or the error that answers it. Pure.

The SDK (mcp 2.3) drops messages that it cannot read, and the client waits for ever. Here every message with an id gets
an answer, at the cost of one parse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    InitializeRequestParams,
    JSONRPCMessage,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

_BOM = b"\xef\xbb\xbf"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|$)|[][{},:]|[^][{},:"\s]++', re.DOTALL)  # possessive: in one pass
_MOST_TOKENS = 10_000  # examined for an id, which clients write first
_HALF = re.compile("[\ud800-\udfff]")
_MOST_NESTED = 200  # of pydantic's parser, jiter


@dataclass(frozen=True)
class Refusal:
    """The error response to a message that cannot be handled."""

    id: str | int | None  # None where the message has none that an answer could name
    code: int
    message: str
    is_sent: bool = True  # false for notifications and answers, which get no response

    @property
    def json(self) -> dict[str, Any]:
        """The response in its wire format."""
        error = {"code": self.code, "message": self.message}
        return {"jsonrpc": "2.0", "id": self.id, "error": error}


Read = JSONRPCMessage | Refusal


def read_message(line: bytes, amend: Callable[[dict[str, Any]], None] | None = None) -> Read | list[Read]:
    """The message in `line`, or several of a batch; `amend` may change `initialize` before it is validated."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _read_slowly(line, amend)
    if isinstance(message, JSONRPCRequest) and message.method != "initialize":
        return message
    # The SDK takes a request with an invalid id for a notification, which is never answered.
    return _read_slowly(line, amend)


def too_long(line: bytes, most: int) -> Refusal:
    """The response to a message that exceeds the size limit."""
    said = f"this message has {len(line):,} bytes; at most {most:,} are read. Split it"
    return Refusal(_outer_id(line.decode("utf-8", "replace")), INVALID_REQUEST, said)


def _read_slowly(line: bytes, amend: Callable[[dict[str, Any]], None] | None) -> Read | list[Read]:
    try:
        text = line.removeprefix(_BOM).decode()
        value = json.loads(text)
    except RecursionError:
        id_ = _outer_id(line.decode("utf-8", "replace"))
        return Refusal(id_, PARSE_ERROR if id_ is None else INVALID_PARAMS, _too_deep())
    except UnicodeDecodeError as error:
        return Refusal(_outer_id(line.decode("utf-8", "replace")), PARSE_ERROR, f"this is not UTF-8: {error}")
    except json.JSONDecodeError as error:
        return Refusal(None, PARSE_ERROR, f"this is not JSON: {error}")
    except ValueError as error:  # a number that Python does not take
        return Refusal(_outer_id(text), INVALID_PARAMS, f"this cannot be used: {error}"[:200])
    if isinstance(value, list):
        if not value:
            return Refusal(None, INVALID_REQUEST, "a batch needs at least one message")
        return [_message(one, amend, batched=True) for one in value]
    return _message(value, amend)


def _message(value: Any, amend: Callable[[dict[str, Any]], None] | None, *, batched: bool = False) -> Read:
    """Parse a JSON value as a message."""
    if not isinstance(value, dict):
        return Refusal(None, INVALID_REQUEST, "a JSON-RPC message is an object")
    id_ = value.get("id")
    known = id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None
    if wrong := _wrong_envelope(value):
        # Answers get no response: their id is one of ours, and the client may use the same one for its own request.
        is_answer = "method" not in value and ("result" in value or "error" in value)
        return Refusal(known, INVALID_REQUEST, wrong, not is_answer)
    wanted = "method" in value and "id" in value
    params = value.get("params")
    if params is not None and not isinstance(params, dict):
        return Refusal(known, INVALID_PARAMS, "params must be an object", wanted)
    if wrong := _unreadable(value):
        return Refusal(known, INVALID_PARAMS, wrong, wanted)
    try:
        if value.get("method") == "initialize":
            if batched:
                return Refusal(known, INVALID_REQUEST, "initialize cannot be in a batch")
            value["params"] = params = params or {}
            if amend:
                amend(params)
            InitializeRequestParams.model_validate(params, by_name=False)
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:2])
        return Refusal(known, INVALID_PARAMS, f"these params cannot be used: {wrong}", wanted)


def _wrong_envelope(value: dict[str, Any]) -> str:
    """Why `value` is not a valid message of JSON-RPC 2.0 and MCP; empty if it is."""
    id_, method = value.get("id"), value.get("method")
    answers = "result" in value or "error" in value
    if value.get("jsonrpc") != "2.0":
        return 'a message needs "jsonrpc": "2.0"'
    if "id" in value and (not isinstance(id_, str | int) or isinstance(id_, bool)) and "error" not in value:
        return "an id is a string or an integer"
    if "method" in value and answers:
        return "a message is a request or an answer, not both"
    if not answers and not isinstance(method, str):
        return "a request needs a method, which is a string"
    return ""


def _unreadable(value: dict[str, Any]) -> str:
    """Why `value` cannot be passed to a tool; empty if it can.

    The SDK's models accept neither lone surrogates, which a client sends if it has cut a character in two, nor values
    that are nested too deeply.
    """
    places: list[tuple[Any, str, int]] = [(value.get("method", ""), "method", 0), (value.get("params"), "params", 1)]
    places += [(value.get(name), name, 1) for name in ("id", "result", "error")]
    while places:
        one, where, depth = places.pop()
        if depth > _MOST_NESTED:
            return _too_deep()
        if isinstance(one, str) and _HALF.search(one):
            return f"{where[:200]} has half of a surrogate pair, which is not a character; send whole characters"
        if isinstance(one, dict):
            for key, inner in one.items():
                if _HALF.search(key):
                    return f"a name in {where[:200]} has half of a surrogate pair"
                places.append((inner, f"{where}.{key}", depth + 1))
        elif isinstance(one, list):
            places += [(inner, f"{where}.{number}", depth + 1) for number, inner in enumerate(one)]
    return ""


def _outer_id(text: str) -> str | int | None:
    """The id of a message that cannot be parsed as a whole, by its outermost names."""
    depth, before = 0, ["", ""]
    for token in (found[0] for found in islice(_TOKEN.finditer(text), _MOST_TOKENS)):
        if token in ("[", "{"):
            depth += 1
        elif token in ("]", "}"):
            depth -= 1
        elif depth == 1 and before == ['"id"', ":"]:
            try:
                found = json.loads(token)
            except ValueError:
                return None
            return found if isinstance(found, str | int) and not isinstance(found, bool) else None
        before = [before[1], token]
    return None


def _too_deep() -> str:
    return f"this is nested deeper than {_MOST_NESTED}"
