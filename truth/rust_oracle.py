"""The oracle for Rust: what `cargo check` calls unknown once a declaration has another name: `uses`."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import re
import shutil
import string
import subprocess
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph import Graph, Place, Symbol

_CHECK = ["cargo", "check", "--offline", "--workspace", "--all-targets", "--all-features", "--keep-going", "-q"]
_ROUNDS = 12
_COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"', re.DOTALL)
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_DECLARED = {
    "function": r"\bfn\s+(\w+)",
    "class": r"\b(?:struct|enum|trait|union|type)\s+(\w+)",
    "const": r"^[^<,\n]*\b(?:const|static)\s+(?:mut\s+)?([A-Z]\w*)\s*:",
    "typeparam": r"[<,]\s*const\s+([A-Z]\w*)\s*:",
    "var": r"^macro_rules!\s*(\w+)",
    "field": r"^    (?:pub(?:\([^)]*\))?\s+)?([a-z_]\w*)\s*:(?!:)[^;{}]*,$",
    "local": r"\blet\s+(?:mut\s+)?([a-z_]\w*)\b(?!\s*[({:]:?\w*\()",
}
_FRAGMENT = re.compile(r"\$\w+:(?:block|expr|ident|item|lifetime|literal|meta|pat|path|stmt|tt|ty|vis)\b")
_SHORT = ("as", "do", "fn", "if", "in")
_KEPT = ("main", "self", "Self", "new", "_")


@dataclass(frozen=True)
class _Declaration:
    name: str
    kind: str
    place: Place
    owner: str = ""


def graph(folder: Path, number: int, work: Path) -> Graph:
    """The uses of `number` declarations in `folder`, chosen at random; `work` is for copies of it, and is kept.

    A declaration gets another name, and so does each word that the compiler does not know any more, until it knows all:
    these are the uses, in tests and with all features, too. Those where this does not end are left out, and those that
    it does not compile. This takes minutes, so it is kept for the same texts.
    """
    texts = _texts(folder)
    kept = work / f"{_digest(folder, texts, number)}.pickle"
    if kept.is_file():
        return pickle.loads(kept.read_bytes())
    known = _graph(folder, texts, number, work)
    kept.write_bytes(pickle.dumps(known))
    return known


def _digest(folder: Path, texts: dict[str, str], number: int) -> str:
    """Of all that the uses depend on."""
    manifests = [path.read_text("utf-8") for path in sorted(folder.rglob("Cargo.toml"))]
    known = [folder.name, number, texts, manifests, Path(__file__).read_text("utf-8")]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:16]


def _graph(folder: Path, texts: dict[str, str], number: int, work: Path) -> Graph:
    declared = [one for file, text in texts.items() for one in _declarations(file, text)]
    random.Random(folder.name).shuffle(declared)
    words = {word for text in texts.values() for word in _WORD.findall(text)}
    symbols: dict[str, Symbol] = {}
    copy = work / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    # With the times of now: Cargo goes by them, and may have compiled other texts last.
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".git", "target"), copy_function=shutil.copy)
    broken = [str(one["message"]) for one in _errors(copy, work)]
    compiled = _compiled(work)
    for one in [] if broken else declared:
        if one.place.file not in compiled or _is_in_pattern(texts, one.place):
            continue
        if len(symbols) == number:
            break
        if one.place.shown in symbols or any(one.place in symbol.uses for symbol in symbols.values()):
            continue
        places = _uses(copy, work, texts, one, words)
        if places:
            calls = {place for place in places - {one.place} if _is_call(texts, place, one.name)}
            symbols[one.place.shown] = Symbol(
                one.place.shown, one.name, one.kind, frozenset(places), frozenset({one.place}), owner=one.owner,
                calls=frozenset(calls if one.kind == "function" else ()),
            )  # fmt: skip
    return Graph(symbols, broken, _unread(texts, symbols), total=False)


def errors(folder: Path, work: Path) -> list[str]:
    """What `cargo check` says is wrong in `folder`."""
    return sorted(f"{_file_of(one)}: {one['message']}" for one in _errors(folder, work))


def _texts(folder: Path) -> dict[str, str]:
    found = sorted(path for path in folder.rglob("*.rs") if "target" not in path.relative_to(folder).parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in found}


def _compiled(work: Path) -> set[str]:
    """The files of the package that `cargo check` read, relative to its folder."""
    lists = [path.read_text("utf-8") for path in (work / "target" / "debug" / "deps").glob("*.d")]
    return {word for text in lists for word in re.findall(r"[^\s:]+\.rs", text)}


def _declarations(file: str, text: str) -> Iterator[_Declaration]:
    code = _COMMENTS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for kind, pattern in _DECLARED.items():
        for found in re.finditer(pattern, code, re.MULTILINE):
            name = found[1]
            is_parameter = kind == "field" and not _is_in_type(code, found.start())
            if name not in _KEPT:
                yield _Declaration(name, "local" if is_parameter else kind, _place(file, text, found.start(1)))


def _is_in_type(code: str, offset: int) -> bool:
    """Whether the indented line at an offset is in a type: parameters of a function may stand on lines of their own."""
    above = [
        line for line in code[:offset].split("\n") if line[:1].strip() and not line.startswith(("where", "{", "#"))
    ]
    return bool(above) and re.search(r"\b(?:struct|enum|union)\b", above[-1]) is not None


def _place(file: str, text: str, offset: int) -> Place:
    return Place(file, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _is_in_pattern(texts: dict[str, str], place: Place) -> bool:
    """Whether a macro is only given what is at `place`, and declares nothing."""
    return _FRAGMENT.search(texts[place.file].split("\n")[place.line - 1]) is not None


def _is_call(texts: dict[str, str], place: Place, name: str) -> bool:
    line = texts[place.file].split("\n")[place.line - 1]
    return re.match(r"\s*(::<[^()]*>)?\(", line[place.character - 1 + len(name) :]) is not None


def _unread(texts: dict[str, str], symbols: dict[str, Symbol]) -> dict[str, dict[str, set[Place]]]:
    """The other places of the names of `symbols`: code of other builds, other symbols, comments."""
    names = {one.name for one in symbols.values()}
    known = {place for one in symbols.values() for place in one.uses}
    unread: dict[str, dict[str, set[Place]]] = defaultdict(lambda: defaultdict(set))
    for file, text in texts.items():
        code = _COMMENTS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        for found in _WORD.finditer(code):
            if found[0] in names and (place := _place(file, text, found.start())) not in known:
                unread[file][found[0]].add(place)
    return {file: dict(words) for file, words in unread.items()}


def _uses(folder: Path, work: Path, texts: dict[str, str], one: _Declaration, words: set[str]) -> set[Place] | None:
    new = unused(one.name, words, random.Random(one.name))
    known = {one.place}
    touched: set[str] = set()
    try:
        for _ in range(_ROUNDS if new else 0):
            touched |= _written(folder, texts, known, one.name, new)
            found = _errors(folder, work)
            if not found:
                return known if known > {one.place} or _is_compiled(folder, work, texts, one.place) else None
            more = {place for error in found for place in _named(error, texts, one.name)} - known
            if not more:
                return None
            known |= more
    finally:
        for file in touched:
            (folder / file).write_bytes(texts[file].encode())
    return None


def _is_compiled(folder: Path, work: Path, texts: dict[str, str], place: Place) -> bool:
    """Whether `cargo check` reads what is declared at `place`: an attribute that does not exist is an error there."""
    lines = texts[place.file].split("\n")
    line = lines[place.line - 1]
    indent = line[: len(line) - len(line.lstrip())]
    lines[place.line - 1] = f"{indent}#[lsp_mcp_unknown] {line.lstrip()}"
    (folder / place.file).write_bytes("\n".join(lines).encode())
    try:
        return bool(_errors(folder, work))
    finally:
        (folder / place.file).write_bytes(texts[place.file].encode())


def unused(name: str, words: Collection[str], rng: random.Random) -> str:
    """A name that looks like `name` and is none of `words`; "" if none is found."""
    letters = {True: string.ascii_uppercase, False: string.ascii_lowercase}
    for _ in range(100):
        made = "".join(rng.choice(letters[one.isupper()]) if one.isalpha() else one for one in name)
        if made not in words and made not in _SHORT:
            return made
    return ""


def _written(folder: Path, texts: dict[str, str], places: set[Place], name: str, new: str) -> set[str]:
    by_file: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        by_file[place.file].append(place)
    for file, there in by_file.items():
        lines = texts[file].split("\n")
        for place in there:
            line, start = lines[place.line - 1], place.character - 1
            lines[place.line - 1] = line[:start] + new + line[start + len(name) :]
        (folder / file).write_bytes("\n".join(lines).encode())
    return set(by_file)


def _named(error: dict[str, Any], texts: dict[str, str], name: str) -> Iterator[Place]:
    """The places that an error is about that spell `name`; the innermost of those in macros."""
    for span in error["spans"]:
        at = span if span["is_primary"] else None
        while at:
            file, line, start, end = at["file_name"], at["line_start"], at["column_start"], at["column_end"]
            text = texts[file].split("\n")[line - 1] if file in texts and line == at["line_end"] else ""
            there = [
                found.start() + 1 for found in re.finditer(rf"\b{name}\b", text) if start <= found.start() + 1 < end
            ]
            if len(there) == 1:  # the name, or a path that ends with it
                yield Place(file, line, there[0])
                break
            at = at["expansion"] and at["expansion"]["span"]


def _errors(folder: Path, work: Path) -> list[dict[str, Any]]:
    env = {**os.environ, "CARGO_TARGET_DIR": str(work / "target"), "RUSTFLAGS": "--cap-lints allow"}
    command = [*_CHECK, "--message-format=json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=env)
    read = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = [one["message"] for one in read if one.get("reason") == "compiler-message"]
    found = [one for one in found if one["level"].startswith("error") and one["spans"]]
    if done.returncode and not found:
        raise RuntimeError(f"cargo check failed: {done.stderr.strip()[-2000:]}")
    return found


def _file_of(error: dict[str, Any]) -> str:
    return str(next((span["file_name"] for span in error["spans"] if span["is_primary"]), ""))
