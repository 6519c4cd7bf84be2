"""Identifiers that an agent searches for as text: `searched_symbol`. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_SEARCHERS = {"grep", "egrep", "fgrep", "rg", "ugrep", "ag", "ack"}
_SEPARATORS = {"&&", "||", ";", "&", "(", ")", "{", "}", "do", "then", "!"}
# Options of these programs; each takes its value from the next word.
_WITH_VALUE = {
    *("-A", "-B", "-C", "-m", "-g", "-t", "-T", "-j", "-M"),
    *("--glob", "--iglob", "--type", "--type-not", "--include", "--exclude", "--exclude-dir", "--max-count"),
    *("--after-context", "--before-context", "--context", "--max-depth", "--threads"),
}
_OF_PROSE = re.compile(r".*[.{,](?:md|txt|rst|json|ya?ml|toml|xml|html|css|csv|log|ini)\W*")
_KEYWORDS = r"(?:func|type|struct|class|enum|interface|def|void|const|var|new|namespace|template|union)"
_BEFORE = re.compile(rf"^(?:\^|\\b|\\<|\s|\\s[*+]?|\.|\\\.|->|::|{_KEYWORDS}(?:\s|\\s[*+]?|\.\*)+)+")
_AFTER = re.compile(r"(?:\\b|\\>|\$|\s|\\s[*+]?|\\?\(|\\?\{|\[\(\]|:=?|=)+$")
_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\\?\.|::)[A-Za-z_]\w*)*")
_LEAST = 3  # minimum length of a name for a hint
# CamelCase, snake_case and dotted names; not TODO, and not a lower-case word, which may be part of a message.
_LIKE_A_SYMBOL = re.compile(r".*[a-z0-9][A-Z]|[A-Z][a-z0-9]|.*[A-Za-z0-9]_[A-Za-z0-9]|.*(?:\.|::)")


def searched_symbol(tool: str, arguments: Mapping[str, Any]) -> str:
    """The identifier that a call of the agent's `tool` searches for in code; empty if it searches for something else.

    The tool takes a `pattern`, or a shell's `command`.
    """
    command, pattern = arguments.get("command"), arguments.get("pattern")
    if isinstance(command, str):
        return next(filter(None, map(_of_words, _commands(command))), "")
    if not isinstance(pattern, str) or _is_of_prose([arguments.get(key) for key in ("glob", "path")]):
        return ""
    return _symbol(pattern)


def _commands(line: str) -> Iterator[list[str]]:
    """The simple commands of a shell's `line` that read no other command's output."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return  # an open quote: the shell reports it
    found: list[str] = []
    is_piped = False
    for word in [*words, ";"]:
        if word in _SEPARATORS or word in ("|", "|&"):
            if found and not is_piped:
                yield found
            is_piped = word in ("|", "|&")
            found = []
        else:
            found.append(word)


def _of_words(words: Sequence[str]) -> str:
    left = list(words)
    if left[:2] == ["git", "grep"]:
        left = left[1:]
    if left[0].rpartition("/")[2] not in _SEARCHERS:
        return ""
    left.pop(0)
    pattern, files = "", list[str]()
    while left:
        word = left.pop(0)
        if word in ("-e", "--regexp") and left:
            pattern = pattern or left.pop(0)
        elif word in _WITH_VALUE and left:
            files.append(left.pop(0))
        elif word.startswith("-") and len(word) > 1:
            files.append(word.partition("=")[2])  # --include=*.md
        elif pattern:
            files.append(word)
        else:
            pattern = word
    return "" if _is_of_prose(files) else _symbol(pattern)


def _symbol(pattern: str) -> str:
    """The identifier that `pattern` matches, apart from its surroundings."""
    first, *others = re.split(r"\\?\|", pattern)
    bare = _BEFORE.sub("", _AFTER.sub("", first))
    if others and not all(_symbol(one) for one in others):
        return ""
    if len(bare) < _LEAST or not _NAME.fullmatch(bare):
        return ""
    name = bare.replace("\\", "")
    is_marked = bare != first.strip("^$") or bool(others)
    return name if _LIKE_A_SYMBOL.match(name) or (is_marked and not name.isupper()) else ""


def _is_of_prose(words: Sequence[object]) -> bool:
    """Whether one of `words` names files without code."""
    return any(isinstance(word, str) and _OF_PROSE.fullmatch(word) for word in words)
