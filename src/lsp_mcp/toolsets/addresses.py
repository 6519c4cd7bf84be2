"""Addresses: how callers name a place or a symbol, as data (`Address`). Pure.

An anchor is one form. People and programs use others: `FILE:LINE`, `FILE:LINE:COL`, `FILE:LINE:WORD`, `FILE:Symbol`,
`FILE#LINE`, `FILE#LINE:CHAR`, a URI, and the output lines of compilers, grep and stack traces. Anything else is a
name, which `bare_name` strips of the text around it, and `name_under_test` of a test's result.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Sequence
from urllib.parse import unquote

from msgspec import Struct

from lsp_mcp.adapters import Language
from lsp_mcp.errors import PointError
from lsp_mcp.prose import count
from lsp_mcp.requests.signatures import fits, split_signature
from lsp_mcp.requests.symbols import MEMBERS, Symbol
from lsp_mcp.requests.workspace_symbol import is_named
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.visible import quoted
from lsp_mcp.words.lexing import identifiers_in_code

IsSource = Callable[[str], bool]
"""Whether a server supports a file of this name."""


class Address(Struct, frozen=True):
    """A place in the present text of `file`: a line, a range of lines, a column, or a name.

    Lines and columns count from 1. `in_bytes`: the column comes from a compiler and counts bytes. Without a line and
    a name it is the whole file. With `last_line` it is a range, up to `last_column` if that is given.
    """

    file: str
    line: int | None = None
    last_line: int | None = None
    column: int | None = None
    in_bytes: bool = False
    name: str = ""
    last_column: int | None = None


_WORD = r"[^\W\d]\w*"
_NAME = rf"[(*~]*{_WORD}(?:[\w.:*()~\[\]<>,]*\w[)\]>]*)?"
_MARK = re.compile(r"\.?#")
_PLACES = [  # what may follow a file, the longer before the shorter
    r'", line (?P<line>\d+)',  # Python
    r"[:#]L?(?P<line>\d+)-L?(?P<last>\d+)(?!\w)",
    r"[:#]L?(?P<line>\d+):(?P<column>\d+)-L?(?P<last>\d+)(?::(?P<end>\d+))?(?!\w)",
    r"[:#]L?(?P<line>\d+):(?P<column>\d+)(?:-\d+)?(?P<message>:.*)?(?!\w)",
    rf"[:#]L?(?P<line>\d+):(?P<name>{_NAME})\s*$",
    r"[:#]L?(?P<line>\d+)(?!\w)",
    r"\((?P<line>\d+)(?:,(?P<column>\d+))?\)",
    rf"(?:::?|#)(?P<name>{_NAME}(?:\([^()\n]*\)(?: ?const)?)?)\s*$",
    r"[:#]?\s*$",
]
_PLACE = [re.compile(place, re.S) for place in _PLACES]
_TOKEN = re.compile(r"""[^\s"'`()<>|:#,;=]+""")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_CONTEXT = re.compile(r"(?P<file>.+?\.\w+)(?P<sign>[-=])(?P<line>\d+)(?P=sign)")  # grep -A, git grep --show-function
_INSIDE = re.compile(r"(?P<file>.+?): In [^'‘]*['‘](?P<signature>.+)['’]:")  # GCC, before the messages themselves
_TEMPLATE = re.compile(r"\s*\[with .*\]$")  # GCC: the arguments of an instance
_QUALIFIED = re.compile(r"(?:[\w:~]|<[^()<>\s]*>)*(?:\boperator.*)?$")  # after the type that a function returns
_TESTED = re.compile(r"(?:--- (?:FAIL|PASS|SKIP): |=== (?:RUN|PAUSE|CONT|NAME)\s+)(?P<name>\w+)\S*(?: \([\d.]+s\))?")


def parse_address(spelled: str, is_source: IsSource) -> list[Address]:
    """Possible meanings of `spelled` as an address in a file, likelier ones first; none if it does not name a file.

    A file name may contain spaces, or words may precede it: the caller means the file that exists.
    """
    for line in (one.strip().strip("`") for one in spelled.strip().splitlines()):
        if found := [*_of_context(line, is_source), *_of_function(line, is_source), *_readings(line, is_source)]:
            return found
    return []


def _of_context(line: str, is_source: IsSource) -> list[Address]:
    """A line that grep printed around a match: `FILE-LINE-TEXT`."""
    found = _CONTEXT.match(line)
    return [Address(found["file"], int(found["line"]))] if found and is_source(found["file"]) else []


def _of_function(line: str, is_source: IsSource) -> list[Address]:
    """GCC's line above messages about a function: `FILE: In member function 'int A::f()':`."""
    found = _INSIDE.fullmatch(line)
    if not found or not is_source(found["file"]):
        return []
    name, signature = split_signature(_TEMPLATE.sub("", found["signature"]))
    own = _QUALIFIED.search(name)
    called = own[0].strip(":") if own else ""
    return [Address(found["file"], name=called + (signature or ""))] if called else []


def _readings(line: str, is_source: IsSource) -> list[Address]:
    scheme = _SCHEME.match(line)
    if "://" in line and not scheme and line.startswith(":"):
        return []
    start = scheme.end() if scheme else 0
    for token in _TOKEN.finditer(line, start):
        if not is_source(token[0]):
            continue
        found = next((match for place in _PLACE if (match := place.match(line, token.end()))), None)
        # Programs print more after a place; text that begins like an anchor must be one completely.
        if found is None or (scheme and (found.end() < len(line) or found.groupdict().get("message"))):
            continue
        files = [token[0]]
        if token.start() > start:
            files.append(re.split("[\"']", line[start : token.end()])[-1])  # its name holds spaces, or such characters
        if scheme:
            files = [unquote(file) for file in reversed(files)]
        return [_address(file, found) for file in files]
    return []


def _address(file: str, found: re.Match[str]) -> Address:
    part = found.groupdict()
    line, last, column, end = (int(part[key]) if part.get(key) else None for key in ("line", "last", "column", "end"))
    if line and last and last < line:  # columns of one line, as some compilers print them
        last = None
    return Address(file, line, last, column, bool(part.get("message")), part.get("name") or "", end)


_RECEIVER = re.compile(rf"^\(\s*(?:{_WORD}\s+)?[*&]?\s*(?P<type>{_WORD})[^)]*\)\s*(?P<method>{_WORD})")
_ARGUMENTS = re.compile(r"^((?:(?:^|(?<=\.))\([^()]*\)|[^\s<(])+)(?<!\.)\s*\(.*$", re.S)  # not a receiver


def name_under_test(spelled: str) -> str:
    """The test that a line of `go test` is about, such as `--- FAIL: TestX (0.00s)`; any other text as it is."""
    found = _TESTED.fullmatch(spelled.strip())
    return found["name"] if found else spelled


def bare_name(spelled: str, keywords: Collection[str]) -> str:
    """The symbol's name in a caller's text; `keywords` are words that cannot be names, such as `func`.

    `func (b *Bucket) Put(key []byte)`, `Bucket#Put`, `Bucket.#Put` and `Bucket.Put` are the same name.
    """
    name = spelled.strip().strip("`\"'").strip()
    declared = False
    while True:
        first, _, rest = name.partition(" ")
        if first not in keywords or first == "operator" or not rest.strip():
            break
        name, declared = rest.strip(), True
        if receiver := _RECEIVER.match(name):
            return f"{receiver['type']}.{receiver['method']}"
    if "operator" not in name:
        name = _ARGUMENTS.sub(r"\1", name)
        name = re.split(r"\s*[{=;]", name)[0]
        if declared and "<" not in name and not _is_message(name, keywords):
            name = name.partition(" ")[0]
    return _MARK.sub(".", name).strip(" .") or spelled.strip()


def _is_message(rest: str, keywords: Collection[str]) -> bool:
    """Whether what follows a keyword is text, as in `package has no import path`, and not what declares a name."""
    words = rest.split()
    return len(words) >= _FEWEST_WORDS and words[1] not in keywords and all(word.isidentifier() for word in words)


_FEWEST_WORDS = 4  # of a message behind a keyword that begins it
_LISTED = 10  # identifiers listed for one line


class Unclear(Struct, frozen=True):
    """An address with no symbol or several: `why` (to follow the file's name), and the candidates there."""

    why: str
    spans: Sequence[Span] = ()


def point_in(address: Address, text: Text, outline: Sequence[Symbol], language: Language | None) -> Point | Unclear:
    """Resolve `address` in `text`, which declares `outline`, to the only declaration or identifier in code there."""
    if not address.line:
        return _declared(address.name, text, outline)
    try:
        text.line(address.line)
        if address.column:
            return text.byte_point(address.line, address.column)
    except PointError as error:
        return Unclear(f":{address.line}: {error}")
    here = identifiers_in_code(text, address.line, language)
    if address.name:
        word = (re.findall(r"\w+", address.name) or [""])[-1]
        named = [span for span in text.identifiers(address.line) if text.slice(span) == word]
        if named:
            return named[0].start
        return Unclear(f":{address.line} has no {quoted(word)}" + (", it has" if here else ""), here[:_LISTED])
    last = address.last_line or address.line
    declared = [one for one in outline if address.line <= one.place.span.start.line <= last]
    outer = [one for one in declared if not any(_has(other, one) for other in declared)]
    if len(outer) == 1:
        return outer[0].place.span.start
    spans = [one.place.span for one in outer] or here
    distinct = sorted({text.slice(span): span for span in reversed(spans)}.values())
    if len(distinct) == 1:
        return distinct[0].start
    if not distinct:
        return Unclear(f":{address.line} has no identifier in code")
    what = count(len(distinct), "symbol")
    return Unclear(f":{address.line} has {what}; add the column of one", distinct[:_LISTED])


def _has(outer: Symbol, inner: Symbol) -> bool:
    return outer is not inner and any(child is inner or _has(child, inner) for child in outer.children)


def _declared(name: str, text: Text, outline: Sequence[Symbol]) -> Point | Unclear:
    """The declaration of `name`."""
    paths = _paths(outline)
    name, signature = split_signature(name)
    named = [symbol for symbol, whole in paths if is_named(whole, name) or is_named(symbol.name, name)]
    if len(named) > 1 and signature is not None:
        named = [symbol for symbol in named if fits(signature, symbol.detail)] or named
    top = [symbol for symbol in named if symbol.kind not in MEMBERS]
    named = top if len(top) == 1 else named
    if len(named) == 1:
        return named[0].place.span.start
    if named:
        return Unclear(f" declares {len(named)} symbols called {quoted(name)}", [one.place.span for one in named])
    word = (re.findall(r"\w+", name) or [""])[-1]
    if uses := text.words(word)[:_LISTED]:
        return Unclear(f" declares no {quoted(name)}, but has the word at", uses)
    near = difflib.get_close_matches(word, [symbol.name for symbol, _ in paths], n=3)
    spans = [symbol.place.span for symbol, _ in paths if symbol.name in near]
    return Unclear(f" declares no {quoted(name)}" + (", nearest" if spans else ""), spans)


def _paths(outline: Sequence[Symbol]) -> list[tuple[Symbol, str]]:
    """The symbols of a flat outline with their qualified names."""
    owners: dict[int, str] = {}
    paths = []
    for symbol in outline:
        owner = owners.get(id(symbol), "")
        whole = f"{owner}.{symbol.name}" if owner and not is_named(symbol.name, owner) else symbol.name
        owners.update((id(child), whole) for child in symbol.children)
        paths.append((symbol, whole))
    return paths
