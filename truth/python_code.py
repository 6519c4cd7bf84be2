"""Python: editing its code, and checking it with mypy, ruff and by importing it."""

from __future__ import annotations

import random
import re
import string
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from changing import appended, replaced_atomically, written
from graph import Graph, Symbol
from language import Edit
from python_oracle import PythonOracle
from python_types import module_name

_NAME = re.compile(r"(?!__)[A-Za-z_]\w*", re.ASCII)
_SHORT = ("is", "in", "or", "as", "if")
_RUFF = ["ruff", "check", "-q", "--isolated", "--select", "F821,F822,F823", "--output-format", "concise", "."]


class Python:
    """A `Language`."""

    reorders = False
    compares = True

    def __init__(self, oracle: PythonOracle, paths: Sequence[str]) -> None:
        self._oracle = oracle
        self._paths = list(paths)
        self._said: dict[str, set[str]] = {}

    def graph(self, folder: Path) -> Graph:
        """See `Language`."""
        return self._oracle.graph(folder)

    def edit(self, folder: Path, graph: Graph, rng: random.Random, number: int) -> Edit | None:
        """See `Language`."""
        kinds: list[Callable[[Symbol, random.Random, int], Edit | None]] = [
            self._append, self._append_atomically, self._new_file, self._new_file, self._new_folder,
            self._new_declaration, self._shift,
        ]  # fmt: skip
        used = sorted((one for one in graph.symbols.values() if _usable(one)), key=lambda one: one.id)
        return rng.choice(kinds)(rng.choice(used), rng, number) if used else None

    def new_name(self, symbol: Symbol, graph: Graph, rng: random.Random) -> str:
        """See `Language`."""
        if not _NAME.fullmatch(symbol.name):
            return ""
        letters = string.ascii_uppercase if symbol.name[0].isupper() else string.ascii_lowercase
        start = "_" if symbol.name[0] == "_" else rng.choice(letters)
        for _ in range(50):
            name = start + "".join(rng.choices(string.ascii_lowercase, k=len(symbol.name) - 1))
            if name not in graph.words and name not in _SHORT:
                return name
        return ""

    def trouble(self, folder: Path, changed: Sequence[str]) -> str:
        """See `Language`: new errors of mypy, undefined names by ruff, and modules that can no longer be imported."""
        said = {*self._oracle.errors(folder), *_undefined(folder), *self._unimportable(folder)}
        known = self._said.setdefault(folder.name, said)
        return "; ".join(sorted(said - known)[:5])

    # --- inside

    def _unimportable(self, folder: Path) -> set[str]:
        first = self._paths[0]
        names = [
            module_name(path.relative_to(folder).as_posix(), self._paths) for path in (folder / first).rglob("*.py")
        ]
        program = (
            "import importlib, sys\n"
            "for name in sys.argv[1:]:\n"
            "    try: importlib.import_module(name)\n"
            "    except BaseException as error: print(name, type(error).__name__)\n"
        )
        root = folder / first
        path = root if not (root / "__init__.py").exists() else folder
        done = subprocess.run(
            [sys.executable, "-B", "-c", program, *sorted(name for name in names if not name.endswith("__main__"))],
            cwd=folder, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(path)},
        )  # fmt: skip
        return set(done.stdout.splitlines()) | ({"ended"} if done.returncode else set())

    def _append(self, symbol: Symbol, rng: random.Random, number: int) -> Edit:
        return appended(_file(symbol), f"\n\nzz{number} = {symbol.name}\n")

    def _append_atomically(self, symbol: Symbol, rng: random.Random, number: int) -> Edit:
        return replaced_atomically(_file(symbol), f"\n\nzz{number} = {symbol.name}\n")

    def _imported(self, symbol: Symbol, number: int) -> str:
        module = module_name(_file(symbol), self._paths)
        top, _, last = module.rpartition(".")
        forms = [f"from {module} import {symbol.name}\n\nzz{number} = {symbol.name}\n"]
        forms.append(f"from {module} import {symbol.name} as zzz\n\nzz{number} = zzz\n")
        forms.append(f"import {module} as zzm\n\nzz{number} = zzm.{symbol.name}\n")
        if top:
            forms.append(f"from {top} import {last}\n\nzz{number} = {last}.{symbol.name}\n")
        return forms[number % len(forms)]

    def _new_file(self, symbol: Symbol, rng: random.Random, number: int) -> Edit:
        return written(Path(_file(symbol)).with_name(f"zz{number}.py").as_posix(), self._imported(symbol, number))

    def _new_folder(self, symbol: Symbol, rng: random.Random, number: int) -> Edit:
        return written(f"{self._paths[0]}/zz{number}/a.py", self._imported(symbol, number))

    def _new_declaration(self, symbol: Symbol, rng: random.Random, number: int) -> Edit:
        own = f"\n\ndef zy{number}():\n    pass\n\n\ndef zx{number}():\n    zy{number}()\n"
        return written(Path(_file(symbol)).with_name(f"zz{number}.py").as_posix(), self._imported(symbol, number) + own)

    def _shift(self, symbol: Symbol, rng: random.Random, number: int) -> Edit:
        file, lines = _file(symbol), rng.randint(1, 9)

        def make(root: Path) -> None:
            (root / file).write_bytes(b"# moved\n" * lines + (root / file).read_bytes())

        return Edit(f"insert {lines} lines `# moved` at the top of {file}", make, touched=(file,))


def _undefined(folder: Path) -> set[str]:
    done = subprocess.run(_RUFF, cwd=folder, capture_output=True, text=True, check=False)
    return {re.sub(r":\d+:\d+|`\w+`", "", line) for line in done.stdout.splitlines() if line.strip()}


def _usable(symbol: Symbol) -> bool:
    return symbol.exported and not symbol.outside and bool(symbol.where) and not symbol.name.startswith("__")


def _file(symbol: Symbol) -> str:
    return min(symbol.where).file
