"""Edits of open files, as quick as a person's tools make them, cost clangd no worker: real clangd, no sleeps.

clangd 22 loses a worker for good over a document that is closed while it still has to read several of its texts.
Without workers it answers nothing any more: the question after that ends with the error of the request timeout.
"""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.adapters import load_adapter
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.programs import find_command

ROUNDS = 50
skip_without("clangd")


@dataclass
class Model:
    """Sources that each call the function of some headers; every place of every name is known."""

    root: Path
    dice: random.Random
    names: list[str] = field(default_factory=lambda: ["f0", "f1"])  # of the function that each header declares
    above: list[int] = field(default_factory=lambda: [0, 0])  # lines before it
    calls: list[list[int]] = field(default_factory=lambda: [[1, 0], [0, 1], [1, 1], [2, 0]])  # per source and header
    changes: int = 0

    def write_all(self) -> None:
        for header in range(len(self.names)):
            self.write_header(header)
        for source in range(len(self.calls)):
            self.write_source(source)
        entries = [
            {"directory": str(self.root), "file": f"s{source}.cpp", "command": f"c++ -c s{source}.cpp"}
            for source in range(len(self.calls))
        ]
        (self.root / "compile_commands.json").write_text(json.dumps(entries))

    def write_header(self, header: int) -> None:
        # One includes the other, so that a source is also changed by what it doesn't include itself.
        include = '#include "h0.h"\n' if header else "\n"
        above = "// more\n" * self.above[header]
        (self.root / f"h{header}.h").write_text(f"#pragma once\n{include}{above}int {self.names[header]}(int);\n")

    def write_source(self, source: int) -> None:
        calls = "".join(f"  {self.names[header]}(1);\n" for header in self.called(source))
        (self.root / f"s{source}.cpp").write_text(f'#include "h1.h"\nvoid s{source}() {{\n{calls}}}\n')

    def called(self, source: int) -> list[int]:
        """The header of each call, line by line."""
        return [header for header, count in enumerate(self.calls[source]) for _ in range(count)]

    def change(self) -> None:
        """Do one thing to the files."""
        self.changes += 1
        header, source = self.dice.randrange(len(self.names)), self.dice.randrange(len(self.calls))
        match self.dice.randrange(4):
            case 0:  # a rename touches all files at once
                self.names[header] = f"f{header}_{self.changes}"
                self.write_header(header)
                for number in range(len(self.calls)):
                    self.write_source(number)
            case 1:
                self.above[header] = self.dice.randrange(4)
                self.write_header(header)
            case 2:
                self.calls[source] = [self.dice.randrange(3) for _ in self.names]
                self.write_source(source)
            case _:
                self.above[header] += 1
                self.calls[source][header] += 1
                self.write_header(header)
                self.write_source(source)

    def places(self, header: int) -> list[tuple[str, int]]:
        """File and line of each place of the name that the header declares."""
        found = [(f"h{header}.h", 3 + self.above[header])]
        for source in range(len(self.calls)):
            found += [(f"s{source}.cpp", 3 + line) for line, other in enumerate(self.called(source)) if other == header]
        return sorted(found)


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("seed", [1, 2])
def test_edits_of_open_sources_and_headers_cost_no_worker(tmp_path: Path, workers: int, seed: int) -> None:
    model = Model(tmp_path, random.Random(seed))
    model.write_all()
    adapter = load_adapter("clangd")
    options = SessionOptions(command=(*find_command(adapter), f"-j={workers}"))

    async def question(ask: Ask) -> None:
        for number in range(ROUNDS):
            for _ in range(model.dice.randrange(3) if number else 0):
                model.change()
            # Outlines open documents; of some only, so that files are changed that are open and ones that are not.
            source = model.dice.randrange(len(model.calls))
            outline = await ask("list_symbols_in_file", file_path=f"s{source}.cpp")
            assert [symbol["name"] for symbol in outline["file_symbols"]] == [f"s{source}"]
            header = model.dice.randrange(len(model.names))
            answer = await ask("find_symbol_references_by_anchor", symbol_anchor=model.names[header])
            places = sorted((r["location"]["file"], r["location"]["line"]) for r in answer["references"])
            assert (number, places) == (number, model.places(header))
            assert answer["status"].startswith("complete; ")

    asking("clangd", tmp_path, question, options)
