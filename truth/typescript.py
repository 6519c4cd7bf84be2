"""TypeScript: editing its code, and checking it with its compiler."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Sequence
from pathlib import Path

from changing import appended, replaced_atomically, written
from graph import Graph, Symbol
from language import Edit
from typescript_oracle import TypeScriptOracle

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_VALUES = ("function", "var", "class", "enum")
_TYPES = ("interface", "type", "class", "enum")


class TypeScript:
    """A `Language`."""

    reorders = False  # `const` and classes are used after their declaration
    compares = True

    def __init__(self, oracle: TypeScriptOracle) -> None:
        self._oracle = oracle
        self._said: dict[str, set[str]] = {}

    def graph(self, folder: Path) -> Graph:
        """See `Language`."""
        return self._oracle.graph(folder)

    def edit(self, folder: Path, graph: Graph, rng: random.Random, number: int) -> Edit | None:
        """See `Language`."""
        kinds: list[Callable[[Symbol, random.Random, int], Edit | None]] = [
            _append, _append_atomically, _new_file, _new_file, _new_folder, _new_declaration, _shift,
        ]  # fmt: skip
        used = sorted((one for one in graph.symbols.values() if _usable(one)), key=lambda one: one.id)
        return rng.choice(kinds)(rng.choice(used), rng, number) if used else None

    def new_name(self, symbol: Symbol, graph: Graph, rng: random.Random) -> str:
        """See `Language`."""
        if not _NAME.fullmatch(symbol.name) or symbol.name == "constructor":
            return ""
        letters = string.ascii_uppercase if symbol.name[0].isupper() else string.ascii_lowercase
        for _ in range(50):
            name = rng.choice(letters) + "".join(rng.choices(string.ascii_lowercase, k=len(symbol.name) - 1))
            if name not in graph.words and name not in ("do", "if", "in", "as", "of", "is"):
                return name
        return ""

    def trouble(self, folder: Path, changed: Sequence[str]) -> str:
        """See `Language`: the errors of the whole project, as `tsc --noEmit` has them."""
        said = self._oracle.errors(folder)
        known = self._said.setdefault(folder.name, set(said))
        return "; ".join(said[key] for key in sorted(said.keys() - known)[:5])


def _usable(symbol: Symbol) -> bool:
    """Whether another file may import it by its name."""
    return symbol.exported and not symbol.outside and not symbol.owner and symbol.kind in (*_VALUES, *_TYPES)


def _use(symbol: Symbol, number: int, name: str = "") -> str:
    name = name or symbol.name
    if symbol.kind in _VALUES:
        return f"export const zz{number} = {name}\n"
    return f"export interface Zz{number} {{ one: {'any' if symbol.generic else name} }}\n"


def _imported(symbol: Symbol, file: str, number: int) -> str:
    up = "../" * (len(Path(file).parts) - 1) or "./"
    module = up + _file(symbol).removesuffix(".ts")
    kind = "" if symbol.kind in _VALUES else "type "
    if number % 3:
        return f"import {kind}{{ {symbol.name} }} from '{module}'\n\n{_use(symbol, number)}"
    return f"import {kind}{{ {symbol.name} as zzz }} from '{module}'\n\n{_use(symbol, number, 'zzz')}"


def _file(symbol: Symbol) -> str:
    return min(symbol.where).file


def _append(symbol: Symbol, rng: random.Random, number: int) -> Edit:
    return appended(_file(symbol), f"\n{_use(symbol, number)}")


def _append_atomically(symbol: Symbol, rng: random.Random, number: int) -> Edit:
    return replaced_atomically(_file(symbol), f"\n{_use(symbol, number)}")


def _new_file(symbol: Symbol, rng: random.Random, number: int) -> Edit:
    file = Path(_file(symbol)).with_name(f"zz{number}.ts").as_posix()
    return written(file, _imported(symbol, file, number))


def _new_folder(symbol: Symbol, rng: random.Random, number: int) -> Edit:
    file = f"{Path(_file(symbol)).parts[0]}/zz{number}/a.ts"
    return written(file, _imported(symbol, file, number))


def _new_declaration(symbol: Symbol, rng: random.Random, number: int) -> Edit:
    file = Path(_file(symbol)).with_name(f"zz{number}.ts").as_posix()
    own = f"export function Zy{number}() {{}}\n\nexport function zy{number}() {{ Zy{number}() }}\n"
    return written(file, f"{_imported(symbol, file, number)}\n{own}")


def _shift(symbol: Symbol, rng: random.Random, number: int) -> Edit:
    file, lines = _file(symbol), rng.randint(1, 9)

    def make(root: Path) -> None:
        (root / file).write_bytes(b"// moved\n" * lines + (root / file).read_bytes())

    return Edit(f"insert {lines} lines `// moved` at the top of {file}", make, touched=(file,))
