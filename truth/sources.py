"""The trees: `Tree` is read from sources.toml, `fetched` is its code, downloaded once, `copied` a tree to work in."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import platformdirs
from hostile import write_go
from hostile_cpp import C_FILES, C_FLAGS, CPP_FILES, CPP_FLAGS, write_c, write_cpp
from registries import unpacked

_HERE = Path(__file__).parent
CACHE = Path(os.environ.get("LSP_MCP_TRUTH_CACHE") or platformdirs.user_cache_path("lsp-mcp") / "truth")
_MODULE = "example.com/standard"
_IMPORT = re.compile(r'^import\s+(?:\([^)]*\)|[\w.]*\s*"[^"]+")', re.MULTILINE)
_GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]


class Tree(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One tree: `module` is a Go module, `standard` packages of Go's standard library, `debian` a source package.

    `npm`, `pypi` and `crate` are packages of these registries, with a version (`name@1.2.3`); `keep` are the only files
    of it that are copied; `paths` are the folders that Python's imports start at; `installed` are the packages that the
    copy's virtual environment has.
    Of several modules in one tree, `inside` has those in folders of the first: folder → module (or package of the same
    registry); no go.work joins them, unless `generated` has one.
    Files that match `drop` are left out of the copy; `generated` are files that its build writes: path → text.
    `hostile` is the seed of a tree that is made (`hostile.write_go`, `hostile_cpp`); any name `hostile-SEED` is one,
    and for clangd `hostile-c-SEED`.
    `variants` are flags of other configurations, each added to `flags`: the tested program does not know them, the
    oracle does.
    """

    name: str
    backend: str
    size: int
    module: str = ""
    inside: dict[str, str] = {}
    standard: list[str] = []
    systems: list[str] = []
    hostile: int = 0
    debian: str = ""
    npm: str = ""
    pypi: str = ""
    crate: str = ""
    keep: list[str] = []
    paths: list[str] = []
    installed: list[str] = []
    drop: list[str] = []
    generated: dict[str, str] = {}
    compile: list[str] = []
    without: list[str] = []
    flags: list[str] = []
    variants: list[list[str]] = []
    language: str = ""


class _Sources(msgspec.Struct, forbid_unknown_fields=True):
    tree: list[Tree]


def trees(backend: str, names: Sequence[str] = ()) -> list[Tree]:
    """The trees for `backend`, smallest first; those called `names`, if there are any.

    Raises:
        RuntimeError: there is none, or none of that name.
    """
    found = msgspec.toml.decode((_HERE / "sources.toml").read_bytes(), type=_Sources).tree
    known = sorted((tree for tree in found if tree.backend == backend), key=lambda tree: tree.size)
    for name in {*names} - {tree.name for tree in known}:
        if made := re.fullmatch(r"hostile-(c-)?(\d+)" if backend == "clangd" else r"hostile-()(\d+)", name):
            known.append(_hostile(name, backend, int(made[2]), is_c=bool(made[1])))
    for name in names:
        if name not in {tree.name for tree in known}:
            available = ", ".join(tree.name for tree in known) or "none"
            raise RuntimeError(f"unknown tree {name!r} for {backend}; available: {available}")
    if not known:
        raise RuntimeError(f"there are no trees for {backend}")
    return [tree for tree in known if not names or tree.name in names]


def _hostile(name: str, backend: str, seed: int, *, is_c: bool) -> Tree:
    tree = Tree(name=name, backend=backend, size=1, hostile=seed)
    if backend == "gopls":
        tree.systems = ["linux", "windows"]
    elif is_c:
        tree.compile, tree.flags, tree.language = C_FILES, C_FLAGS, "c"
    else:
        tree.compile, tree.flags, tree.language = CPP_FILES, CPP_FLAGS, "c++"
    return tree


def fetched(tree: Tree) -> Path:
    """The folder with the code of `tree` as it was published; do not change it.

    Raises:
        RuntimeError: it cannot be fetched; the message is that of the program that tried.
    """
    if tree.hostile:
        folder = CACHE / "made" / tree.name
        shutil.rmtree(folder, ignore_errors=True)
        {"": write_go, "c": write_c, "c++": write_cpp}[tree.language](folder, tree.hostile)
        return folder
    registry, package = _published(tree)
    if package:
        pinned = f"{registry}-{'+'.join((package, *tree.inside.values())).replace('/', '-')}"
    elif tree.standard:
        pinned = f"{tree.name}-{run(['go', 'env', 'GOVERSION'], CACHE).strip()}"
    else:
        pinned = tree.module.replace("/", "-") if tree.module else f"debian-{tree.debian}"
    folder = CACHE / "sources" / pinned
    if not folder.is_dir():
        unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
        shutil.rmtree(unfinished, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        if package:
            unpacked(registry, package, unfinished)
            for inside, other in tree.inside.items():
                unpacked(registry, other, unfinished / inside)
        elif tree.standard:
            _copy_standard(tree.standard, unfinished)
        elif tree.module:
            folders = {"": tree.module, **tree.inside}
            for inside, module in folders.items():
                source = json.loads(run(["go", "mod", "download", "-json", module], CACHE))["Dir"]
                shutil.copytree(source, unfinished / inside)
                for path in (unfinished / inside, *(unfinished / inside).rglob("*")):
                    path.chmod(path.stat().st_mode | 0o200)  # Go's module cache is read-only
            for inside in folders:  # when all are there: they may replace each other
                # Without a published go.work: it names modules that are not there.
                run(["env", "GOWORK=off", "go", "mod", "download"], unfinished / inside)
        else:
            run([_HERE.parent / "scripts" / "debian_source.sh", tree.debian, unfinished], _HERE.parent)
        unfinished.rename(folder)
    return folder


def _published(tree: Tree) -> tuple[str, str]:
    """The registry and the package, both "" if it is of none of these."""
    named = {"npm": tree.npm, "pypi": tree.pypi, "crates.io": tree.crate}
    return next(((registry, package) for registry, package in named.items() if package), ("", ""))


def _copy_standard(packages: Sequence[str], folder: Path) -> None:
    """Make `folder` a module of `packages` of the machine's Go, which import each other there.

    Files that cannot be part of a module are left out: those that import internal packages, or importers of `packages`.
    """
    above = Path(run(["go", "env", "GOROOT"], folder).strip(), "src")
    texts = {source: source.read_text("utf-8") for name in packages for source in sorted((above / name).glob("*.go"))}
    imports = {source: _imported(text) for source, text in texts.items()}
    others = sorted(set().union(*imports.values()) - set(packages))
    listed = run(["go", "list", "-f", '{{.ImportPath}} {{join .Deps " "}}', *others], above).splitlines()
    depending = {line.split()[0] for line in listed if not set(packages).isdisjoint(line.split()[1:])}
    for source, text in texts.items():
        if any(one in depending or "internal" in one.split("/") for one in imports[source] - set(packages)):
            continue
        to = folder / source.relative_to(above)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(_IMPORT.sub(lambda found: re.sub(_paths(packages), rf'"{_MODULE}/\1"', found[0]), text), "utf-8")
    (folder / "go.mod").write_text(f"module {_MODULE}\n\ngo 1.25\n", "utf-8")


def _imported(text: str) -> set[str]:
    return {path for section in _IMPORT.findall(text) for path in re.findall(r'"([^"]+)"', section)}


def _paths(packages: Sequence[str]) -> str:
    return f'"({"|".join(map(re.escape, packages))})"'


def copied(tree: Tree, folder: Path) -> Path:
    """`folder`, made a copy of the tree's code, with a compilation database if it needs one, in a new repository."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(fetched(tree), folder, symlinks=True)
    if tree.keep:
        kept = {path for pattern in tree.keep for path in folder.glob(pattern)}
        for path in [path for path in folder.rglob("*") if path.is_file() and path not in kept]:
            path.unlink()
    for path in [path for pattern in tree.drop for path in folder.glob(pattern)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for name, text in tree.generated.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    if tree.installed:
        (folder / ".venv").symlink_to(_environment(tree.installed))
    if tree.compile:
        write_database(tree, folder)
    run(["git", "init", "-q"], folder)
    commit(folder, "as published")
    return folder


def _environment(packages: Sequence[str]) -> Path:
    """A virtual environment with `packages`, made once."""
    made = CACHE / "environments" / "+".join(packages)
    if not made.is_dir():
        try:
            run([sys.executable, "-m", "venv", made], CACHE)
            run([made / "bin" / "pip", "install", "--disable-pip-version-check", "--quiet", *packages], CACHE)
        except RuntimeError:
            shutil.rmtree(made, ignore_errors=True)
            raise
    return made


def compiled(tree: Tree, folder: Path) -> list[Path]:
    """The files of `tree` that are compiled by themselves."""
    without = {path for pattern in tree.without for path in (*folder.glob(pattern), *folder.glob(f"**/{pattern}"))}
    return sorted({path for pattern in tree.compile for path in folder.glob(pattern)} - without)


def arguments(tree: Tree) -> list[str]:
    """The compiler and its flags, without a file."""
    return ["gcc" if tree.language == "c" else "g++", *tree.flags]


def write_database(tree: Tree, folder: Path) -> None:
    """Write `compile_commands.json`."""
    commands = [
        {"directory": str(folder), "file": str(path), "arguments": [*arguments(tree), "-c", str(path)]}
        for path in compiled(tree, folder)
    ]
    (folder / "compile_commands.json").write_text(json.dumps(commands, indent=1))


def commit(folder: Path, message: str) -> None:
    """Commit everything."""
    run([*_GIT, "add", "-A"], folder)
    run([*_GIT, "commit", "-q", "--allow-empty", "-m", message], folder)


def git(folder: Path, *arguments: str) -> str:
    """The output of git."""
    return run([*_GIT, *arguments], folder)


def run(command: Sequence[str | Path], folder: Path) -> str:
    """The output of a command.

    Raises:
        RuntimeError: it is not installed, or fails; with the end of its output.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RuntimeError(f"{command[0]} is not installed; run: make tools") from None
    if done.returncode:
        said = (done.stderr.strip() + "\n" + done.stdout.strip()).strip()
        raise RuntimeError(f"{' '.join(map(str, command))} failed: {said[-2000:]}")
    return done.stdout
