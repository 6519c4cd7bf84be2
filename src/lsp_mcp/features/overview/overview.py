"""What a workspace consists of: `overview`, an `Overview` by folders."""

from __future__ import annotations

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from msgspec import Struct, field
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError, RefusedError, UnavailableError
from lsp_mcp.features.overview.graph import circles, layers
from lsp_mcp.features.overview.imported import Folders
from lsp_mcp.requests.containers import TYPES, Container, Containers
from lsp_mcp.requests.places import Place, last_word
from lsp_mcp.requests.references import references
from lsp_mcp.syntax.files import ENTRY_WORDS, depends_on, entries_in, knows_imports
from lsp_mcp.waiting import dispensable, phase
from lsp_mcp.wire.git import git_output

# Programs that come last: their folders' or files' names have such a word.
_ASIDE = re.compile(
    r"(?:^|[/_.-])(?:tests?|testdata|bench(?:marks?)?|examples?|demos?|issues|fuzz\w*)(?:[/_.-]|$)", re.I
)
_MOST_ENTRIES = 200  # files in which entry points are looked for
_MOST_OUTLINED = 40  # files of the folders used most, whose declarations are counted
_MOST_NAMES = 300  # of these
_MOST_ASKED = 12  # declarations that the server is asked about
_COMMITS = 500  # looked at for what changes most
_SHORT = 4  # characters: a shorter name means something else elsewhere


class Folder(Struct):
    """The source files of one folder, and with a depth of all below it: `name` is relative to the root."""

    name: str
    files: int = 0
    tests: int = 0  # of the files
    lines: int = 0
    uses: set[str] = field(default_factory=set)  # the folders that its files import, tests only if it has no others
    tests_use: set[str] = field(default_factory=set)  # those that its tests import
    used_by: int = 0  # folders that import it


class Overview(Struct):
    """`folders` by name; the others are in the order in which they matter, the most important first."""

    languages: dict[str, int]  # lines by language
    folders: dict[str, Folder]
    entries: list[Place]
    layers: list[list[str]]
    circles: list[list[str]]
    changed: list[tuple[str, int]]  # files, with the number of the last commits that changed them
    imported: list[tuple[str, int]]  # files, with the number of those that import them by name
    used: list[tuple[Container, int]]  # declarations, with the number of their uses as the server lists them
    unreadable: dict[Path, str] = field(default_factory=dict)  # files, and why they cannot be read
    without_imports: tuple[str, ...] = ()  # languages of which imports are not known
    unasked: list[str] = field(default_factory=list)  # why uses are not known, for each server that did not answer


async def overview(backends: Sequence[Backend], files: Mapping[Backend, Sequence[Path]], root: Path) -> Overview:
    """What `files` of each backend are, as parts of a program. Imports are followed by their spelling."""
    everything = [PurePosixPath(path.relative_to(root)) for paths in files.values() for path in paths]
    found = Overview({}, {}, [], [], [], [], [], [])
    for backend in backends:
        beginnings = [
            (name, PurePosixPath(Path(folder).relative_to(root)).as_posix())
            for name, folder in backend.words.imports_begin_with()
            if Path(folder).is_relative_to(root)
        ]
        known = Folders(everything, beginnings)
        await _read(backend, files[backend], root, known, found)
    _complete(found)
    found.entries = await _entries(backends, root)
    found.changed = await _changed(root, {str(path) for path in everything})
    for backend in backends:
        try:
            with dispensable():
                found.used += await _used(backend, files[backend], root, found)
        except UnavailableError as error:
            found.unasked.append(str(error))
    found.imported.sort(key=lambda one: (-one[1], one[0]))
    found.used.sort(key=lambda one: -one[1])
    return found


def grouped(found: Overview, depth: int) -> Overview:
    """`found` with the folders below `depth` counted in the one above them at that depth.

    Circles stay those of whole paths: that parts of two folders use parts of the other does not make a circle.
    """
    names = {name: "/".join(name.split("/")[:depth]) for name in found.folders}
    folders: dict[str, Folder] = {}
    for name, one in found.folders.items():
        into = folders.setdefault(names[name], Folder(names[name]))
        into.files += one.files
        into.tests += one.tests
        into.lines += one.lines
        into.uses |= {names[other] for other in one.uses} - {names[name]}
    joined = replace(found, folders=folders)
    _complete(joined)
    joined.circles = found.circles
    return joined


def _complete(found: Overview) -> None:
    """Add what follows from what the folders use."""
    times = Counter(other for one in found.folders.values() for other in one.uses)
    for one in found.folders.values():
        one.used_by = times[one.name]
    edges = {one.name: frozenset(one.uses) for one in found.folders.values() if one.uses or one.used_by}
    found.layers, found.circles = layers(edges), circles(edges)


async def _read(backend: Backend, paths: Sequence[Path], root: Path, known: Folders, found: Overview) -> None:
    """Add the folders of `paths`, with their sizes and imports, to `found`."""
    silent: set[str] = set()
    imported: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    headers: Counter[str] = Counter()
    with phase(lambda: f"read {sum(one.files for one in found.folders.values()):,} of {len(paths):,} files"):
        for path in paths:
            language = backend.plugin.language_of(path)
            try:
                text = await backend.documents.text(path)
            except PathError as error:
                found.unreadable[path] = str(error)
                continue
            if language is None:
                continue
            file = PurePosixPath(path.relative_to(root))
            name = "" if str(file.parent) == "." else str(file.parent)
            folder = found.folders.setdefault(name, Folder(name))
            folder.files += 1
            is_test = backend.plugin.adapter.tests.has(path, root)
            folder.tests += is_test
            folder.lines += text.line_count
            (headers if backend.plugin.is_header(path) else languages)[language.name] += text.line_count
            imports = await asyncio.to_thread(depends_on, text, language.id)
            if not knows_imports(language.id):
                silent.add(language.name)
            meant = [other for spelled in imports if (other := known.meant(spelled, file)) is not None]
            (folder.tests_use if is_test else folder.uses).update({other for other, _ in meant} - {name})
            imported.update({other for _, other in meant} - {"", str(file)})
    for name, lines in headers.items():  # those of C are not told from those of C++ by their names
        languages[name if name in languages or not languages else languages.most_common(1)[0][0]] += lines
    for name, lines in languages.items():
        found.languages[name] = found.languages.get(name, 0) + lines
    for one in found.folders.values():
        if one.tests == one.files:
            one.uses |= one.tests_use
        one.uses &= found.folders.keys()
    found.without_imports += tuple(sorted(silent))
    found.imported += [(file, times) for file, times in imported.most_common() if times > 1]


async def _entries(backends: Sequence[Backend], root: Path) -> list[Place]:
    found: list[Place] = []
    for backend in backends:
        having = {path for word in ENTRY_WORDS for path in (await backend.words.files_with(word)).files}
        tests = backend.plugin.adapter.tests
        counted = [
            path
            for path in having
            if path.is_relative_to(root) and not backend.plugin.ignores(path.parent, root) and not tests.has(path, root)
        ]
        for path in sorted(counted, key=lambda path: _closeness(path, root))[:_MOST_ENTRIES]:
            language = backend.plugin.language_of(path)
            if language is None:
                continue
            try:
                text = await backend.documents.text(path)
            except PathError:
                continue
            spans = await asyncio.to_thread(entries_in, text, language.id)
            found += [Place(path, span, text) for span in spans]
    return found


def _closeness(path: Path, root: Path) -> tuple[bool, int, Path]:
    """Programs before those that test or measure or show something, those near the root first."""
    return bool(_ASIDE.search(path.relative_to(root).as_posix())), len(path.parts), path


async def _changed(root: Path, files: set[str]) -> list[tuple[str, int]]:
    """The files that most of the last commits changed."""
    printed = await git_output(
        root, "log", f"--max-count={_COMMITS}", "--format=", "--name-only", "--no-renames", "--relative", "-z"
    )
    names = Counter(name.strip() for name in re.split(r"[\0\n]", printed or "") if name.strip())
    return [(name, times) for name, times in names.most_common() if name in files and times > 1]


async def _used(backend: Backend, paths: Sequence[Path], root: Path, found: Overview) -> list[tuple[Container, int]]:
    """The declarations that are used most, of those in the folders that most others import.

    The server is asked about the few whose names are in most files; if it outlines files without opening them.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    if not backend.plugin.documents.outlines_closed or backend.plugin.word_check.by_word:  # words are not uses
        return []
    tests = backend.plugin.adapter.tests
    by_folder: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        name = str(PurePosixPath(path.relative_to(root)).parent)
        if not tests.has(path, root):
            by_folder["" if name == "." else name].append(path)
    first = sorted(found.folders.values(), key=lambda one: -one.used_by)
    chosen = [path for one in first if one.used_by for path in by_folder[one.name]][:_MOST_OUTLINED]
    containers = Containers(backend)
    declared: dict[str, list[Container]] = defaultdict(list)
    for path in chosen:
        with suppress(PathError, RefusedError):  # a file without an outline, such as one that a build generates
            for one in await containers.declarations(path):
                if one.kind in TYPES or one.kind == "function":
                    declared[last_word(one.name)].append(one)
    once = [ones[0] for name, ones in declared.items() if len(ones) == 1 and len(name) >= _SHORT][:_MOST_NAMES]
    files = [(len((await backend.words.files_with(last_word(one.name))).files), one) for one in once]
    likeliest = [one for _, one in sorted(files, key=lambda each: -each[0])[:_MOST_ASKED]]
    found_uses = []
    for one in likeliest:
        try:
            places = (await references(backend, one.place.path, one.place.span.start)).places
        except RefusedError:
            continue
        found_uses.append((one, len(places)))
    return found_uses
