"""How this copy of lsp-mcp was installed: the commands that add an extra to it or upgrade it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

NAME = "lsp-mcp"


def install_command(extra: str) -> str:
    """The command that adds `extra`, using the tool and the source that lsp-mcp was installed with."""
    package = shlex.quote(f"{_source()}[{extra}]")
    tool = _tool()
    return f"{tool} install --force {package}" if tool else f"{_pip()} install {_editable()}{package}"


def upgrade_command() -> str:
    """The command that upgrades lsp-mcp, using the same tool and source."""
    tool = _tool()
    return f"{tool} upgrade {NAME}" if tool else f"{_pip()} install --upgrade {_editable()}{shlex.quote(_source())}"


def _tool() -> str:
    """The tool that manages this environment for this program alone; empty if there is none."""
    kept_by = {"pipx_metadata.json": "pipx", "uv-receipt.toml": "uv tool"}
    return next((tool for file, tool in kept_by.items() if (Path(sys.prefix) / file).is_file()), "")


def _pip() -> str:
    return f"{shlex.quote(sys.executable)} -m pip"


def _editable() -> str:
    return "--editable " if _origin().get("dir_info", {}).get("editable") else ""


def _source() -> str:
    """The folder that it was installed from, or else the name of the published package."""
    url = urlsplit(_origin().get("url", ""))
    folder = unquote(url.path)
    return folder if url.scheme == "file" and Path(folder).is_dir() else NAME


def _origin() -> dict[str, Any]:
    """What the installer recorded about a package that did not come from an index (PEP 610); else empty."""
    from importlib.metadata import PackageNotFoundError, distribution  # slow: with all of `email`

    try:
        noted = distribution(NAME).read_text("direct_url.json")
        return dict(json.loads(noted)) if noted else {}
    except (PackageNotFoundError, ValueError):
        return {}
