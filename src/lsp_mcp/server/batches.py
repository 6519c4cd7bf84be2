"""Batches of JSON-RPC, supported by MCP 2025-03-26 only: the answers to one are sent together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from mcp.types import (
    INVALID_REQUEST,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from lsp_mcp.server.messages import Read, Refusal

_WITH_BATCHES = "2025-03-26"


@dataclass
class _Batch:
    waits_for: set[RequestId] = field(default_factory=set)
    answers: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its answer once complete; empty until then, and if no message in it has an answer."""
        return f"[{','.join(self.answers)}]" if self.answers and not self.waits_for else ""


class Batches:
    """The batches of one connection. Text that its methods return must be sent, unless it is empty."""

    def __init__(self) -> None:
        self._agreed = False
        self._introduction: RequestId | None = None
        self._open: dict[RequestId, _Batch] = {}

    def introduced(self, initialize: JSONRPCRequest) -> None:
        """`initialize` was requested; its answer says whether there are batches."""
        self._introduction = initialize.id

    def opened(self, found: Sequence[Read]) -> tuple[list[JSONRPCMessage], str]:
        """The messages of a batch to handle, and the text to send at once."""
        if not self._agreed:
            message = f"batches exist only in protocol {_WITH_BATCHES}; send one message per line"
            ids: list[RequestId | None] = [one.id for one in found if isinstance(one, JSONRPCRequest)]
            return [], "\n".join(json.dumps(Refusal(id_, INVALID_REQUEST, message).json) for id_ in ids or [None])
        batch, handled = _Batch(), list[JSONRPCMessage]()
        for one in found:
            if isinstance(one, JSONRPCRequest) and one.id in self._open:
                one = Refusal(one.id, INVALID_REQUEST, "this id is in use")  # noqa: PLW2901
            if isinstance(one, Refusal):
                batch.answers += [json.dumps(one.json)] if one.is_sent else []
                continue
            if isinstance(one, JSONRPCRequest):
                batch.waits_for.add(one.id)
                self._open[one.id] = batch
            handled.append(one)
        return handled, batch.text

    def answered(self, answer: JSONRPCResponse | JSONRPCError, text: str) -> str:
        """The text to send for `answer`, whose own text is `text`."""
        if self._introduction is not None and answer.id == self._introduction:
            self._introduction = None
            self._agreed = isinstance(answer, JSONRPCResponse) and answer.result.get("protocolVersion") == _WITH_BATCHES
        if answer.id is None or (batch := self._open.pop(answer.id, None)) is None:
            return text
        batch.answers.append(text)
        batch.waits_for.discard(answer.id)
        return batch.text

    def cancelled(self, notification: JSONRPCNotification) -> str:
        """The text to send after a request was cancelled, and so may never be answered."""
        id_ = (notification.params or {}).get("requestId") if notification.method == "notifications/cancelled" else None
        if not isinstance(id_, str | int) or (batch := self._open.pop(id_, None)) is None:
            return ""
        batch.waits_for.discard(id_)
        return batch.text
