"""Packages of npm, PyPI and crates.io, each by the registry's ordinary client: `unpacked`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path


def unpacked(registry: str, package: str, folder: Path) -> None:
    """Make `folder` the published source of `package` (`name@version`).

    Raises:
        RuntimeError: it is not available; the message is that of the program that tried.
    """
    name, _, version = package.rpartition("@")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        match registry:
            case "npm":
                _run(["npm", "pack", "--silent", package], work)
                _untarred(work, folder)
            case "pypi":
                command = ["download", "-q", "--no-deps", "--no-binary", name, f"{name}=={version}"]
                _run([sys.executable, "-m", "pip", *command], work)
                _untarred(work, folder)
            case "crates.io":
                _run(["cargo", "init", "-q", "--lib", "--name", "fetches", "--vcs", "none", "."], work)
                _run(["cargo", "add", "-q", f"{name}@={version}"], work)
                _run(["cargo", "vendor", "-q", "--versioned-dirs"], work)
                shutil.copytree(work / "vendor" / f"{name}-{version}", folder)
                (folder / ".cargo-checksum.json").unlink()


def _untarred(work: Path, folder: Path) -> None:
    (archive,) = (path for path in work.iterdir() if path.name.endswith((".tgz", ".tar.gz")))
    with tarfile.open(archive) as opened:
        opened.extractall(work / "in", filter="data")
    (top,) = (work / "in").iterdir()
    shutil.copytree(top, folder, symlinks=True)


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RuntimeError(f"{command[0]} is not installed") from None
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {(done.stderr + done.stdout).strip()[-2000:]}")
