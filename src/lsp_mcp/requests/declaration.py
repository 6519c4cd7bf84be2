"""The text of one declaration: `Declaration`, made from a server's range.

Pure. Servers omit leading text (comments, `type`, `template <…>`) and trailing text (`;`); the language says what may
be there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from lsp_mcp.adapters import Language
from lsp_mcp.text import Span, Text
from lsp_mcp.words.lexing import code_in

_HASH = 4  # bytes, twice as many characters
_TOKEN = re.compile(r"[{}()\[\]:]|\btry\b")
_BRACKETS = {")": "(", "]": "[", "}": "{"}


class Declaration(Struct, frozen=True):
    """One declaration in `text`: `span` is all of it, `code` is `span` without `doc`, the comment above it.

    `body` is its block with the braces and `inner` the text between them; for indented blocks, both are the lines below
    the header. `span` ends after the `;` or `,` and after a comment at the end of that line.
    """

    text: Text
    span: Span
    doc: Span | None
    code: Span
    body: Span | None = None
    inner: Span | None = None

    @property
    def whole_lines(self) -> bool:
        """Whether its lines contain nothing else."""
        start, end = self.text.point_offset(self.span.start), self.text.point_offset(self.span.end)
        content = self.text.content
        return not _line_before(content, start).strip() and not _line_behind(content, end).strip()

    @property
    def hash(self) -> str:
        """A hash of this declaration's text with its comment, 8 characters."""
        content = self.text.slice(self.span).encode("utf-8", "surrogatepass")
        return hashlib.blake2s(content, digest_size=_HASH).hexdigest()

    @property
    def header(self) -> Span:
        """The declaration up to its body; all of it if it has none."""
        return Span(self.code.start, self.body.start) if self.body else self.code


def declaration(text: Text, extent: Span, language: Language | None) -> Declaration:
    """The declaration with the range `extent` in its server, completed by the rules of `language`."""
    content = text.content
    start, end = text.point_offset(extent.start), text.point_offset(extent.end)
    if language is None:
        return Declaration(text, extent, None, extent)
    start = _lead(content, start, language)
    body = _body(text, start, end, language)
    end = _tail(content, end, language)
    doc = _comment_above(content, start, language)
    first = start if doc is None else doc[0]
    return Declaration(
        text,
        text.offsets_span(first, end),
        text.offsets_span(*doc) if doc else None,
        text.offsets_span(start, end),
        text.offsets_span(*body[0]) if body else None,
        text.offsets_span(*body[1]) if body else None,
    )


def _lead(content: str, start: int, language: Language) -> int:
    """The start, including text before the server's range that belongs to it."""
    if not language.lead_pattern:
        return start
    before = _lead_pattern(language.lead_pattern)
    while found := before.search(content, _far_before(content, start), start):
        start = found.start()
    return start


def _far_before(content: str, start: int) -> int:
    """Where the search for a lead begins: 20 lines above."""
    for _ in range(20):
        start = content.rfind("\n", 0, max(start, 0))
        if start < 0:
            return 0
    return start


def _tail(content: str, end: int, language: Language) -> int:
    """The end, including `;` or `,` and a comment if the line ends there."""
    rest = _line_behind(content, end)
    stop = len(rest) - len(rest.lstrip(" \t"))
    if rest[stop : stop + 1] in (";", ","):
        end, rest = end + stop + 1, rest[stop + 1 :]
    bare = rest.strip()
    whole = (language.line_comment and bare.startswith(language.line_comment)) or (
        len(language.block_comment) == 2
        and bare.startswith(language.block_comment[0])
        and bare.find(language.block_comment[1]) == len(bare) - len(language.block_comment[1])
    )
    return end + len(rest.rstrip()) if whole else end


def _comment_above(content: str, start: int, language: Language) -> tuple[int, int] | None:
    """The comment directly above, without a blank line between; None if the declaration shares its first line."""
    line = content.rfind("\n", 0, start) + 1
    if content[line:start].strip():
        return None
    first = end = None
    above = line
    while above:
        below, above = above, content.rfind("\n", 0, above - 1) + 1
        bare = content[above:below].strip()
        if language.line_comment and bare.startswith(language.line_comment):
            pass
        elif len(language.block_comment) == 2 and bare.endswith(language.block_comment[1]):
            opened = content.rfind(language.block_comment[0], 0, above + len(content[above:below].rstrip()))
            above = content.rfind("\n", 0, opened) + 1
            if opened < 0 or content[above:opened].strip():
                break
        else:
            break
        end = end if end is not None else above + len(content[above:below].rstrip())
        first = above + len(content[above:below]) - len(content[above:below].lstrip())
    return None if first is None or end is None else (first, end)


def _body(text: Text, start: int, end: int, language: Language) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The block that ends the declaration, and its contents."""
    content = text.content
    if language.blocks == "indented":
        return _suite(text, start, end, language)
    blocks: list[tuple[int, int]] = []
    open_: list[tuple[str, int]] = []
    handled = False
    for match in _tokens(text, start, end, language):
        bracket = match[0]
        if bracket in _BRACKETS.values():
            open_.append((bracket, match.start()))
        elif bracket in _BRACKETS:
            if not open_ or open_[-1][0] != _BRACKETS[bracket]:
                return None  # the preprocessor's other branches, or a text with errors
            _, opened = open_.pop()
            if bracket == "}" and not open_:
                blocks.append((opened, match.end()))
        elif bracket == "try" and not open_:
            handled = True  # C++: the handlers of a function's body are a part of it
    if open_ or not blocks or content[blocks[-1][1] : end].strip():
        return None
    whole = (blocks[0] if handled else blocks[-1])[0], blocks[-1][1]
    return whole, (_between(content, whole) if not handled else whole)


def _between(content: str, block: tuple[int, int]) -> tuple[int, int]:
    opening, closing = 1, 1
    return block[0] + opening, block[1] - closing


def _suite(text: Text, start: int, end: int, language: Language) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The text after the `:` of the header."""
    content, depth = text.content, 0
    for match in _tokens(text, start, end, language):
        if match[0] in _BRACKETS.values():
            depth += 1
        elif match[0] in _BRACKETS:
            depth -= 1
        elif match[0] == ":" and not depth:
            rest = content[match.end() : end]
            inside = match.end() + len(rest) - len(rest.lstrip()), end
            return (inside, inside) if inside[0] < end else None
    return None


@cache
def _lead_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern})\Z")


def _tokens(text: Text, start: int, end: int, language: Language) -> Iterator[re.Match[str]]:
    """The brackets and colons of the code from `start` to `end`, and each `try`."""
    code = code_in(text, language)
    found = _TOKEN.finditer(text.content, start, end)
    return (match for match in found if code is None or code.part(match.start()) == "code")


def _line_before(content: str, offset: int) -> str:
    return content[content.rfind("\n", 0, offset) + 1 : offset]


def _line_behind(content: str, offset: int) -> str:
    end = content.find("\n", offset)
    return content[offset : len(content) if end < 0 else end]
