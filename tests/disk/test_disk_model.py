"""Any sequence of things done to files, and questions in between, against the disk itself."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disk.conftest import METHODS
from disk.disk_helpers import listing, told, write
from lsp_mcp.disk import Watch

IGNORED = ("skip",)
NAMES = ("a", "b", "c", "skip")
EXAMPLES = {"inotify": 300, "scan": 300, "watchfiles": 30}


class Workspace:
    """A root and a folder outside it. Numbers choose among the existing files, so that few steps do nothing."""

    def __init__(self, folder: Path) -> None:
        self.root, self.outside = folder / "root", folder / "outside"
        for name in ("a/a/a", "a/b", "b/a", "c"):
            write(self.root / name)
        write(self.outside / "target")

    def some(self, number: int) -> Path:
        """A file or folder that is there."""
        there = [
            Path(folder, name)
            for folder, folders, files in sorted(os.walk(self.root))
            for name in sorted(folders + files)
        ]
        return there[number % len(there)]

    def place(self, number: int) -> Path:
        """A place in a folder that is there, free or not."""
        folders = [Path(folder) for folder, _, _ in sorted(os.walk(self.root))]
        return folders[number % len(folders)] / NAMES[number // 7 % len(NAMES)]

    def content(self) -> dict[str, bytes]:
        return {name: (self.root / name).read_bytes() for name in listing(self.root, IGNORED)}

    # --- steps -------------------------------------------------------------------------------------

    def write(self, x: int, y: int) -> None:
        write(self.some(x))

    def create(self, x: int, y: int) -> None:
        write(self.place(x))

    def create_deep(self, x: int, y: int) -> None:
        write(self.place(x) / NAMES[y % 4] / NAMES[y // 4 % 4])

    def make_folder(self, x: int, y: int) -> None:
        self.place(x).mkdir()

    def delete(self, x: int, y: int) -> None:
        path = self.some(x)
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def move(self, x: int, y: int) -> None:
        self.some(x).rename(self.place(y))

    def swap(self, x: int, y: int) -> None:
        one, other = self.some(x), self.some(y)
        one.rename(self.outside / "swapped")
        try:
            other.rename(one)
        except OSError:
            (self.outside / "swapped").rename(one)
        else:
            (self.outside / "swapped").rename(other)

    def move_out(self, x: int, y: int) -> None:
        self.some(x).rename(self.outside / f"moved{y % 2}")

    def move_in(self, x: int, y: int) -> None:
        (self.outside / f"moved{y % 2}").rename(self.place(x))

    def link(self, x: int, y: int) -> None:
        self.place(x).symlink_to(self.some(y))

    def link_out(self, x: int, y: int) -> None:
        self.place(x).symlink_to(self.outside / "target")

    def write_out(self, x: int, y: int) -> None:
        write(self.outside / "target")

    def delete_out(self, x: int, y: int) -> None:
        (self.outside / "target").unlink()

    def replace_root(self, x: int, y: int) -> None:
        self.root.rename(self.outside / "root")
        if y % 2:
            write(self.root / "a" / "b")
        else:
            (self.outside / "root").rename(self.root)


Step = Callable[[Workspace, int, int], None]
W = Workspace
OFTEN: list[Step] = [W.write, W.create, W.create_deep, W.delete, W.move, W.swap]
SELDOM: list[Step] = [W.make_folder, W.move_out, W.move_in, W.link_out, W.write_out, W.delete_out, W.replace_root]
NUMBERS = st.integers(0, 200)


def steps(method: str) -> st.SearchStrategy[list[tuple[Step | str, int, int]]]:
    # On Linux watchfiles 1.3 loses sight of a folder that a symlink leads to.
    links = [] if method == "watchfiles" else [W.link]
    step = st.sampled_from(["ask", "drain", *SELDOM, *links, *OFTEN, *OFTEN])
    return st.lists(st.tuples(step, NUMBERS, NUMBERS), min_size=15, max_size=50)


def check(method: str, steps: list[tuple[Step | str, int, int]]) -> None:
    """Each answer is the difference between what was there at two questions."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        root = workspace.root
        with Watch([root], IGNORED, method=method) as watch:  # type: ignore[arg-type]
            before = workspace.content()
            for step, x, y in [*steps, ("ask", 0, 0)]:
                if step == "drain":
                    watch.drain()
                elif not isinstance(step, str):
                    with suppress(OSError, ZeroDivisionError):
                        step(workspace, x, y)
                else:
                    now = workspace.content()
                    stayed = now.keys() & before.keys()
                    created, changed, deleted = told(watch.changes(), root)
                    assert created == now.keys() - before.keys()
                    assert deleted == before.keys() - now.keys()
                    assert {name for name in stayed if now[name] != before[name]} <= changed <= stayed
                    assert {path.relative_to(root).as_posix() for path in watch.files()} == now.keys()
                    before = now
            assert not watch.changes()


@pytest.mark.parametrize("method", METHODS)
def test_each_answer_is_the_difference_between_two_questions(method: str) -> None:
    @settings(max_examples=EXAMPLES[method], deadline=None)
    @given(steps(method))
    def run(steps: list[tuple[Step | str, int, int]]) -> None:
        check(method, steps)

    run()
