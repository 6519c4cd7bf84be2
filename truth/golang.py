"""Go: editing its code, and checking it with the go command."""

from __future__ import annotations

import random
import re
import string
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from changing import appended, replaced_atomically, written
from go_oracle import GoOracle
from graph import Graph, Symbol
from language import Edit

_SYSTEM = re.compile(r"_(windows|linux|darwin|unix|[a-z]+bsd|solaris|android|aix|plan9|js|wasm|amd64|arm64|386|arm)\b")
# Results of packages, and packages without a file for this system.
_NO_TROUBLE = r"(?:ok|\?|#|FAIL|PASS)(?!\w)|package \S+: build constraints exclude all Go files in "
_LINKED = 5  # one in this many checks builds and links


class Go:
    """A `Language`."""

    reorders = True
    compares = True

    def __init__(self, oracle: GoOracle, *, quick: bool) -> None:
        self._quick = quick
        self._oracle = oracle
        self._said: dict[str, set[str]] = {}
        self._times = 0

    def graph(self, folder: Path) -> Graph:
        """See `Language`."""
        return self._oracle.graph(folder)

    def edit(self, folder: Path, graph: Graph, rng: random.Random, number: int) -> Edit | None:
        """See `Language`."""
        kinds: list[Callable[[Path, Symbol, random.Random, int], Edit | None]] = [
            _append, _append_atomically, _new_file, _new_declaration, _new_test, _new_outside_test, _new_package,
            _shift,
        ]  # fmt: skip
        used = [symbol for symbol in graph.symbols.values() if _usable(folder, symbol)]
        if not used:
            return None
        symbol = rng.choice(sorted(used, key=lambda one: one.id))
        return rng.choice(kinds)(folder, symbol, rng, number)

    def new_name(self, symbol: Symbol, graph: Graph, rng: random.Random) -> str:
        """See `Language`."""
        if symbol.name in ("main", "init") or not symbol.name.isascii():
            return ""
        first = "Z" if symbol.name[0].isupper() else "z"
        for _ in range(50):
            name = first + "".join(rng.choices(string.ascii_lowercase, k=len(symbol.name) - 1))
            if name not in graph.words:
                return name
        return ""

    def trouble(self, folder: Path, changed: Sequence[str]) -> str:
        """See `Language`: the errors of `go vet`, which checks the types of all packages and tests.

        Every fifth time, unless quick, everything is also built, and the tests of changed packages are linked and
        started (`go test -run XXX`), which takes longer than all the rest. Errors in the published code do not count.
        """
        links = not self._quick and self._times % _LINKED == 0
        said = set().union(*(_errors(module, changed, folder, links=links) for module in _modules(folder)))
        self._times += 1
        known = self._said.setdefault(folder.name, said)
        return "; ".join(sorted(said - known)[:5])


def _modules(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.rglob("go.mod"))


def _errors(module: Path, changed: Sequence[str], folder: Path, *, links: bool) -> set[str]:
    # Without its messages about the style of literals: they contain the type's name, so they change with a rename.
    said = _said_by(module, "go", "vet", "-composites=false", "./...")
    if links:
        said |= _said_by(module, "go", "build", "./...")
        within = {(folder / file).parent for file in changed if file.endswith(".go")}
        own = {one for one in within if max(m for m in _modules(folder) if one.is_relative_to(m)) == module}
        if packages := sorted(f"./{one.relative_to(module).as_posix()}" for one in own):
            said |= _said_by(module, "go", "test", "-vet=off", "-run", "XXX", *packages)
    return said


def _said_by(folder: Path, *command: str) -> set[str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = f"{done.stdout}\n{done.stderr}".splitlines() if done.returncode else []
    # A linker that crashes, as that of Go 1.26 does for xsync, prints other addresses each time.
    lines = [re.sub(r"\b0x[0-9a-f]+", "0x", line) for line in lines]
    return {line for line in lines if line.strip() and not re.match(_NO_TROUBLE, line)}


def _plain(file: str) -> bool:
    return not _SYSTEM.search(file) and not file.startswith("/")


def _usable(folder: Path, symbol: Symbol) -> bool:
    """Whether a declaration anywhere in its package may use it."""
    if symbol.kind not in ("func", "var", "const", "type") or symbol.generic or symbol.outside or "_" in symbol.name:
        return False
    (file,) = (place.file for place in symbol.where)
    if file.endswith("_test.go") or not _plain(file) or symbol.name in ("main", "init"):
        return False
    return "//go:build" not in (folder / file).read_text("utf-8")


def _file(symbol: Symbol) -> str:
    return next(iter(symbol.where)).file


def _use(symbol: Symbol, prefix: str = "") -> str:
    if symbol.kind == "type":
        return f"var _ *{prefix}{symbol.name}\n"
    return f"var _ = {prefix}{symbol.name}\n"


def _package(folder: Path, symbol: Symbol) -> str:
    text = (folder / _file(symbol)).read_text("utf-8")
    found = re.search(r"^package (\w+)", text, re.M)
    return found[1] if found else ""


def _beside(symbol: Symbol, name: str) -> str:
    parent = Path(_file(symbol)).parent.as_posix()
    return name if parent == "." else f"{parent}/{name}"


def _neighbour(folder: Path, symbol: Symbol, rng: random.Random) -> str:
    """A file of the same package that is built everywhere."""
    package = _package(folder, symbol)
    beside = sorted((folder / _file(symbol)).parent.glob("*.go"))
    texts = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in beside}
    fit = [
        file
        for file, text in texts.items()
        if _plain(file) and "//go:build" not in text and re.search(rf"^package {package}$", text, re.M)
    ]
    return rng.choice(fit) if fit else _file(symbol)


def _append(folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit:
    return appended(_neighbour(folder, symbol, rng), f"\n{_use(symbol)}")


def _append_atomically(folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit:
    return replaced_atomically(_neighbour(folder, symbol, rng), f"\n{_use(symbol)}")


def _new_file(folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit:
    return written(_beside(symbol, f"zz{number}.go"), f"package {_package(folder, symbol)}\n\n{_use(symbol)}")


def _new_declaration(folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit:
    text = f"package {_package(folder, symbol)}\n\nfunc Zz{number}() {{}}\n\nfunc zzz{number}() {{ Zz{number}() }}\n"
    return written(_beside(symbol, f"zz{number}.go"), f"{text}\n{_use(symbol)}")


def _new_test(folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit:
    return written(_beside(symbol, f"zz{number}_test.go"), f"package {_package(folder, symbol)}\n\n{_use(symbol)}")


def _new_outside_test(folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit | None:
    package = _package(folder, symbol)
    if package == "main" or not symbol.name[0].isupper():
        return None
    head = f'package {package}_test\n\nimport zz "{symbol.package}"\n\n'
    return written(_beside(symbol, f"zz{number}_test.go"), head + _use(symbol, "zz."))


def _new_package(folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit | None:
    if _package(folder, symbol) == "main" or not symbol.name[0].isupper() or "internal" in symbol.package.split("/"):
        return None
    above = Path(_file(symbol)).parents
    if any((folder / parent / "go.mod").is_file() for parent in list(above)[:-1]):
        return None  # a module inside
    head = f'package zz{number}\n\nimport zz "{symbol.package}"\n\n'
    return written(f"zz{number}/a.go", head + _use(symbol, "zz."))


def _shift(folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit:
    file, lines = _file(symbol), rng.randint(1, 9)

    def make(root: Path) -> None:
        text = (root / file).read_bytes()
        first = re.search(rb"^package \w+.*\n", text, re.M)
        assert first
        (root / file).write_bytes(text[: first.end()] + b"// moved\n" * lines + text[first.end() :])

    return Edit(f"insert {lines} lines `// moved` below the package clause of {file}", make, touched=(file,))
