r"""Text without hidden characters: `visible` escapes those that are invisible or control a terminal, as `\u{202e}`.

Source code, file names and servers' messages may contain characters that hide or reorder text (bidirectional controls,
tag and zero-width characters), or that a terminal interprets (ESC, C1). A model would read what a person cannot see.

Escaped are control characters (except tab), line and paragraph separators, lone surrogates, and all characters that
Unicode classifies as format or default-ignorable, except where a script needs them: a joiner after a virama or between
Arabic letters or emoji, and one variation selector that chooses between text and emoji. So no visible character can
carry more than one invisible one. `json_text` escapes the same characters as JSON does (`\u202e`): a parser gets the
original text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import msgspec

ECHO = 200  # characters of a caller's input that an answer repeats
_VARIATION = "\ufe0e\ufe0f"  # text or emoji
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_KEYCAPS = "0123456789#*"
_SKIN = range(0x1F3FB, 0x1F400)
_VIRAMA = 9  # a canonical combining class
# Default_Ignorable_Code_Point (Unicode 16) that is not a format character, blank letters, and noncharacters.
_BLANK = [(0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2065, 0x2065), (0x2800, 0x2800),
          (0x3164, 0x3164), (0xFDD0, 0xFDEF), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xFFFE, 0xFFFF),
          (0xE0000, 0xE0FFF)]  # fmt: skip
# C0 but tab, DEL, C1, format characters (Cf) but those that are drawn (signs over Arabic numbers), line and paragraph
# separators, halves of pairs.
_HIDDEN = [(0x0, 0x8), (0xA, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200F),
           (0x2028, 0x202E), (0x2060, 0x206F), (0xD800, 0xDFFF), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB),
           (0x13430, 0x1343F), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A)]  # fmt: skip


def _one_of(ranges: list[tuple[int, int]]) -> re.Pattern[str]:
    return re.compile(f"[{''.join(f'{re.escape(chr(first))}-{re.escape(chr(last))}' for first, last in ranges)}]")


_UNSAFE = _one_of([*_HIDDEN, *_BLANK])
_UNSAFE_ASCII = _one_of(_HIDDEN[:3])  # the same there, and several times as quick


def is_visible(text: str) -> bool:
    """Whether `visible` would leave a line unchanged, not counting joiners that a script needs."""
    return not (_UNSAFE_ASCII if text.isascii() else _UNSAFE).search(text)


def visible(text: str) -> str:
    """`text` on one line, with invisible characters escaped."""
    return text if is_visible(text) else _UNSAFE.sub(_escaped, text)


def visible_lines(text: str) -> str:
    r"""`text` with invisible characters escaped; `\n` stays."""
    return "\n".join(map(visible, text.split("\n")))


def shortened(text: str, most: int = ECHO) -> str:
    """`text`, or its beginning and its length: long input is not sent back whole."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def quoted(value: object, most: int = ECHO) -> str:
    """`value` for an error message: in quotes, escaped and shortened."""
    text = value if isinstance(value, str) else repr(value)
    cut = text[:most]
    return (repr(cut) if isinstance(value, str) else cut) + ("" if cut == text else f"… ({len(text):,} characters)")


def short_echo(value: Any) -> Any:
    """`value` with each string in it shortened."""
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, dict):
        return {shortened(str(key)): short_echo(item) for key, item in value.items()}
    if isinstance(value, list):
        return [short_echo(item) for item in value]
    return value


def without_long_echoes(message: str, sent: Any) -> str:
    """`message` with each string of `sent` that it repeats shortened."""
    if len(message) <= ECHO:
        return message
    for text in _texts(sent):
        for spelled in {text, text.strip(), repr(text)[1:-1]}:
            if len(spelled) > ECHO:
                message = message.replace(spelled, shortened(spelled))
    return message


def _texts(value: Any) -> Iterator[str]:
    """The strings in `value` that are too long to be repeated."""
    if isinstance(value, str) and len(value) > ECHO:
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def json_text(value: Any, *, sort_keys: bool = False) -> str:
    """`value` as compact JSON without hidden characters; a parser gets the same value."""
    try:
        text = msgspec.json.encode(value, order="deterministic" if sort_keys else None).decode()
    except (ValueError, TypeError):
        # Thirty times slower; accepts lone surrogates, which are replaced below, and values that are not JSON.
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys, default=str)
    if text.isascii() and "\x7f" not in text:  # JSON escapes the other controls itself
        return text
    text = readable(text)
    # Outside its strings JSON is ASCII.
    return text if is_visible(text) else _UNSAFE.sub(_json_escaped, text)


def readable(text: str) -> str:
    """`text` with invalid Unicode replaced: bytes that were not UTF-8 (PEP 383), and lone surrogates."""
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "replace")
    return raw.decode("utf-8", "replace")


def _escaped(match: re.Match[str]) -> str:
    return match[0] if _writes_a_script(match) else f"\\u{{{ord(match[0]):x}}}"


def _json_escaped(match: re.Match[str]) -> str:
    return match[0] if _writes_a_script(match) else json.dumps(match[0])[1:-1].replace("\x7f", "\\u007f")


def _writes_a_script(match: re.Match[str]) -> bool:
    """Whether the character found is part of a drawn sequence, together with its neighbours."""
    text, at = match.string, match.start()
    before, after = _drawn(text, at - 1), _drawn(text, at + 1)
    if match[0] in _VARIATION:
        return bool(before) and (before in _KEYCAPS or (before > "\x7f" and unicodedata.category(before)[0] in "SP"))
    if match[0] == _NON_JOINER:
        return _joins(before) or (_is_arabic(before) and _is_arabic(after))
    if match[0] == _JOINER:
        emoji = _drawn(text, at - 2) if text[at - 1] in _VARIATION else before
        return _joins(before) or (_is_arabic(before) and _is_arabic(after)) or (_is_emoji(emoji) and _is_emoji(after))
    return False


def _drawn(text: str, at: int) -> str:
    """The character at `at`; empty if there is none, or if it is escaped unless a script needs it."""
    return text[at] if 0 <= at < len(text) and not _UNSAFE.match(text[at]) else ""


def _joins(character: str) -> bool:
    return bool(character) and unicodedata.combining(character) == _VIRAMA


def _is_arabic(character: str) -> bool:
    return bool(character) and unicodedata.bidirectional(character) == "AL"


def _is_emoji(character: str) -> bool:
    if not character or character <= "\x7f":
        return False
    return unicodedata.category(character) == "So" or ord(character) in _SKIN
