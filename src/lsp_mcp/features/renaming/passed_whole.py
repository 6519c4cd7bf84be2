"""Files that export everything of others, which name nothing of it: `passing_whole`."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath

from lsp_mcp.backend import Backend
from lsp_mcp.disk.files import Signature, content_or_nothing
from lsp_mcp.gaps import Gap, news
from lsp_mcp.prose import count
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.syntax.files import passed_whole
from lsp_mcp.text import Text

_MOST_FILES = 5_000  # read
_MOST_KEPT = 20_000  # files, and modules in them
_MOST = 50  # found
_PASSED: RememberedOf[Backend, Path, Signature, list[str]] = RememberedOf(_MOST_KEPT)


async def passing_whole(backend: Backend, paths: Iterable[Path]) -> tuple[dict[Path, Text], list[Gap]]:
    """The files that export everything of a file in `paths`, also through others, or of one that is called alike; with
    their texts. And what is left out.

    Two modules that such a file passes on cannot export one name.
    """
    todo = list(paths)
    grammars = map(backend.plugin.grammar_of, todo)
    passing: dict[Path, list[str]] = {}
    left = 0
    for word in sorted({grammar.modules.passing_word for grammar in grammars if grammar} - {""}):
        files = (await backend.words.files_with(word)).files
        left += max(0, len(files) - _MOST_FILES)
        passing |= await asyncio.to_thread(_passing, backend, files[:_MOST_FILES], word)
    followed = following(todo, passing, backend.root)
    left += max(0, len(followed) - _MOST)
    # What a package is called, its folder may not tell.
    others = [path for path, modules in passing.items() if any(map(_is_of_package, modules))]
    found: dict[Path, Text] = {}
    for path in list(dict.fromkeys([*followed, *others]))[:_MOST]:
        if text := await text_or_none(backend, path):
            found[path] = text
    if not left:
        return found, []
    return found, [news("applied", f"not tried in {count(left, 'file')} that may export all of others; run check")]


def following(paths: Iterable[Path], passing: dict[Path, list[str]], root: Path) -> list[Path]:
    """Those of `passing`, files with the modules that each passes on, that may pass on what is in `paths`. Pure.

    Also through others: those that need fewest first.
    """
    having = _by_name(passing)
    found: dict[Path, None] = {}
    looked_up: set[tuple[bool, str]] = set()
    todo = deque(paths)
    while todo:
        path = todo.popleft()
        near = {path.name.partition(".")[0], path.parent.name}
        around = {*near, *(path.relative_to(root).parts[:-1] if path.is_relative_to(root) else ())}
        names = {*((True, one) for one in around), *((False, one) for one in (*near, ""))} - looked_up
        looked_up |= names
        order = {file: number for one in names for file, number in having.get(one, {}).items() if file not in found}
        new = sorted(order, key=order.__getitem__)
        found.update(dict.fromkeys(new))
        todo += new
    return list(found)


# --- inside ------------------------------------------------------------------------------------


def _by_name(passing: Mapping[Path, Sequence[str]]) -> dict[tuple[bool, str], dict[Path, int]]:
    """The files with modules of each last name, apart for those of packages, with their numbers in `passing`."""
    found: defaultdict[tuple[bool, str], dict[Path, int]] = defaultdict(dict)
    for number, (file, modules) in enumerate(passing.items()):
        for one in modules:
            found[_is_of_package(one), _last(one)][file] = number
    return found


def _is_of_package(spelled: str) -> bool:
    return not spelled.startswith(".")


def _last(spelled: str) -> str:
    """The last part of a module's path, without extensions; empty for `..`."""
    return PurePath(spelled).name.partition(".")[0]


def _passing(backend: Backend, files: Iterable[Path], word: str) -> dict[Path, list[str]]:
    """Those of `files` that pass on modules, and which; reads only what has changed."""
    kept = _PASSED.for_owner(backend)
    pattern = re.compile(rf"\b{re.escape(word)}\b\s*[*/]".encode())
    found: dict[Path, list[str]] = {}
    for path in files:
        if (signature := Signature.read(path)) is None:
            continue
        if (modules := kept.get(path, signature)) is None:
            content, language = content_or_nothing(path), backend.plugin.language_of(path)
            modules = []
            if language and pattern.search(content):
                modules = passed_whole(Text(content.decode("utf-8", "replace")), language.id)
            kept.put(path, signature, modules, 1 + len(modules))
        if modules:
            found[path] = modules
    return found
