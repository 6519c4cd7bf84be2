"""Is an index true? Random symbols of a SCIP index: its places of each, and those that the live server names.

    python truth/index_truth.py FOLDER --backend gopls --number 300  # any folder of code, or a tree of sources.toml
    python truth/index_truth.py FOLDER --backend typescript --index FILE

FOLDER is copied; without --index the adapter's indexer makes one. A difference is explained if each place that only
the server names is of another symbol of that name in the index (a call through an interface, which a server counts as
a use of all its methods), of its constructor, in a comment, does not spell the name (`Self`), or is in a file that the
index does not have (one of another system). All other differences are listed.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import click
import sqlalchemy as sa
from session import ALL, Answer, Session, session
from sources import copied, trees

from lsp_mcp.index.gathering import gather
from lsp_mcp.index.monikers import described, parse
from lsp_mcp.index.packing import unpack_uses
from lsp_mcp.index.scip import DEFINITION
from lsp_mcp.index.store import IndexStore
from lsp_mcp.index.tables import documents, symbols

_MAKERS = ("<constructor>", "__init__")
_COMMENT = re.compile(r"\s*(?:\*|/\*)|.*//|\s*#")

At = tuple[str, int, int]  # file, line and character, from 1
Named = dict[At, set[str]]


@dataclass
class Symbol:
    """A symbol that the index defines, and its places."""

    name: str
    kind: str
    places: set[At] = field(default_factory=set)
    defined: list[At] = field(default_factory=list)


@click.command(help=__doc__)
@click.argument("folder")
@click.option("--backend", default="gopls", show_default=True)
@click.option("--index", type=click.Path(path_type=Path), help="A SCIP file of FOLDER.")
@click.option("--number", default=300, show_default=True, help="How many symbols.")
@click.option("--seed", default=1, show_default=True)
def main(folder: str, backend: str, index: Path | None, number: int, seed: int) -> None:
    """Exit status 1: a difference is not explained."""
    with tempfile.TemporaryDirectory(prefix="lsp-mcp-index-truth-") as temporary:
        copy = Path(temporary).resolve() / "tree"
        known = [tree for tree in trees(backend) if tree.name == folder] if backend in ("gopls", "clangd") else []
        if known:
            copied(known[0], copy)
        else:
            shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cache", "target"))
        made = index.resolve() if index else _indexed(copy, backend)
        every, named = read(made, copy, Path(temporary) / "store.sqlite3")
        chosen = random.Random(seed).sample(every, min(number, len(every)))
        with session(backend, copy, Path(temporary) / "index") as at:
            outcomes = Counter(_judged(one, at, named, copy) for one in chosen)
    summary = ", ".join(f"{many} {outcome}" for outcome, many in sorted(outcomes.items()))
    click.echo(f"{folder}: {len(chosen)} of {len(every)} symbols, seed {seed}: {summary}")
    sys.exit(outcomes["different"] > 0)


def read(file: Path, root: Path, store: Path) -> tuple[list[Symbol], Named]:
    """The symbols that a SCIP file defines at a name of theirs, in the order of their places; and all that it names."""
    opened = IndexStore(f"sqlite:///{store}")
    opened.push(gather(file, root, with_text=False), "tree", "0")
    found: list[Symbol] = []
    named: Named = {}

    def work(connection: sa.Connection) -> None:
        paths = {row.document: row.path for row in connection.execute(sa.select(documents))}
        for row in connection.execute(sa.select(symbols)):
            names = described(moniker.descriptors) if (moniker := parse(row.symbol)) else None
            if not names or not names.names:
                continue
            # A property of an object literal has a number behind its name.
            own = names.names[-1].rstrip("0123456789") if names.kind == "meta" else names.names[-1]
            one = Symbol(own, names.kind)
            for use in unpack_uses(row.uses):
                at = (paths[use.document], use.line + 1, use.start + 1)
                one.places.add(at)
                named.setdefault(at, set()).update(names.names[-2:] if one.name in _MAKERS else (one.name,))
                if use.roles & DEFINITION and use.length == len(one.name):
                    one.defined.append(at)
            if one.defined and names.kind != "meta":
                found.append(one)

    opened.read(work)
    opened.close()
    return sorted(found, key=lambda one: one.defined[0]), named


def _indexed(folder: Path, backend: str) -> Path:
    program = str(Path(sys.executable).with_name("lsp-mcp"))
    made = folder.parent / "index.scip"
    command = [program, "index", "build", "--backend", backend, "--workspace-root", str(folder), "--output", str(made)]
    subprocess.run(command, check=True)
    return made


def _judged(one: Symbol, at: Session, named: Named, root: Path) -> str:
    file, line, character = one.defined[0]
    asked = f"{file}:{line}:{character}"
    answer = at.ask("find_symbol_references_by_anchor", symbol_anchor=asked, limit=ALL)
    if answer.error:
        click.echo(f"not answered: {asked} {one.kind} {one.name}: {answer.error[:200]}")
        return "not answered"
    live = _places(answer)
    more, lacking = one.places - live, live - one.places
    if not more and not lacking:
        return "equal"
    files = {place[0] for place in named}
    odd = sorted(more)
    for place in sorted(lacking):
        if one.name not in named.get(place, ()) and place[0] in files and _spells(root, place, one.name):
            odd.append(place)
    if not odd:
        return "explained"
    click.echo(
        f"different: {asked} {one.kind} {one.name}: the index has {len(more)} more, the server {len(lacking)}, "
        f"such as {odd[:4]}; {answer.status[:160]}"
    )
    return "different"


def _spells(root: Path, place: At, name: str) -> bool:
    """Whether `name` is at a place in code, rather than in a comment or spelled otherwise."""
    line = (root / place[0]).read_text("utf-8").split("\n")[place[1] - 1]
    before, rest = line[: place[2] - 1], line[place[2] - 1 :]
    return rest.startswith(name) and not _COMMENT.match(before)


def _places(answer: Answer) -> set[At]:
    places = [one["location"] for one in answer.json.get("references", [])]
    return {(at["file"], at["line"], at["character"]) for at in places}


if __name__ == "__main__":
    main()
