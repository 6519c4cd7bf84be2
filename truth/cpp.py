"""C and C++: editing and compiling their code."""

from __future__ import annotations

import json
import random
import re
import string
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from changing import appended, replaced_atomically, written
from cpp_oracle import CppOracle
from graph import Graph, Symbol
from language import Edit
from sources import Tree, arguments, compiled

_NAME = re.compile(r"[A-Za-z_]\w+")
_KEPT = ("namespace", "constructor", "destructor", "label")  # no language server renames these


class Cpp:
    """A `Language`."""

    reorders = False
    compares = True

    def __init__(self, oracle: CppOracle, tree: Tree) -> None:
        self._oracle = oracle
        self._tree = tree

    def graph(self, folder: Path) -> Graph:
        """See `Language`."""
        return self._oracle.graph(folder)

    def edit(self, folder: Path, graph: Graph, rng: random.Random, number: int) -> Edit | None:
        """See `Language`."""
        kinds: list[Callable[[Path, Symbol, random.Random, int], Edit | None]] = [
            self._append, self._append, self._append_atomically, self._new_unit, self._new_built_unit, self._new_header,
            self._shift,
        ]  # fmt: skip
        used = [one for one in graph.symbols.values() if self._use(one, 0)]
        if not used:
            return None
        return rng.choice(kinds)(folder, rng.choice(sorted(used, key=lambda one: one.id)), rng, number)

    def new_name(self, symbol: Symbol, graph: Graph, rng: random.Random) -> str:
        """See `Language`."""
        if not _NAME.fullmatch(symbol.name) or symbol.name == "main" or symbol.kind in _KEPT:
            return ""
        for _ in range(50):
            name = "z" + "".join(rng.choices(string.ascii_lowercase, k=len(symbol.name) - 1))
            if name not in graph.words and name not in ("zu", "zd"):
                return name
        return ""

    def trouble(self, folder: Path, changed: Sequence[str]) -> str:
        """See `Language`: the compiler's errors in each unit that was changed, or includes a changed file."""
        command = [*arguments(self._tree), "-fsyntax-only", "-w"]
        for path in compiled(self._tree, folder):
            if not self._oracle.included(path.relative_to(folder).as_posix()).isdisjoint(changed):
                done = subprocess.run([*command, path], cwd=folder, capture_output=True, text=True, check=False)
                if done.returncode:
                    return done.stderr.strip()[:500]
        return ""

    # --- inside ------------------------------------------------------------------------------------

    def _use(self, symbol: Symbol, number: int) -> str:
        """A declaration that uses the symbol, on the top level of any file that sees it; "" if there is none."""
        if symbol.package == "?" or not _NAME.fullmatch(symbol.name) or not symbol.where:
            return ""
        scoped = f"{symbol.package}::{symbol.name}".removeprefix("::")
        match self._tree.language, symbol.kind:
            case "c", ("function" | "var"):
                return f"void *zz{number}(void);\nvoid *zz{number}(void) {{ return (void *)&{symbol.name}; }}\n"
            case "c", "alias":
                return f"{symbol.name} *zz{number}(void);\n"
            case "c++", "function":
                return f"static auto *zz{number} = &::{scoped};\n"
            case "c++", "class" if number % 2:
                return f"struct zz{number} : ::{scoped} {{}};\n"
            case "c++", ("class" | "alias" | "enum"):
                return f"using zz{number} = ::{scoped};\n"
        return ""

    def _sees(self, symbol: Symbol, rng: random.Random) -> str:
        """A unit that uses the symbol, or declares it."""
        units = sorted({at.file for at in symbol.uses if not Path(at.file).suffix.startswith(".h")})
        return rng.choice(units) if units else ""

    def _header(self, symbol: Symbol) -> str:
        return next((at.file for at in sorted(symbol.uses) if Path(at.file).suffix.startswith(".h")), "")

    def _append(self, folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit | None:
        file = self._sees(symbol, rng)
        return appended(file, f"\n{self._use(symbol, number)}") if file else None

    def _append_atomically(self, folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit | None:
        file = self._sees(symbol, rng)
        return replaced_atomically(file, f"\n{self._use(symbol, number)}") if file else None

    def _unit(self, folder: Path, symbol: Symbol, number: int) -> Edit | None:
        header = self._header(symbol)
        if not header:
            return None
        beside = compiled(self._tree, folder)[0]
        file = beside.with_name(f"zz{number}{beside.suffix}").relative_to(folder).as_posix()
        up = "../" * (len(Path(file).parts) - 1)
        return written(file, f'#include "{up}{header}"\n\n{self._use(symbol, number)}')

    def _new_unit(self, folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit | None:
        return self._unit(folder, symbol, number)

    def _new_built_unit(self, folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit | None:
        """A unit that the compilation database gets, too."""
        unit = self._unit(folder, symbol, number)
        if not unit:
            return None

        def make(root: Path) -> None:
            unit.make(root)
            database = root / "compile_commands.json"
            commands = json.loads(database.read_text())
            top = commands[0]["directory"]
            path = f"{top}/{unit.added[0]}"
            commands.append({"directory": top, "file": path, "arguments": [*arguments(self._tree), "-c", path]})
            database.write_text(json.dumps(commands, indent=1))

        return Edit(f"{unit.description}; add it to compile_commands.json", make, (*unit.added,), touched=unit.touched)

    def _new_header(self, folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit | None:
        """A header with a use, and a unit that includes it at its end."""
        file = self._sees(symbol, rng)
        if not file:
            return None
        name = f"zz{number}.h"
        header = written((Path(file).parent / name).as_posix(), f"#pragma once\n{self._use(symbol, number)}")
        included = appended(file, f'\n#include "{name}"\n')

        def make(root: Path) -> None:
            header.make(root)
            included.make(root)

        touched = (*header.touched, *included.touched)
        return Edit(f"{header.description}; {included.description}", make, touched=touched)

    def _shift(self, folder: Path, symbol: Symbol, rng: random.Random, number: int) -> Edit | None:
        file = rng.choice(sorted({at.file for at in symbol.uses}))
        lines = rng.randint(1, 9)

        def make(root: Path) -> None:
            (root / file).write_bytes(b"// moved\n" * lines + (root / file).read_bytes())

        return Edit(f"insert {lines} lines `// moved` at the top of {file}", make, touched=(file,))
