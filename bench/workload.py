"""The questions and their code: `Workload` is read from `workloads/BACKEND.toml`, its code fetched once."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
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
    nested: dict[str, str] = {}
    """Modules inside it, `MODULE@VERSION` by folder: a module's zip has none, where its repository has them."""

    @property
    def title(self) -> str:
        """For people."""
        inside = "".join(f" with {module.replace('@', ' ')} in {folder}/" for folder, module in self.nested.items())
        return f"{self.module} {self.version}{inside}"


class GoRoot(msgspec.Struct, forbid_unknown_fields=True, tag_field="from", tag="goroot"):
    """Go's own source, of the Go that runs here."""

    @property
    def title(self) -> str:
        """For people."""
        return "Go's own source"


class Folder(msgspec.Struct, forbid_unknown_fields=True, tag_field="from", tag="folder"):
    """Code that a command has put into a folder, both relative to the top of the checkout."""

    title: str
    folder: str
    made_by: str


class Debian(msgspec.Struct, forbid_unknown_fields=True, tag_field="from", tag="debian"):
    """The code of one of Debian's source packages, with a compilation database of the files that `compile` matches."""

    package: str
    compile: list[str]
    flags: list[str]
    without: str = "$^"

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.package} of Debian 12"


class Package(msgspec.Struct, forbid_unknown_fields=True, tag_field="from", tag="package"):
    """A package `NAME@VERSION` of `npm`, `pypi` or `crates.io`; only files that `keep` matches, and these `files`."""

    registry: str
    package: str
    keep: list[str]
    files: dict[str, str] = {}

    @property
    def title(self) -> str:
        """For people."""
        return self.package.replace("@", " ")


class Tree(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Code, and what is asked about it; the file says what each is."""

    name: str = ""
    code: GoModule | GoRoot | Folder
    references: list[str]
    outlines: list[str]
    names: list[str]
    opened: list[str] = []


class Workload(Tree, forbid_unknown_fields=True, kw_only=True):
    """The questions for one backend."""

    cold_target: float
    first: str
    rename: str
    new_name: str
    callers: str = ""
    subtypes: str = ""
    opened_first: str = ""
    trees: list[Tree] = []
    peers: Peers | None = None


def backends() -> set[str]:
    """Those with a workload of their own."""
    return {file.stem for file in (_HERE / "workloads").glob("*.toml")}


def load(backend: str) -> Workload:
    """The workload of `backend`.

    Raises:
        RuntimeError: there is none.
    """
    path = _HERE / "workloads" / f"{backend}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.toml")))
        raise RuntimeError(f"unknown workload {backend!r}; available: {known}")
    return msgspec.toml.decode(path.read_bytes(), type=Workload)


def code(tree: Tree) -> Path:
    """The folder with the code of `tree`; what `go` fetches is fetched the first time, then kept.

    Raises:
        RuntimeError: it is not there or cannot be fetched; the message says what to do, or is that of `go`.
    """
    return code_folder(tree.code)


def code_folder(code: GoModule | GoRoot | Folder | Debian | Package) -> Path:
    """The folder with `code`; see `code`."""
    match code:
        case Package() as wanted:
            return _packaged(wanted)
        case Debian() as wanted:
            return _debian(wanted)
        case Folder() as there:
            folder = _TOP / there.folder
            if not folder.is_dir():
                raise RuntimeError(f"there is no {there.folder}; run: {there.made_by}")
            return folder
        case GoRoot():
            return Path(_go("env", "GOROOT", folder=_TOP).strip()) / "src"
        case GoModule() as wanted:
            return _fetched(wanted)


def _packaged(wanted: Package) -> Path:
    folder = _CACHE / f"{wanted.registry}-{wanted.package.replace('/', '-')}"
    if not folder.is_dir():
        sys.path.append(str(_TOP / "truth"))
        from registries import unpacked

        unfinished = folder.with_name(f"{folder.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        _CACHE.mkdir(parents=True, exist_ok=True)
        unpacked(wanted.registry, wanted.package, unfinished)
        kept = {path for pattern in wanted.keep for path in unfinished.glob(pattern)}
        for path in [path for path in unfinished.rglob("*") if path.is_file() and path not in kept]:
            path.unlink()
        for name, text in wanted.files.items():
            (unfinished / name).write_text(text, "utf-8")
        unfinished.rename(folder)
    return folder


def _debian(wanted: Debian) -> Path:
    folder = _CACHE / wanted.package
    if not folder.is_dir():
        done = subprocess.run(
            [_TOP / "scripts" / "debian_source.sh", wanted.package, folder], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{wanted.package} cannot be fetched: {done.stderr.strip()}")
    units = [unit for pattern in wanted.compile for unit in sorted(folder.glob(pattern))]
    commands = [
        {"directory": str(folder), "file": str(unit), "arguments": [_compiler(unit), *wanted.flags, "-c", str(unit)]}
        for unit in units
        if not re.search(wanted.without, unit.name)
    ]
    database, text = folder / "compile_commands.json", json.dumps(commands, indent=1)
    if not database.is_file() or database.read_text("utf-8") != text:
        database.write_text(text, "utf-8")
    return folder


def _compiler(unit: Path) -> str:
    return "cc" if unit.suffix == ".c" else "c++"


def _fetched(wanted: GoModule) -> Path:
    modules = {".": f"{wanted.module}@{wanted.version}", **wanted.nested}
    folder = _CACHE / "+".join(module.replace("/", "-").replace("@", "-") for module in modules.values())
    if not folder.is_dir():
        _CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        for place, module in modules.items():
            source = _go("mod", "download", "-json", module, folder=_CACHE)
            shutil.copytree(json.loads(source)["Dir"], unfinished / place)
            _make_writable(unfinished)
            _go("mod", "download", folder=unfinished / place)
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
