"""Files of a workspace that symbolic links in it name, too: `SecondNames`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsp_mcp.errors import PathError
from lsp_mcp.uris import path_uri, uri_path

_NAMING = ("uri", "targetUri")


class SecondNames:
    """`files` are links, each with the file that it leads to; a server takes each name for a file of its own.

    `folders` are links to folders, whose files a server knows by their first names.
    """

    def __init__(self, files: Mapping[Path, Path] | None = None, folders: Mapping[Path, Path] | None = None) -> None:
        self.files = files or {}
        self._folders = folders or {}
        self._uris = {path_uri(link): path_uri(file) for link, file in self.files.items()}
        self._links: dict[Path, list[Path]] = {}
        for link, file in self.files.items():
            self._links.setdefault(file, []).append(link)

    def first(self, path: Path) -> Path:
        """The file that is meant by `path`."""
        return self.files.get(path, path)

    def others(self, file: Path) -> list[Path]:
        """The names of `file` by links."""
        below = [link / file.relative_to(to) for link, to in self._folders.items() if file.is_relative_to(to)]
        return [*self._links.get(file, ()), *below]

    def resolved(self, answer: Any) -> Any:
        """A server's answer with the files in place of the links, and what is the same then once."""
        return self._resolved(answer) if self._uris else answer

    # --- inside ------------------------------------------------------------------------------------

    def _resolved(self, value: Any) -> Any:
        if isinstance(value, list):
            resolved = [self._resolved(one) for one in value]
            return resolved if resolved == value else list({repr(one): one for one in resolved}.values())
        if not isinstance(value, dict):
            return value
        made = {key: self._named(one) if key in _NAMING else self._resolved(one) for key, one in value.items()}
        if isinstance(changes := made.get("changes"), dict):
            made["changes"] = self._joined(changes)
        if isinstance(changes := made.get("documentChanges"), list):
            made["documentChanges"] = _joined_documents(changes)
        return made

    def _named(self, uri: Any) -> Any:
        if not isinstance(uri, str) or uri in self._uris:
            return self._uris.get(uri, uri)
        try:
            return self._uris.get(path_uri(uri_path(uri)), uri)  # a server may escape other characters
        except PathError:
            return uri

    def _joined(self, changes: dict[str, Any]) -> dict[str, Any]:
        """The edits of a `WorkspaceEdit` by file."""
        joined: dict[str, list[Any]] = {}
        for uri, edits in changes.items():
            there = joined.setdefault(self._named(uri), [])
            there += [edit for edit in edits if edit not in there]
        return joined


def _joined_documents(changes: list[Any]) -> list[Any]:
    joined: list[Any] = []
    documents: dict[str, Any] = {}
    for change in changes:
        if "edits" not in change:
            joined.append(change)
        elif known := documents.get(uri := change["textDocument"]["uri"]):
            known["edits"] += [edit for edit in change["edits"] if edit not in known["edits"]]
        else:
            documents[uri] = change
            joined.append(change)
    return joined
