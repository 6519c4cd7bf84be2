"""What is asked, and where: `Workload` is read from `workloads/BACKEND.toml`, its code fetched once."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec

_HERE = Path(__file__).parent
_TOP = _HERE.parent
_CACHE = _TOP / ".tools" / "bench"


class Peers(msgspec.Struct):
    """Figures of other servers on the same work, as they were measured once."""

    source: str
    head: list[str]
    rows: list[list[str]]
    bytes_head: list[str]
    bytes_rows: list[list[str]]


class GoModule(msgspec.Struct, forbid_unknown_fields=True, tag_field="from", tag="go"):
    """Code that `go` fetches."""

    module: str
    version: str

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.module} {self.version}"


class Folder(msgspec.Struct, forbid_unknown_fields=True, tag_field="from", tag="folder"):
    """Code that a command has put into a folder, both from the top of the checkout."""

    title: str
    folder: str
    made_by: str


class Workload(msgspec.Struct, forbid_unknown_fields=True):
    """The questions for one backend; the file says what each is."""

    code: GoModule | Folder
    cold_target: float
    first: str
    references: list[str]
    outlines: list[str]
    names: list[str]
    rename: str
    new_name: str
    callers: str = ""
    subtypes: str = ""
    opened_first: str = ""
    peers: Peers | None = None


def load(backend: str) -> Workload:
    """The workload of `backend`.

    Raises:
        RuntimeError: there is none.
    """
    path = _HERE / "workloads" / f"{backend}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.toml")))
        raise RuntimeError(f"there is no workload for {backend}; there is one for: {known}")
    return msgspec.toml.decode(path.read_bytes(), type=Workload)


def code(workload: Workload) -> Path:
    """The folder with the code of `workload`; what `go` fetches is fetched the first time, then kept.

    Raises:
        RuntimeError: it is not there or cannot be fetched; the message says what to do, or is that of `go`.
    """
    match workload.code:
        case Folder() as there:
            folder = _TOP / there.folder
            if not folder.is_dir():
                raise RuntimeError(f"there is no {there.folder}; run: {there.made_by}")
            return folder
        case GoModule() as wanted:
            return _fetched(wanted)


def _fetched(wanted: GoModule) -> Path:
    folder = _CACHE / f"{wanted.module.replace('/', '-')}-{wanted.version}"
    if not folder.is_dir():
        _CACHE.mkdir(parents=True, exist_ok=True)
        source = _go("mod", "download", "-json", f"{wanted.module}@{wanted.version}", folder=_CACHE)
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(json.loads(source)["Dir"], unfinished)
        _make_writable(unfinished)
        _go("mod", "download", folder=unfinished)
        unfinished.rename(folder)
    return folder


def _make_writable(folder: Path) -> None:
    """Go's module cache is read-only, its copies too."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)


def _go(*arguments: str, folder: Path) -> Any:
    try:
        done = subprocess.run(["go", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RuntimeError("Go is not installed; run: make tools") from None
    if done.returncode:
        raise RuntimeError(f"go {' '.join(arguments)} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
