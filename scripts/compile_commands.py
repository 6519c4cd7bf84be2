"""Writes the compile_commands.json of a folder of C and C++ sources; see `write`.

It contains absolute paths, so it is made next to the sources and is in no repository:

    python scripts/compile_commands.py FOLDER [FLAG …]

Standard library only: the tests, the demo and the set-up of the benchmark use it before anything is installed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

NAME = "compile_commands.json"
_C = ("cc", "-std=c11")
_CXX = ("c++", "-std=c++17")
_COMPILERS = {".c": _C, ".cpp": _CXX, ".cc": _CXX, ".cxx": _CXX}


def write(folder: Path, *flags: str) -> Path:
    """Write the compilation database of every source below `folder` into it, in the order of their paths.

    `flags` come to each command. No compiler is run or looked for. Returns the path of the database.

    Raises:
        FileNotFoundError: there is no source below `folder`.
    """
    folder = folder.resolve()
    commands = [_command(folder, source, flags) for source in _sources(folder)]
    if not commands:
        raise FileNotFoundError(f"there is no C or C++ source in {folder}")
    database = folder / NAME
    text = json.dumps(commands, indent=2, ensure_ascii=False) + "\n"
    # If it were rewritten, it would be read again by every server that watches it.
    if not database.is_file() or database.read_text("utf-8") != text:
        database.write_text(text, "utf-8")
    return database


def _sources(folder: Path) -> Iterator[Path]:
    """The files that are compiled by themselves: no headers, nothing in hidden folders."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix in _COMPILERS and not hidden and path.is_file():
            yield path


def _command(folder: Path, source: Path, flags: tuple[str, ...]) -> dict[str, object]:
    arguments = [*_COMPILERS[source.suffix], f"-I{folder / 'include'}", *flags, "-c", str(source)]
    return {"directory": str(folder), "file": str(source), "arguments": arguments}


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(f"usage: {sys.argv[0]} FOLDER [FLAG …]")
    try:
        print(write(Path(sys.argv[1]), *sys.argv[2:]))
    except OSError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
