"""Answers to a client's first requests from a copy, while the daemon starts: `Greetings`."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Mapping
from typing import Any

from lsp_mcp.door.place import cache_folder, keep_newest
from lsp_mcp.door.request import DaemonRequest

_MOST = 100  # copies kept: of other workspace roots, flags and versions
_MOST_ANSWERS = 30  # answers in one copy: three for each version of the protocol
_META = "io.modelcontextprotocol/"
_OURS = "LSP_MCP_"  # variables of this program that may change what it offers
Json = dict[str, Any]


class Greetings:
    """The answers to `initialize`, `server/discover` and `tools/list` that earlier clients got.

    For the same version and installation, workspace root and flags. A daemon's offer depends on these and on the
    languages in the root, so each answer from a copy is compared with the daemon's. The tools of a Neovim are never
    copied.
    """

    def __init__(self, request: DaemonRequest) -> None:
        """Read the copy, if possible."""
        own = sorted(f"{name}={value}" for name, value in request.environment.items() if name.startswith(_OURS))
        # A Neovim's offer depends on whether it runs and on what its user has registered.
        self._without_arguments = ("server/discover",) if request.is_of_neovim else ("tools/list", "server/discover")
        self._of = "\0".join(
            [*request.program, request.root, str(request.named), *request.shape, "", *request.client, "", *own]
        )
        data = self._of.encode("utf-8", "surrogateescape")
        self._folder = os.path.join(cache_folder(), "greetings")
        self._path = os.path.join(self._folder, f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}.json")
        self._answers: dict[str, Any] = self._read()
        self._version = ""  # of the protocol, as requested in `initialize`

    @property
    def are_known(self) -> bool:
        """Whether there is a copy of anything."""
        return bool(self._answers)

    def begun(self, initialize: Mapping[str, Any]) -> None:
        """Note what the client has sent: its protocol version is that of requests which name none."""
        params = initialize.get("params")
        self._version = str(params.get("protocolVersion")) if isinstance(params, dict) else ""

    def answer(self, request: Mapping[str, Any]) -> Json | None:
        """The result of `request` from the copy; None if it is not there."""
        found = self._answers.get(self._key(request))
        return found if isinstance(found, dict) else None

    def learn(self, request: Mapping[str, Any], result: object) -> bool:
        """Store the daemon's own `result` of `request`; returns whether it differs from the copy."""
        key = self._key(request)
        if not key or not isinstance(result, dict) or self._answers.get(key) == result:
            return False
        if len(self._answers) == _MOST_ANSWERS:
            self._answers.clear()
        self._answers[key] = result
        with contextlib.suppress(OSError):  # a full disk: the next client waits for its daemon
            self._write()
        return True

    def forget(self) -> None:
        """Remove the copy: no daemon is available to confirm it."""
        self._answers.clear()
        with contextlib.suppress(OSError):
            os.unlink(self._path)

    def _key(self, request: Mapping[str, Any]) -> str:
        """The inputs that the answer depends on; empty if the request has no copy, or is malformed."""
        method, params = request.get("method"), request.get("params", {})
        if request.get("jsonrpc") != "2.0" or not isinstance(params, dict) or type(request.get("id")) not in (int, str):
            return ""
        meta = params.get("_meta", {})
        if not isinstance(meta, dict):
            return ""
        version: object = ""
        if method == "initialize":
            who = params.get("clientInfo")
            named = isinstance(who, dict) and isinstance(who.get("name"), str) and isinstance(who.get("version"), str)
            if named and isinstance(params.get("capabilities"), dict):
                version = params.get("protocolVersion")
        elif method in self._without_arguments and params.keys() <= {"_meta"}:
            of_request = isinstance(meta.get(f"{_META}clientCapabilities"), dict)
            version = meta.get(f"{_META}protocolVersion") if of_request else self._version
        return f"{method} {version}" if version and isinstance(version, str) else ""

    def _read(self) -> dict[str, Any]:
        try:
            with open(self._path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        is_ours = isinstance(found, dict) and found.get("of") == self._of
        answers = found.get("answers") if is_ours else {}
        return answers if isinstance(answers, dict) else {}

    def _write(self) -> None:
        os.makedirs(self._folder, 0o700, exist_ok=True)
        draft = f"{self._path}.{os.urandom(4).hex()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump({"of": self._of, "answers": self._answers}, file)
            os.replace(draft, self._path)
        except BaseException:
            os.unlink(draft)
            raise
        keep_newest([os.path.join(self._folder, name) for name in os.listdir(self._folder)], _MOST)
