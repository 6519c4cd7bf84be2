"""`file:` URIs and paths: the one module that converts between them (LSP 3.17, "URI"; RFC 8089).

`uri_path(path_uri(path)) == path` for every absolute path, whatever its characters.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

from lsp_mcp.errors import PathError
from lsp_mcp.visible import quoted

_FILE_URI = re.compile(r"file:(?://(?P<host>[^/?#]*)|(?!//))(?P<path>/[^?#]*)", re.IGNORECASE | re.DOTALL)
_REMEMBERED = 8192  # conversions; answers name the same files over and over


@lru_cache(_REMEMBERED)
def path_uri(path: Path) -> str:
    """The `file:` URI of an absolute path; all but ASCII letters, digits and `-._~/` is percent-encoded.

    Bytes of a name that are not UTF-8 are kept.

    Raises:
        PathError: the path is relative.
    """
    if not path.is_absolute():
        raise PathError(f"{path} is relative, and a file: URI needs an absolute path.")
    return f"file://{quote_from_bytes(os.fsencode(path))}"


@lru_cache(_REMEMBERED)
def uri_path(uri: str) -> Path:
    """The absolute path of a `file:` URI, in any form and with any escapes that a server may choose.

    Raises:
        PathError: it is not a `file:` URI, names another host, has a query or a fragment (a `?` or `#` of a
            name must be percent-encoded), or holds a NUL.
    """
    match = _FILE_URI.fullmatch(uri)
    if not match:
        raise PathError(
            f"{quoted(uri)} does not name a file: a file: URI is file:///PATH, with ? and # percent-encoded."
        )
    host, path = match["host"] or "", unquote_to_bytes(match["path"])
    if b"\0" in path:
        raise PathError(f"{quoted(uri)} contains a NUL, which file names cannot have.")
    if host not in ("", "localhost"):
        raise PathError(f"{quoted(uri)} names a file on another host, {host}; only files on this one can be used.")
    return Path(os.fsdecode(path))
