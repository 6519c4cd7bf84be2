"""`lsp-mcp setup --agents-md`: the paragraph in AGENTS.md that teaches agents the tools, between markers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import click

from lsp_mcp.cli.config_files import read_config, remove_config, write_config
from lsp_mcp.data import data_folder
from lsp_mcp.errors import ConfigError

FILE = "AGENTS.md"
_BEGIN = "<!-- lsp-mcp: begin (written by `lsp-mcp setup --agents-md --write`) -->"
_END = "<!-- lsp-mcp: end -->"
_MARKER = re.compile(r"<!-- lsp-mcp: (begin|end)\b[^\n]*?-->")
_BLOCK = re.compile(r"<!-- lsp-mcp: begin\b[^\n]*?-->.*?<!-- lsp-mcp: end\b[^\n]*?-->", re.DOTALL)


def block() -> str:
    """The paragraph with its markers."""
    text = (data_folder("adapters") / "agents.md").read_text(encoding="utf-8").strip()
    return f"{_BEGIN}\n{text}\n{_END}"


def with_block(text: str) -> str:
    """`text` with the paragraph, which replaces an earlier one or is appended.

    Raises:
        ConfigError: the markers do not enclose exactly one paragraph.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    ours = block().replace("\n", newline)
    if _found(text):
        return _BLOCK.sub(lambda _: ours, text)
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}{ours}{newline}"


def without_block(text: str) -> str:
    """`text` without the paragraph and the empty lines around it. Raises the errors of `with_block`."""
    if not (found := _found(text)):
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    before, after = text[: found.start()].rstrip(), text[found.end() :].lstrip()
    if before and after:
        return f"{before}{newline * 2}{after}"
    return before + newline if before else after


def show(root: Path, *, as_json: bool) -> None:
    """Print the paragraph on stdout, and what to do with it on stderr."""
    if as_json:
        click.echo(json.dumps({"file": str(root / FILE), "state": "shown", "text": block()}, indent=2))
        return
    click.echo(f"Add this to {root / FILE}:\n", err=True)
    click.echo(block())
    click.echo("\nTo write it:\n  lsp-mcp setup --agents-md --write", err=True)


def change(root: Path, *, remove: bool, as_json: bool) -> None:
    """Write, update or remove the paragraph in AGENTS.md in `root`.

    Raises:
        ConfigError: the file cannot be used; it is unchanged.
        EditError: the file cannot be written; it is unchanged.
    """
    file = root / FILE
    edit: Callable[[str], str] = without_block if remove else with_block
    try:
        before = read_config(file)
        after = edit(before or "")
    except ConfigError as error:
        raise ConfigError(f"{file} cannot be used: {error}. Fix that first; nothing was changed.") from None
    if after == (before or ""):
        state = "missing" if remove else "there"
    else:
        state = "removed" if remove else "updated" if _found(before or "") else "added"
        if after or file.is_symlink():
            write_config(file, before, after)
        else:  # only the paragraph was in it
            remove_config(file, root)
    if as_json:
        click.echo(json.dumps({"file": str(file), "state": state}, indent=2))
        return
    said = {"there": "has it already", "missing": "does not have it"}
    click.echo(f"{file} {said[state]}; nothing was changed." if state in said else f"{file}: {state}.")


def _found(text: str) -> re.Match[str] | None:
    """The paragraph in `text`.

    Raises:
        ConfigError: there are markers, but they do not enclose exactly one paragraph.
    """
    markers = [match[1] for match in _MARKER.finditer(text)]
    if markers not in ([], ["begin", "end"]):
        raise ConfigError(f"its markers `{_BEGIN}` and `{_END}` do not enclose exactly one paragraph")
    return _BLOCK.search(text)
