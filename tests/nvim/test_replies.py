"""Replies to requests that are answered by a notification."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.bounded import bounded
from lsp_mcp.errors import DiedError
from lsp_mcp.nvim.replies import Replies


class _Lua:
    def tell(self, *_: Any) -> None:
        raise AssertionError("nobody is there to be told")


@bounded
async def test_when_neovim_ends_while_a_request_is_sent_its_end_is_told_once() -> None:
    replies = Replies(_Lua())  # type: ignore[arg-type]

    async def sent() -> None:
        # The connection's end fails the reply, then what sends the request.
        replies.fail_all("Neovim is gone")
        raise DiedError("Neovim is gone")

    with pytest.raises(DiedError, match="Neovim is gone"):
        await replies.reply(replies.number(), sent(), cancel="cancel", what="textDocument/hover", timeout=60)
