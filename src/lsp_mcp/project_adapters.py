"""The adapters that come with a project, `.lsp-mcp/adapters/*.toml`: read only once their user trusts their content.

An adapter names a program that will run, so a repository must not be able to add or change one by itself: what is
trusted is the content, by its hash, wherever the file is.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import platformdirs
from msgspec import Struct

from lsp_mcp.adapters import Adapter, adapter_of
from lsp_mcp.errors import ConfigError
from lsp_mcp.private_files import open_private, private_folder

FOLDER = Path(".lsp-mcp", "adapters")
_MOST_BYTES = 2**20  # of an adapter


class ProjectAdapter(Struct, frozen=True):
    """One file of a project."""

    path: Path
    text: str
    digest: str
    trusted: bool

    def adapter(self) -> Adapter:
        """Its adapter. Raises ConfigError: see `adapter_of`."""
        return adapter_of(self.text, self.path)


def project_adapters(root: Path) -> list[ProjectAdapter]:
    """The files of the project in `root`, by name; what cannot be read as text is left out."""
    found = []
    known = _trusted()
    try:
        files = sorted((root / FOLDER).glob("*.toml"))
    except OSError:  # another message says that the root cannot be read
        return []
    for path in files:
        try:
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES)
            text = data.decode()
        except (OSError, UnicodeDecodeError):
            continue
        digest = hashlib.sha256(data).hexdigest()
        found.append(ProjectAdapter(path, text, digest, digest in known))
    return found


def trust(files: list[ProjectAdapter]) -> None:
    """Remember that the user trusts the content of `files`. Raises ConfigError: that cannot be written."""
    _write({**_trusted(), **{file.digest: str(file.path) for file in files}})


def distrust(files: list[ProjectAdapter]) -> None:
    """Forget it. Raises ConfigError: that cannot be written."""
    gone = {file.digest for file in files}
    _write({digest: path for digest, path in _trusted().items() if digest not in gone})


def _file() -> Path:
    return platformdirs.user_config_path("lsp-mcp") / "trusted.json"


def _trusted() -> dict[str, str]:
    """By content: the path at which it was trusted."""
    try:
        known = json.loads(_file().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write(trusted: dict[str, str]) -> None:
    file = _file()
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        private_folder(file.parent)
        with os.fdopen(open_private(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as out:
            json.dump(trusted, out, indent=2)
        new.replace(file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}") from None
