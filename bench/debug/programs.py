"""The same program in four languages, and what is on its lines: `Program`, `PROGRAMS`, `workspace`."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from debugging.debuggers import PROGRAMS as SOURCES
from debugging.debuggers import build_cpp


@dataclass(frozen=True)
class Program:
    """One program; `tests/fixtures/debugging/README.md` has its modes."""

    file: str
    inner: int  # a line within a function that is called by another; reached with the default mode
    text: str  # of that line
    function: str  # its name, as breakpoints take it
    condition: str  # true at the second hit of `inner`, or later
    variable: str  # there, with
    value: str  # this value at the first hit; a part of it
    expression: str
    result: str  # a part
    assign: tuple[str, str]
    unreached: int  # a line that the default mode does not reach
    crash: str  # the mode, with
    crash_line: int
    crash_says: str
    stderr: str  # of the mode `exit`, which ends with 3
    hits: int  # how often `inner` is reached
    process: str  # what is in the command line of the program when it runs

    @property
    def place(self) -> str:
        """Where breakpoints are set."""
        return f"{self.file}:{self.inner}"


PROGRAMS = {
    "debugpy": Program(
        "python/orders.py", 11, "return int(amount)", "cents", "price == '0.29'", "amount", "434.9",
        "amount * 2", "869.9", ("amount", "5.0"), 30, "crash", 23, "KeyError", "too many: pen", 3, "orders.py",
    ),
    "dlv": Program(
        "go/main.go", 11, "longer := append(plan, task)", "with", 'task == "water"', "task", "sow",
        "len(plan)", "1", ("plan", "nil"), 31, "panic", 24, "index out of range", "too many in bed", 2, "__debug_bin",
    ),
    "lldb-dap": Program(
        "cpp/hall.cpp", 17, "if (left >= hall.kept) {", "seat", "people == 5", "people", "6",
        "hall.seats", "10", ("left", "1"), 31, "throw", 25, "SIGABRT", "too many seats", 3, "hall",
    ),
    "js-debug": Program(
        "js/tickets.js", 10, "return each * count;", "cost", "price === '5'", "each", "'121'",
        "each * count", "242", ("count", "7"), 30, "crash", 23, "undefined", "too many: child", 3, "tickets.js",
    ),
}  # fmt: skip


def workspace(folder: Path) -> Path:
    """The programs in `folder`, the compiled one built."""
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    build_cpp(folder, folder / "cpp" / "hall.cpp")
    return folder


def running(root: Path, program: Program, mode: str) -> list[int]:
    """The processes of `program` that run in that mode below `root`."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            here = (entry / "cwd").readlink().is_relative_to(root)
        except OSError:  # it has ended, or is another user's
            continue
        if here and words[-2:-1] == [mode] and any(program.process in word for word in words):
            found.append(int(entry.name))
    return found
