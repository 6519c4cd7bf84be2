"""`lsp-mcp index build`: runs the indexer of an adapter in the workspace root."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import click

from lsp_mcp.adapters import Adapter
from lsp_mcp.cli.help import working
from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.errors import ConfigError, MissingProgramError, UnavailableError
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.wire.process import child_environment
from lsp_mcp.workspace import from_home

_LAST_LINES = 8  # of what a failed indexer said


def build_index(flags: ServerFlags, output: Path, *, as_json: bool) -> None:
    """Write `output`, the SCIP index of the workspace root, and print its name.

    Raises:
        ConfigError: no adapter, or more than one, with an indexer fits.
        MissingProgramError: the indexer is not installed; the message says how to get it.
        UnavailableError: it failed, or wrote nothing; with its last words. An older `output` stays.
    """
    root = from_home(flags.workspace_root).resolve()
    fitting = [adapter for adapter in flags.fitting() if adapter.indexer]
    if len(fitting) != 1:
        names = ", ".join(adapter.name for adapter in fitting)
        what = (
            f"{root} has several languages with an indexer: {names}" if fitting else f"no indexer is known for {root}"
        )
        raise ConfigError(f"{what}; pass --backend NAME. An adapter names its indexer in [indexer].")
    target = from_home(output).absolute()
    draft = target.with_name(f".{target.name}.new")
    draft.unlink(missing_ok=True)
    try:
        with working(f"{fitting[0].name}: indexing {root}"):
            _run(fitting[0], root, draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    size = target.stat().st_size
    if as_json:
        click.echo(json.dumps({"file": str(target), "bytes": size}))
        return
    click.echo(f"{target}: {size / 1e6:.1f} MB. Store it: lsp-mcp index push {output} --repository NAME --commit SHA")


def _run(adapter: Adapter, root: Path, output: Path) -> None:
    assert adapter.indexer
    name = plugin_of(adapter).index_package(root / "file").rpartition(" ")[2] or root.name
    words = [word.replace("{output}", str(output)).replace("{name}", name) for word in adapter.indexer.command]
    folders = [str(Path(folder).expanduser()) for folder in adapter.extra_paths]
    program = shutil.which(words[0]) or shutil.which(words[0], path=":".join(folders))
    if program is None:
        raise MissingProgramError(f"{words[0]} is not installed; get it with: {adapter.indexer.get}")
    try:
        done = subprocess.run(
            [program, *words[1:]],
            cwd=root,
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise UnavailableError(f"{program} cannot be run: {error.strerror}") from None
    if done.returncode or not output.is_file() or not output.stat().st_size:
        said = "\n".join(done.stdout.strip().splitlines()[-_LAST_LINES:]) or "it said nothing"
        raise UnavailableError(f"{words[0]} made no index (exit status {done.returncode}):\n{said}")
