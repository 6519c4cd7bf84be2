"""Code as callers name it for a task, as anchors: `Places` takes what the code tools take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.anchors import Anchor, is_anchor, parse_anchor
from lsp_mcp.errors import AnchorError, PathError, UnavailableError
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Point, Text
from lsp_mcp.toolsets.addresses import Address, Unclear, parse_address, point_in
from lsp_mcp.toolsets.symbols import Targets
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.visible import quoted
from lsp_mcp.wire.git import git_output
from lsp_mcp.workspace import Workspace

_LISTED = 10  # candidates listed in an error
_CODE = 80  # characters of code shown with each
_SCHEME = "file"  # of anchors that no language server has written
_WORD = re.compile(r"[^\W\d]\w*")


class Places:
    """Anchors of names and addresses: by the language servers, if any run, else by the text of the files."""

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
        """Where the text alone leaves one possibility.

        Raises:
            AnchorError: it leaves none, or several, which the message lists.
        """
        if "://" in spelled:
            parse_anchor(spelled)  # explains the problem
        for address in parse_address(spelled, self._is_file):
            return self._in_file(address)
        return await self._by_name(spelled)

    def _in_file(self, address: Address) -> str:
        path = self._workspace.file(address.file)
        text = _text(path)
        if not address.line and not address.name:
            raise AnchorError(f"{address.file} names a file, not a symbol; pass FILE:LINE, FILE:LINE:COL or FILE:NAME.")
        if address.line:
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
        known = f"{len(places)} lines have" if places else "no text of this checkout has"
        raise AnchorError(
            f"no language server runs that could find {quoted(spelled)}, and {known} {words[-1]}; pass an anchor or "
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


def _text(path: Path) -> Text:
    try:
        return Text(path.read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PathError(f"{path} cannot be read as text: {error}") from None
