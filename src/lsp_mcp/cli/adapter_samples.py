"""The small projects on which `lsp-mcp adapters check` tries a server: `shipped_sample`, `sample_of_folder`."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Backend
from lsp_mcp.data import data_folder
from lsp_mcp.errors import CallerError, LspMcpError
from lsp_mcp.prose import count
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.symbols import flat
from lsp_mcp.text import Point, Text

_MOST_FILES = 2_000  # of the user's folder, which is copied
_MOST_OUTLINED = 50  # of these, when a symbol is looked for
_SHORTEST = 4  # characters of a name that is likely to be that of one symbol
_MISTAKE = "\n)]} ((( broken [[{{\n"  # no language takes that

Spot = tuple[str, int, int]
"""File, line and character, from 1."""


class Shipped(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A project of `adapters/samples.toml`, which says what the fields are."""

    files: dict[str, str]
    broken: str
    name: str = "greet"
    outline: str = ""
    leads_to: int = 0


class Sample(msgspec.Struct, frozen=True):
    """The symbol `name` of a project: where it is defined, and one use of it, which leads to `target`.

    `places` are all of its places; empty if they are not known. `outline` is in the outline of the file that defines
    it, and `broken` at the end of the file with the use is an error.
    """

    language: str
    name: str
    definition: Spot
    target: Spot
    use: Spot
    places: frozenset[Spot]
    outline: str
    broken: str


def shipped_sample(adapter: Adapter, root: Path) -> Sample | None:
    """The sample of the first language of `adapter` that has one, written into `root`; None if there is none."""
    shipped = msgspec.toml.decode((data_folder("adapters") / "samples.toml").read_bytes(), type=dict[str, Shipped])
    language = next((one for one in adapter.languages if one.id in shipped), None)
    if language is None:
        return None
    sample = shipped[language.id]
    places: list[Spot] = []
    for file, written in sample.files.items():
        path, text = root / file, written.replace("{root}", str(root))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if adapter.language_of(path):
            places += _places(file, Text(text), sample.name)
    return Sample(
        language.name,
        sample.name,
        places[0],
        (*places[0][:2], sample.leads_to or places[0][2]),
        places[-1],
        frozenset(places),
        sample.outline or sample.name,
        sample.broken,
    )


def copied(adapter: Adapter, folder: Path, root: Path) -> None:
    """Copy the project in `folder` into `root`, where a mistake may be put into it.

    Raises:
        CallerError: there is no such folder, it has no source of the adapter's languages, or too many files.
    """
    if not folder.is_dir():
        raise CallerError(f"--sample {folder}: there is no such folder")
    ignored = {name.partition("/")[0] for name in adapter.workspace.ignored_folders}
    found = 0
    for path in folder.rglob("*"):
        if not ignored.intersection(path.relative_to(folder).parts):
            found += 1
        if found > _MOST_FILES:
            raise CallerError(f"--sample {folder} has more than {_MOST_FILES:,} files; pass a small project")
    shutil.copytree(folder, root, ignore=shutil.ignore_patterns(*ignored), symlinks=True, dirs_exist_ok=True)
    if not any(True for _ in _sources(adapter, root)):
        raise CallerError(f"--sample {folder} has no source of {adapter.name} ({', '.join(adapter.by_kind)})")


async def sample_of_folder(backend: Backend, name: str) -> Sample:
    """The symbol `name` of the backend's workspace; without a name, the one that is used in the most files.

    Raises:
        CallerError: there is none.
    """
    adapter, root = backend.plugin.adapter, backend.root
    texts: dict[Path, Text] = {}
    for path in _sources(adapter, root):
        try:
            texts[path] = Text(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
    best: tuple[int, Path, Point, str] | None = None
    for path in list(texts)[:_MOST_OUTLINED]:
        try:
            symbols = [*flat(await document_symbols(backend, path))]
        except LspMcpError:
            continue  # the question about the outline says so
        for symbol in symbols:
            own = texts[path].slice(symbol.place.span)
            if own != name if name else len(own) < _SHORTEST or not own.isidentifier():
                continue
            files = sum(own in text.content and bool(text.words(own)) for text in texts.values())
            if (files > 1 or name) and (best is None or files > best[0]):
                best = files, path, symbol.place.span.start, own
    if best is None:
        asked = f"declares {name}" if name else "declares a symbol that another file uses; name one with --symbol"
        looked = count(min(len(texts), _MOST_OUTLINED), "outline")
        raise CallerError(f"no file of the sample {asked} ({adapter.name} was asked for {looked})")
    _, path, at, own = best
    others = [(file, span.start) for file, text in texts.items() if file != path for span in text.words(own)]
    same = [(path, span.start) for span in texts[path].words(own) if span.start != at]
    use_path, use = next(iter((*others, *same)), (path, at))
    language = adapter.language_of(path)
    return Sample(
        language.name if language else "",
        own,
        _spot(root, path, at),
        _spot(root, path, at),
        _spot(root, use_path, use),
        frozenset(),
        own,
        _MISTAKE,
    )


def _sources(adapter: Adapter, root: Path) -> Iterator[Path]:
    yield from (path for path in sorted(root.rglob("*")) if adapter.owns(path, root) and path.is_file())


def _places(file: str, text: Text, word: str) -> Collection[Spot]:
    return [(file, span.start.line, span.start.character) for span in text.words(word)]


def _spot(root: Path, path: Path, point: Point) -> Spot:
    return path.relative_to(root).as_posix(), point.line, point.character
