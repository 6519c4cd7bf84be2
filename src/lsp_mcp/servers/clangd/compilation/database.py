"""The compilation database: `find_database` and `read_database` (clang.llvm.org/docs/JSONCompilationDatabase)."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import fnmatch
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from lsp_mcp.disk.files import Signature, content
from lsp_mcp.servers.clangd.rules import Compilation

_WORD = r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+"""  # as a shell reads it
_KEYS = ("directory", "file", "command", "arguments", "output")


class Database(Struct, frozen=True):
    """One compilation database; `problem` is the reason why it cannot be used, empty if it can."""

    file: Path
    signature: Signature | None
    commands: dict[Path, tuple[dict[str, Any], ...]] = field(default_factory=dict)  # by source file, paths absolute
    problem: str = ""

    def files(self) -> list[Path]:
        """The source files that exist now, sorted."""
        return sorted(path for path in self.commands if os.path.isfile(path))  # noqa: PTH113 (never raises)

    def has_flag(self, pattern: str) -> bool:
        """Whether one of the commands has text like `pattern`."""
        return any(re.search(pattern, _line(one)) for commands in self.commands.values() for one in commands)

    def forced(self, options: Collection[str]) -> dict[Path, list[str]]:
        """The files that commands include by one of `options`, by source file."""
        found = {
            path: [f for c in commands for f in _values(_arguments(c), options)]
            for path, commands in self.commands.items()
        }
        return {path: files for path, files in found.items() if files}

    def headers_elsewhere(self, spelled: Iterable[str], rules: Compilation, watched: Collection[Path]) -> list[Path]:
        """The files that `spelled` may mean in the build's own include folders, sorted.

        Without those in `watched` folders, and in folders of the system.
        """
        if not rules.folder_option_pattern:
            return []
        # A word is consumed whole, and by a pattern: `shlex` would take seconds for a thousand commands.
        pattern = re.compile(rf"(?:{rules.folder_option_pattern})\s*({_WORD})|{_WORD}")
        written = {
            (str(one.get("directory", "")), folder)
            for commands in self.commands.values()
            for one in commands
            for folder in pattern.findall(_line(one))
            if folder
        }
        by_name: defaultdict[str, list[str]] = defaultdict(list)
        for one in spelled:
            by_name[one.partition("/")[0]].append(one)
        found: set[Path] = set()
        for folder in {Path(os.path.normpath(Path(directory, *shlex.split(word)))) for directory, word in written}:
            if any(map(folder.is_relative_to, watched)) or any(fnmatch(str(folder), s) for s in rules.library_folders):
                continue
            try:
                names = os.listdir(folder)  # noqa: PTH208 (only names)
            except OSError:
                continue
            found.update(path for name in names for one in by_name.get(name, ()) if (path := folder / one).is_file())
        return sorted(path for path in found if not any(map(path.is_relative_to, watched)))

    def text(self, flags: Sequence[str] = ()) -> str:
        """The database as JSON that is valid in any folder; `flags` come before those of each command, which win."""
        commands = [_with_flags(one, flags) for path in sorted(self.commands) for one in self.commands[path]]
        return json.dumps(commands, indent=0)


def _with_flags(entry: dict[str, Any], flags: Sequence[str]) -> dict[str, Any]:
    """`entry` with `flags` after the compiler and its wrappers (`ccache c++`): before the first flag, or the file."""
    if not flags:
        return entry
    if words := entry.get("arguments"):
        at = next((number for number, word in enumerate(words) if str(word).startswith("-")), len(words) - 1)
        return {**entry, "arguments": [*words[:at], *flags, *words[at:]]}
    command = str(entry.get("command") or "")
    if not (found := re.search(r"(?<=\s)-", command) or re.search(r"(?<=\s)\S+\s*$", command)):
        return entry
    return {**entry, "command": f"{command[: found.start()]}{shlex.join(flags)} {command[found.start() :]}"}


def find_database(root: Path, rules: Compilation) -> Path | None:
    """The compilation database for the code in `root`: from the usual folders below it, else from above it.

    Without one, the file of flags in `root` or above it.
    """
    for folder in (root, *root.parents):
        for pattern in rules.folders if folder == root else rules.own_folders:
            found = [file for file in folder.glob(f"{pattern}/{rules.database}") if file.is_file()]
            if found:
                return max(found, key=_age)
    flags = (folder / rules.flags for folder in (root, *root.parents) if rules.flags)
    return next((file for file in flags if file.is_file()), None)


def _age(file: Path) -> int:
    signature = Signature.read(file)
    return signature.mtime_ns if signature else 0


def database_of_flags(file: Path, sources: Iterable[Path]) -> Database:
    """The database in which each of `sources` is compiled with the flags in `file`."""
    signature = Signature.read(file)
    try:
        flags = [flag.strip() for flag in content(file).decode("utf-8").split("\n") if flag.strip()]
    except (OSError, UnicodeDecodeError) as error:
        return Database(file, signature, problem=f"cannot be read: {error}")
    folder = str(file.parent)
    return Database(
        file,
        signature,
        {
            path: ({"directory": folder, "file": str(path), "arguments": ["clang", *flags, str(path)]},)
            for path in sources
        },
    )


def own_project(file: Path, rules: Compilation, root: Path) -> Path | None:
    """The folder, `root` or above it, whose files make a server find `file` by itself; None if it doesn't."""
    folders = [file.parent.parent] * (file.parent.name in rules.own_folders)
    folders += [file.parent] * ("." in rules.own_folders)
    return next((folder for folder in folders if root.is_relative_to(folder)), None)


def read_database(file: Path, root: Path) -> Database:
    """The content of `file`; an unusable file is a database with a `problem`.

    Symbolic links in the names of folders are resolved, as in `root`, and other names of `root` in commands too: the
    server knows each file by one name only.
    """
    signature = Signature.read(file)
    real = lru_cache(None)(_real)
    try:
        entries = json.loads(content(file))
        commands: dict[Path, tuple[dict[str, Any], ...]] = {}
        for entry in entries:
            if not _is_command(entry):
                raise TypeError(f"{entry.get('file')} has no command")
            spelled = Path(os.path.normpath(file.parent / entry["directory"]))
            named = Path(os.path.normpath(spelled / entry["file"]))
            path = real(named.parent) / named.name
            known = {key: entry[key] for key in _KEYS if key in entry}  # others make clangd refuse the whole database
            absolute = {**_renamed(known, spelled, root, real), "directory": str(real(spelled)), "file": str(path)}
            os.fsencode(path)
            commands[path] = (*commands.get(path, ()), absolute)
    except OSError as error:
        return Database(file, signature, problem=f"cannot be read: {error.strerror}")
    except ValueError as error:
        return Database(file, signature, problem=f"is not JSON: {error}")
    except RecursionError:
        return Database(file, signature, problem="is too deeply nested")
    except (TypeError, KeyError, AttributeError):
        return Database(
            file, signature, problem="is not a list of objects with `directory`, `file` and `arguments` or `command`"
        )
    return Database(file, signature, commands)


def _is_command(entry: dict[str, Any]) -> bool:
    words = entry.get("arguments", [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return False
    return bool(words) or isinstance(entry.get("command"), str)


def _real(folder: Path) -> Path:
    return Path(os.path.realpath(folder))


def _renamed(entry: dict[str, Any], folder: Path, root: Path, real: Callable[[Path], Path]) -> dict[str, Any]:
    """`entry` with `root` by its own name, if its `folder` uses another."""
    other = next((above for above in (folder, *folder.parents) if above != root and real(above) == root), None)
    if other is None:
        return entry
    renamed = entry.copy()
    if "command" in entry:
        renamed["command"] = entry["command"].replace(f"{other}/", f"{root}/")
    if "arguments" in entry:
        renamed["arguments"] = [word.replace(f"{other}/", f"{root}/") for word in entry["arguments"]]
    return renamed


def _line(command: dict[str, Any]) -> str:
    """A command as one line for a shell."""
    return shlex.join(map(str, command["arguments"])) if "arguments" in command else str(command.get("command", ""))


def _arguments(command: dict[str, Any]) -> list[str]:
    """The words of a command, without those that only pass the next one to the compiler; none if a shell cannot parse
    it.
    """
    try:
        words = command["arguments"] if "arguments" in command else shlex.split(str(command.get("command", "")))
    except ValueError:
        return []
    return [word for word in words if word != "-Xclang"]


def _values(words: Sequence[str], options: Collection[str]) -> list[str]:
    """The values of `options`, as the next word or in the same one."""
    found = [value for option, value in pairwise(words) if option in options]
    return found + [
        word.removeprefix(option) for word in words for option in options if word.startswith(option) and word != option
    ]
