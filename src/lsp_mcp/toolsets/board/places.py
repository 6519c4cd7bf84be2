"""Code as callers name it for a task, as anchors: `Places` takes what the code tools take."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from lsp_mcp.adapters import shipped_adapters
from lsp_mcp.anchors import Anchor, is_anchor, parse_anchor
from lsp_mcp.errors import AnchorError, PathError, UnavailableError
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.syntax.definitions import Definition, definitions
from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Point, Text
from lsp_mcp.toolsets.addresses import Address, Unclear, parse_address, point_in
from lsp_mcp.toolsets.symbols import Targets
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.visible import quoted
from lsp_mcp.wire.git import git_output
from lsp_mcp.workspace import Workspace

_LISTED = 10  # candidates listed in an error
_CODE = 80  # characters of code shown with each
_MOST_PARSED = 200  # files with a word whose declarations are looked at
_SCHEME = "file"  # of anchors that no language server has written
_WORD = re.compile(r"[^\W\d]\w*")


class Places:
    """Anchors of names and addresses: by the language servers, if any run, else by the syntax and text of the files."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._workspace: Workspace = sessions.workspace
        self._targets = Targets(sessions)

    async def anchors(self, spelled: Sequence[str], call: Call | None = None) -> list[str]:
        """An anchor for each of `spelled`: anchors as they are, other addresses and names at their symbol.

        Raises:
            AnchorError: it is malformed, unknown or ambiguous; the message lists candidates.
            PathError: its file is missing or outside the workspace.
        """
        return [one if is_anchor(one) else await self._anchor(one, call or Call()) for one in spelled]

    # --- inside ------------------------------------------------------------------------------------

    async def _anchor(self, spelled: str, call: Call) -> str:
        try:
            await self._sessions.require_backends()
        except UnavailableError:
            return await self._by_text(spelled)
        target = await self._targets.target(await self._targets.handle(call, spelled))
        return self._targets.anchor(target.path, target.identifier.start)

    async def _by_text(self, spelled: str) -> str:
        """Where syntax and text leave one possibility.

        Raises:
            AnchorError: it leaves none, or several, which the message lists.
        """
        if "://" in spelled:
            parse_anchor(spelled)  # explains the problem
        for address in parse_address(spelled, self._is_file):
            return await self._in_file(address)
        return await self._by_name(spelled)

    async def _in_file(self, address: Address) -> str:
        path = self._workspace.file(address.file)
        text = _text(path)
        if not address.line and not address.name:
            raise AnchorError(f"{address.file} names a file, not a symbol; pass FILE:LINE, FILE:LINE:COL or FILE:NAME.")
        declared = [] if address.column else await asyncio.to_thread(_declared, path, text, address)
        found: Point | Unclear
        if len(declared) == 1:
            found = declared[0]
        elif address.line:
            found = point_in(address, text, [], None)
        else:
            word = (_WORD.findall(address.name) or [""])[-1]
            spans = text.words(word)
            several = Unclear(f" has {len(spans)} places with {quoted(word)}", spans)
            found = spans[0].start if len(spans) == 1 else several
        if isinstance(found, Point):
            return self._written(path, found)
        places = [(path, span.start, text.line(span.start.line)) for span in found.spans]
        raise AnchorError(f"{address.file}{found.why}{self._listed(places)}")

    async def _by_name(self, spelled: str) -> str:
        words = _WORD.findall(spelled)
        if not words:
            raise AnchorError(f"{quoted(spelled)} is not an anchor, an address or a name; pass FILE:LINE or FILE:NAME.")
        places = await self._with_word(words[-1])
        if len(places) == 1 and len(words) == 1:
            path, point, _ = places[0]
            return self._written(path, point)
        known = f"{len(places)} lines have {words[-1]}" if places else f"no text of this checkout has {words[-1]}"
        if len(files := dict.fromkeys(path for path, _, _ in places)) <= _MOST_PARSED:
            declared = await asyncio.to_thread(self._declarations, files, spelled)
            if len(declared) == 1:
                return self._written(*declared[0][:2])
            if declared:
                places, known = declared, f"{len(declared)} declarations have that name"
        raise AnchorError(
            f"no language server runs that could find {quoted(spelled)}, and {known}; pass an anchor or "
            f"FILE:LINE, or start the board with --backend.{self._listed(places)}"
        )

    async def _with_word(self, word: str) -> list[tuple[Path, Point, str]]:
        """The lines of the checkout that have a word."""
        root = self._workspace.root
        printed = await git_output(root, "grep", "-n", "-z", "-w", "-I", "-F", "--untracked", "-e", word, "--")
        found = []
        for line in (printed or "").splitlines():
            file, number, code = line.split("\0", 2)
            spans = Text(code).words(word)[:1]
            found += [(root / file, Point(int(number), span.start.character), code) for span in spans]
        return found

    def _declarations(self, files: Collection[Path], name: str) -> list[tuple[Path, Point, str]]:
        """The declarations called `name` in these files."""
        found = []
        for path in files:
            try:
                text = _text(path)
            except PathError:
                continue
            found += [(path, at, text.line(at.line)) for at in _declared(path, text, Address("", name=name))]
        return found

    def _written(self, path: Path, point: Point) -> str:
        return str(Anchor(_SCHEME, self._workspace.display_path(path), point))

    def _listed(self, places: Sequence[tuple[Path, Point, str]]) -> str:
        shown = [f"\n{self._written(path, point)}| {code.strip()[:_CODE]}" for path, point, code in places[:_LISTED]]
        more = [f"\nand {len(places) - _LISTED} more"] if len(places) > _LISTED else []
        return "".join([*shown, *more])

    def _is_file(self, name: str) -> bool:
        try:
            return self._workspace.file(name).is_file()
        except PathError:
            return False


def _declared(path: Path, text: Text, address: Address) -> list[Point]:
    """The names of the declarations in `text` that `address` can mean by its line or name, by syntax alone."""
    language = next(filter(None, (adapter.language_of(path) for adapter in shipped_adapters())), None)
    grammar = grammar_of(language.id) if language else None
    found = grammar and definitions(TREES.tree_of(text, grammar, path), grammar)
    if not found:
        return []
    *around, last = _WORD.findall(address.name) or [""]
    places = {
        number: at
        for number, one in enumerate(found)
        if (not last or one.name == last)
        and address.line in (None, (at := text.offset_point(one.name_start)).line)
        and set(around) <= set(_qualifiers(text, found, one))
    }
    return [at for number, at in places.items() if last or found[number].above not in places]


def _qualifiers(text: Text, found: Sequence[Definition], one: Definition) -> list[str]:
    """The words that may qualify its name: what it is in, and what is written before its name, such as a receiver."""
    words = _WORD.findall(text.content[one.start : one.name_start])
    while one.above >= 0:
        one = found[one.above]
        words.append(one.name)
    return words


def _text(path: Path) -> Text:
    try:
        return Text(path.read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PathError(f"{path} cannot be read as text: {error}") from None
