"""The board's page and its files: `PageFiles`."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

_FOLDER = "/static/"
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
_FOR_EVER = "private, max-age=31536000, immutable"


class PageFiles:
    """One folder of files. Their address changes with their content, so that a browser requests each only once.

    The page consists of some fifty small modules: validating each took longer than everything else.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def page(self) -> Response:
        """The page itself, which refers to the present files."""
        text = (self._folder / "index.html").read_text("utf-8")
        return Response(text.replace(_FOLDER, f"{_FOLDER}{self._version()[0]}/"), media_type="text/html")

    def route(self) -> Route:
        """The handler for the others."""
        return Route(f"{_FOLDER}{{version}}/{{name}}", self._file, methods=["GET"])

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        version, names = self._version()
        if name not in names:
            return PlainTextResponse("there is no such file\n", status_code=404)
        # A page opened before an update requests earlier files: it gets the present ones, but not cached for ever.
        headers = {"Cache-Control": _FOR_EVER} if request.path_params["version"] == version else {}
        path = self._folder / name
        return Response(path.read_bytes(), media_type=_KINDS.get(path.suffix), headers=headers)

    def _version(self) -> tuple[str, set[str]]:
        """A digest that changes with each file, and the names of all files."""
        with os.scandir(self._folder) as found:
            stats = {entry.name: entry.stat() for entry in found}
        stamps = "".join(f"{name} {stat.st_mtime_ns} {stat.st_size}\n" for name, stat in sorted(stats.items()))
        return hashlib.sha256(stamps.encode()).hexdigest()[:16], set(stats)
