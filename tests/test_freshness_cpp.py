"""Whatever wrote the files, the next answer is for what is on disk: real clangd, no sleeps, no stale answer."""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.errors import LspMcpError

QUESTIONS = 50
skip_without("clangd")


@dataclass
class Unit:
    """A source file: how often it calls `target` with an int, with a double, and only where EXTRA is defined."""

    header: str  # that it includes
    ints: int = 1
    doubles: int = 0
    extras: int = 0
    command: str | None = ""  # the flags of its compile command; None: it has none


@dataclass
class Model:
    """A C++ project in which every use of `target(int)` is known, whatever happens to its files.

    A call with a double is one of them only as long as `lib.h` has no `target(double)`.
    """

    root: Path
    dice: random.Random
    units: dict[str, Unit] = field(default_factory=dict)
    above: int = 0  # lines before the declaration in lib.h
    overloaded: bool = False
    inline_uses: int = 1  # in mid.h

    def write_all(self) -> None:
        self.write("lib.cpp", '#include "lib.h"\nint target(int x) { return x; }\n')
        self.write_headers()
        for name in self.units:
            self.write_unit(name)
        self.write_commands()

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(exist_ok=True)
        (self.root / name).write_text(text)

    def write_headers(self) -> None:
        more = "int target(double x);\n" if self.overloaded else ""
        self.write("lib.h", "#pragma once\n" + "// more\n" * self.above + "int target(int x);\n" + more)
        uses = "  target(2);\n" * self.inline_uses
        self.write("sub/mid.h", f'#pragma once\n#include "../lib.h"\ninline void mid() {{\n{uses}}}\n')

    def write_unit(self, name: str) -> None:
        unit = self.units[name]
        calls = "  target(1);\n" * unit.ints + "  target(1.0);\n" * unit.doubles
        extra = "#ifdef EXTRA\n" + "  target(3);\n" * unit.extras + "#endif\n"
        self.write(name, f'#include "{unit.header}"\nvoid {name[:-4]}() {{\n{calls}{extra}}}\n')

    def write_commands(self) -> None:
        flags = {"lib.cpp": "", **{name: unit.command for name, unit in self.units.items()}}
        entries = [
            {"directory": str(self.root), "file": name, "command": f"c++ {flag} -c {name}"}
            for name, flag in flags.items()
            if flag is not None
        ]
        self.write("build/compile_commands.json", json.dumps(entries))

    def change(self) -> str:
        """Do one thing to the files; what it was."""
        roll, names = self.dice.random(), sorted(self.units)
        name = self.dice.choice(names)
        unit = self.units[name]
        if roll < 0.30:
            self.edit(unit)
            self.write_unit(name)
            return f"changed {name}"
        if roll < 0.45:
            self.edit_headers()
            self.write_headers()
            return "changed the headers"
        if roll < 0.55:
            self.edit(unit)
            self.edit_headers()
            self.write_headers()
            self.write_unit(name)
            return f"changed {name} and the headers"
        if roll < 0.70 or len(names) < 3:
            new = f"n{self.dice.randrange(10_000)}.cpp"
            with_command = self.dice.random() < 0.5
            self.units[new] = Unit(self.dice.choice(["lib.h", "sub/mid.h"]), command="" if with_command else None)
            self.edit(self.units[new])
            self.write_unit(new)
            if with_command:
                self.write_commands()
            return f"created {new}, compile command: {with_command}"
        if roll < 0.80:
            (self.root / name).unlink()
            del self.units[name]
            if self.dice.random() < 0.5:
                self.write_commands()
            return f"deleted {name}"
        if roll < 0.85:
            new = f"r{self.dice.randrange(10_000)}.cpp"
            (self.root / name).rename(self.root / new)
            self.units[new] = self.units.pop(name)
            self.write_unit(new)
            self.write_commands()
            return f"renamed {name} to {new}"
        unit.command = self.dice.choice(["", "-DEXTRA"])
        self.write_commands()
        return f"{name} is compiled with {unit.command!r}"

    def edit(self, unit: Unit) -> None:
        unit.ints, unit.doubles = self.dice.randrange(3), self.dice.randrange(3)
        unit.extras = 0 if unit.command is None else self.dice.randrange(3)

    def edit_headers(self) -> None:
        self.above = self.dice.randrange(4)
        self.overloaded = self.dice.random() < 0.5
        self.inline_uses = self.dice.randrange(3)

    def means_target(self, unit: Unit) -> bool:
        """Whether `target` is always the same where `unit` calls it in code that is compiled."""
        return bool(unit.ints or unit.doubles) and not (self.overloaded and unit.doubles)

    def all_explained(self) -> bool:
        """Whether each call in code that the preprocessor leaves out means what the function around it says."""
        left_out = [unit for unit in self.units.values() if unit.command == "" and unit.extras]
        return all(self.means_target(unit) for unit in left_out)

    def expected(self) -> list[tuple[str, int]]:
        """File and line of every reference."""
        found = [("lib.cpp", 2), ("lib.h", 2 + self.above)]
        found += [("sub/mid.h", 4 + i) for i in range(self.inline_uses)]
        for name, unit in self.units.items():
            doubles = 0 if self.overloaded else unit.doubles
            lines = [*range(unit.ints), *(unit.ints + i for i in range(doubles))]
            if unit.command == "-DEXTRA" or self.means_target(unit):
                lines += [unit.ints + unit.doubles + 1 + i for i in range(unit.extras)]
            found += [(name, 3 + line) for line in lines]
        return sorted(found)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_50_edits_of_sources_headers_and_compile_commands_get_no_stale_answer(tmp_path: Path, seed: int) -> None:
    model = Model(tmp_path, random.Random(seed))
    model.units = {f"u{number}.cpp": Unit(["lib.h", "sub/mid.h"][number % 2]) for number in range(4)}
    model.write_all()

    async def question(ask: Ask) -> None:
        stale: list[tuple[object, ...]] = []
        for number in range(QUESTIONS):
            what = model.change() if number else "began"
            try:
                answer = await ask("find_symbol_references_by_anchor", symbol_anchor="cpp://lib.cpp#2:5")
            except LspMcpError as error:
                stale.append((number, what, str(error)))
                continue
            places = sorted((r["location"]["file"], r["location"]["line"]) for r in answer["references"])
            if places != model.expected() or answer["status"].startswith("complete") != model.all_explained():
                wrong = set(places) ^ set(model.expected())
                stale.append((number, what, answer["status"], sorted(wrong)))
        assert stale == []

    asking("clangd", tmp_path, question)


def test_a_definition_that_moved_or_went_is_not_found_where_it_was(tmp_path: Path) -> None:
    def write(name: str, text: str) -> None:
        (tmp_path / name).write_text(text)

    write("lib.h", "#pragma once\nint target(int x);\n")
    write("a.cpp", '#include "lib.h"\nint target(int x) { return x; }\nint other;\n')
    write("b.cpp", '#include "lib.h"\nint unused;\n')
    commands = [{"directory": ".", "file": name, "command": f"c++ -c {name}"} for name in ("a.cpp", "b.cpp")]
    write("compile_commands.json", json.dumps(commands))

    async def question(ask: Ask) -> None:
        async def places() -> list[str]:
            found = await ask("find_symbol_definitions_by_name", symbol_name="target")
            assert found["status"] == "complete"
            return [definition["anchor"] for definition in found["definitions"]]

        async def definition() -> list[str]:
            params = {"textDocument": {"uri": "lib.h"}, "position": {"line": 2, "character": 5}}
            answer = await ask("lsp_request", method="textDocument/definition", params=params)
            return [f"{location['uri'][-5:]}:{location['range']['start']['line']}" for location in answer["result"]]

        assert await places() == ["cpp://a.cpp#2:5"]
        assert await definition() == ["a.cpp:2"]
        write("a.cpp", '#include "lib.h"\nint other;\n')
        assert await definition() == ["lib.h:2"]
        assert await places() == ["cpp://lib.h#2:5"]
        write("b.cpp", '#include "lib.h"\n\nint target(int x) { return x; }\n')
        assert await definition() == ["b.cpp:3"]
        assert await places() == ["cpp://b.cpp#3:5"]
        (tmp_path / "b.cpp").unlink()
        assert await places() == ["cpp://lib.h#2:5"]

    asking("clangd", tmp_path, question)
