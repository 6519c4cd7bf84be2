"""Shared by the tools for Neovim: calls, documents, and answers.

Names, arguments and answers are the published ones of docs/contracts/nvim.md, raw LSP objects for most tools; further
information is a remark, a text of its own.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from lsp_mcp.backend import Json
from lsp_mcp.errors import CallerError, PathError
from lsp_mcp.lsp.session import Session
from lsp_mcp.nvim.connection import NvimConnection
from lsp_mcp.nvim.host import NvimHost
from lsp_mcp.nvim.paths import buffer_path
from lsp_mcp.objects.walker import documents
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Base, numbers_point
from lsp_mcp.toolsets.context import ToolContext, Toolset
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.passing import PassedThrough, PassThrough
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.uris import path_uri, uri_path


def _from_json(value: Any) -> Any:
    """An object that some clients send as a string of JSON."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError as error:
            raise ValueError(f"is a string that is not JSON ({error})") from None
    return value


MOST_BUFFER = 2**31 - 1  # Neovim's numbers of buffers


class DocumentId(BaseModel):
    """A document: exactly one of these."""

    model_config = ConfigDict(extra="forbid")

    buffer_id: Annotated[int, Field(ge=0, le=MOST_BUFFER)] | None = None
    project_relative_path: str | None = None
    absolute_path: str | None = None

    @model_validator(mode="after")
    def _is_one(self) -> DocumentId:
        if len(self.model_fields_set) != 1 or next(iter(self.model_dump(exclude_unset=True).values())) is None:
            raise ValueError("pass exactly one of buffer_id, project_relative_path, absolute_path")
        return self


Document = Annotated[
    DocumentId,
    BeforeValidator(_from_json),
    Field(description="Exactly one of these; buffer 0 is the current one"),
]
Object = Annotated[dict[str, Any], BeforeValidator(_from_json)]
# Neither has a description, which would be repeated thirty times: the server's instructions have it.
ConnectionId = str | None
ClientName = str | None
Line = Annotated[int, Field(description="From 1")]
Character = Annotated[int, Field(description="From 1")]
Save = Annotated[bool, Field(description="Write files that had no unsaved changes; those that had are never written")]


class DocumentClient(Struct, frozen=True):
    """A document, and the language client to ask about it."""

    sessions: Sessions
    session: Session
    path: Path

    @property
    def uri(self) -> str:
        """The document's URI."""
        return path_uri(self.path)


class NvimToolset(Toolset):
    """Tools over the connected Neovims."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        assert context.neovims
        self._neovims: Neovims = context.neovims

    def lists(self, name: str) -> bool:
        """Listed while there is a connection."""
        return bool(self._neovims.connections.connected)

    @property
    def _base(self) -> Base:
        return self._settings.base

    async def _sessions(self, connection_id: str | None) -> Sessions:
        return await self._neovims.sessions(connection_id)

    async def _host(self, connection_id: str | None) -> NvimHost:
        sessions = await self._sessions(connection_id)
        assert sessions.host
        return sessions.host

    async def _target(
        self, connection_id: str | None, document: DocumentId, client: str | None, provider: str = ""
    ) -> DocumentClient:
        sessions = await self._sessions(connection_id)
        path = await self._path(sessions, document)
        return DocumentClient(sessions, await self._neovims.session(sessions, path, client, provider), path)

    async def _path(self, sessions: Sessions, document: DocumentId) -> Path:
        """The file of `document`; it exists, in the workspace or in a buffer.

        Raises:
            CallerError: there is no such buffer, or it has no file.
            PathError: the file does not exist, or is outside the workspace.
        """
        assert sessions.host
        connection = sessions.host.present()
        if document.buffer_id is not None:
            buffer = await buffer_of(connection, document.buffer_id)
            if not buffer["name"] or buffer["type"]:
                kind = f" (buftype {buffer['type']})" if buffer["type"] else ""
                raise CallerError(f"buffer {buffer['number']} has no file{kind}; language servers know files only.")
            path = buffer_path(buffer["name"])
            sessions.workspace.allow(path)
            return path
        if document.project_relative_path is not None:
            path = Path((await connection.lua.call("about"))["cwd"], document.project_relative_path)
        else:
            path = Path(str(document.absolute_path))
            if not path.is_absolute():
                raise PathError(f"absolute_path: {path} is not absolute; pass project_relative_path.")
        return await self._readable(sessions, path)

    async def _readable(self, sessions: Sessions, path: Path) -> Path:
        assert sessions.host
        buffers = await sessions.host.buffers.seen()
        try:
            known = buffer_path(str(path))
            known.stat()
        except FileNotFoundError:
            pass  # it may be in a buffer
        except (OSError, ValueError, RuntimeError) as error:  # no file can have such a name
            raise PathError(f"{str(path)[:80]!r} cannot be a file: {error}") from None
        folder = sessions.host.present().project
        in_project = folder is not None and known.resolve().is_relative_to(folder)
        if not buffers.get(known) and not known.is_file():
            await sessions.host.buffers.sync()  # it may have been opened in the meantime
        if buffers.get(known) or (in_project and known.is_file()):
            sessions.workspace.allow(known)
            return known
        return await sessions.file(str(path))

    async def _send(
        self,
        call: Call,
        target: DocumentClient,
        method: str,
        params: Json | Callable[[], Awaitable[Json]] | None,
    ) -> PassedThrough:
        return await PassThrough(target.sessions, self._base).send(call, target.session, method, params)

    async def _answer(
        self, call: Call, target: DocumentClient, method: str, params: Json | Callable[[], Awaitable[Json]] | None
    ) -> str:
        return self._result_text(
            call, PassThrough(target.sessions, self._base).fitted(await self._send(call, target, method, params))
        )

    async def _document_of(self, sessions: Sessions, value: Json) -> Path | None:
        """The file in an item from a server, if it names one."""
        for uri in sorted(documents(value, None)):
            path = uri_path(uri)
            return await self._readable(sessions, path) if path.exists() else path
        return None

    def _result_text(self, call: Call, passed: PassedThrough) -> str:
        self._remark(call, passed)
        return as_json(passed.result)

    def _remark(self, call: Call, passed: PassedThrough) -> None:
        """Report the gaps of an answer, and events."""
        if passed.gaps and (status := passed.status) != "complete":
            call.remark(f"status: {status}")

    def _at(self, target: DocumentClient, line: int, character: int) -> Json:
        """`TextDocumentPositionParams` in the caller's numbers."""
        numbers_point({"line": line, "character": character}, self._base)
        return {"textDocument": {"uri": target.uri}, "position": {"line": line, "character": character}}


async def buffer_of(connection: NvimConnection, number: int) -> dict[str, Any]:
    """Neovim's information about buffer `number`, 0 for the current one.

    Raises:
        CallerError: there is none; the message lists the existing ones.
    """
    found: dict[str, Any] | None = await connection.lua.call("buffer", number)
    if found is None:
        numbers: Sequence[int] = await connection.lua.call("buffer_numbers")
        raise CallerError(f"unknown buffer {number}; available: {', '.join(map(str, numbers))}. See list_buffers.")
    return found
