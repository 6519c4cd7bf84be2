"""The workspace: one root folder, and which files inside and outside it may be read.

Confines every path that a caller names: reads are allowed inside the root and in dependencies' sources, writes only
inside the root. Symbolic links are resolved before a path is checked.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path

from lsp_mcp.errors import ConfigError, PathError
from lsp_mcp.visible import quoted, shortened

_MOST_NAMED = 10_000  # files outside the root that are remembered as readable
_CHECKOUTS = (".git", ".hg", ".jj", ".svn")
_LONGEST_PART = 255  # bytes between two slashes, on the usual file systems
_LONGEST = 4_000  # bytes; Linux takes 4,095
_MOST_ELSEWHERE = 3  # files suggested for one that does not exist


class Workspace:
    """The folder `root` (absolute, resolved) and the `dependency_folders` that may be read too.

    Raises:
        ConfigError: the root does not exist, is not a folder, or cannot be read.
    """

    def __init__(self, root: Path) -> None:
        try:
            self.root = from_home(root).resolve(strict=True)
            next(os.scandir(self.root), None)
        except FileNotFoundError:
            raise ConfigError(f"the workspace root {root} does not exist; pass --workspace-root FOLDER") from None
        except NotADirectoryError:
            raise ConfigError(f"the workspace root {root} is not a folder; pass the folder that holds it") from None
        except (OSError, RuntimeError) as error:
            raise ConfigError(f"the workspace root {root} cannot be read: {error}") from None
        if not os.access(self.root, os.R_OK | os.X_OK):
            raise ConfigError(f"the workspace root {root} cannot be read: permission denied")
        self.dependency_folders: tuple[Path, ...] = ()
        self.checkout = _checkout_around(self.root)
        self.allowed_folders: tuple[Path, ...] = ()  # outside of the root, that the user allows to read
        self.find_dependencies: Callable[[], Awaitable[None]] = _found
        self.is_confined: Callable[[Path], bool] = lambda _: False  # see `withholds`
        self.listed: Callable[[], Iterable[str]] = tuple  # the files of the workspace, as far as they are known
        self._named: OrderedDict[Path, None] = OrderedDict()  # files outside the root that a server named

    def contains(self, path: Path) -> bool:
        """Whether `path`, with symbolic links resolved, is in the root: only such files are ever written."""
        return path.resolve().is_relative_to(self.root)

    def holds(self, path: Path) -> bool:
        """Whether `path` does not lead out of the root through a link."""
        return not path.is_symlink() or self.contains(path)

    def file(self, name: str) -> Path:
        """The existing file for a caller's `name`, which is relative to the root or absolute.

        Raises:
            PathError: it does not exist, is not a file, or is outside the workspace and its dependencies.
        """
        if not name.strip():
            raise PathError(
                f"{quoted(name)} is not a file name; pass a path relative to the workspace root {self.root}"
            )
        path = self._without_folder_links(Path(os.path.normpath(named_path(name, self.root))))
        real = self._resolve(path)
        if not real.is_relative_to(self.root) and not self._is_dependency(real):
            how = "" if path == real else f" (it is a link to {real})"
            allowed = (
                "; only files in the workspace and sources of its dependencies are read. Start lsp-mcp with another "
                "--workspace-root to work there, or with --allow-dependencies FOLDER to read."
            )
            elsewhere = "" if how else self._elsewhere(name)
            raise PathError(f"{shortened(name)} is outside the workspace root {self.root}{how}{elsewhere or allowed}")
        try:
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            elsewhere = self._elsewhere(name)
            raise PathError(
                f"{shortened(name)} does not exist in {self.root}{elsewhere or self._suggest(path)}"
            ) from None
        except OSError as error:
            raise PathError(f"{shortened(name)} cannot be read: {error.strerror}") from None
        if not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise PathError(f"{shortened(name)} is {what}; pass the path of a source file in it.")
        return path

    async def withholds(self, path: Path) -> bool:
        """Whether the text of `path` is not to be shown.

        A checkout can name any folder as the source of a dependency. Where a language's dependencies have known
        folders (`is_confined`), what is outside of those, of the checkout around the root and of the folders that the
        user allows is not shown.
        """
        if path.is_relative_to(self.root) or not self.is_confined(path):
            return False
        await self.find_dependencies()
        return not self._is_known(path)

    def allow(self, path: Path) -> None:
        """Allow reading `path` from now on: a server named it, so it is a source of a dependency."""
        if self.is_confined(path) and not self._is_known(path):
            return
        if self.display_path(path) == path.as_posix():  # outside the root
            self._named[path] = None
            self._named.move_to_end(path)
            if len(self._named) > _MOST_NAMED:
                self._named.popitem(last=False)

    def display_path(self, path: Path) -> str:
        """`path` for callers: relative to the root and `/`-separated, or absolute outside it."""
        return display_path(path, self.root)

    def _is_dependency(self, real: Path) -> bool:
        folders = (*self.dependency_folders, *self.allowed_folders)
        return real in self._named or any(real.is_relative_to(folder) for folder in folders)

    def _is_known(self, path: Path) -> bool:
        real = self._resolve(path)
        folders = (self.root, self.checkout, *self.dependency_folders, *self.allowed_folders)
        return any(real.is_relative_to(folder) for folder in folders)

    def _without_folder_links(self, path: Path) -> Path:
        """`path` with its folder resolved, as servers name it; a file that is a link stays one."""
        folder = self._resolve(path.parent)
        return folder / path.name if folder.is_relative_to(self.root) else path

    def _resolve(self, path: Path) -> Path:
        try:
            return path.resolve()
        except (OSError, RuntimeError) as error:
            raise PathError(f"{shortened(str(path))} cannot be resolved: {shortened(str(error))}") from None

    def _elsewhere(self, name: str) -> str:
        """The files of the workspace that end with `name`, if there are few: compilers count from their own folder."""
        end = str(Path(os.sep, *(part for part in Path(name).parts if part not in ("..", os.sep))))
        # A file that has just been deleted may still be listed.
        ending = (path for path in self.listed() if path.endswith(end) and Path(path).is_file())
        there = list(islice(ending, _MOST_ELSEWHERE + 1))
        if not there or len(there) > _MOST_ELSEWHERE:
            return ""
        return f"; did you mean {' or '.join(shortened(self.display_path(Path(path))) for path in sorted(there))}?"

    def _suggest(self, path: Path) -> str:
        """Files with similar names in the same folder, or else some files there."""
        folder = path.parent
        if not folder.is_dir():
            missing = shortened(self.display_path(folder))
            return f": there is no folder {missing}. Paths are relative to the workspace root."
        try:
            same = sorted(entry.name for entry in folder.iterdir() if entry.suffix == path.suffix)
        except OSError:
            same = []
        if near := difflib.get_close_matches(path.name, same, n=2, cutoff=0.7):
            names = " or ".join(shortened(self.display_path(folder / name)) for name in near)
            return f"; did you mean {names}?"
        same = same[:8]
        beside = f" Beside it: {', '.join(same)}." if same else ""
        return f".{beside} Paths are relative to the workspace root."


@lru_cache(4096)
def display_path(path: Path, root: Path) -> str:
    """See `Workspace.display_path`."""
    name = (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()
    return name.encode("utf-8", "replace").decode()  # bytes of a name that are no UTF-8 fit into no answer


def named_path(name: str | Path, base: Path) -> Path:
    """The path that a caller's `name` stands for, relative to `base` or absolute; nothing need be there.

    Raises:
        PathError: no file or folder can have that name.
    """
    path = base / name
    if reason := _why_no_name(path):
        raise PathError(f"{quoted(str(name))} cannot be the name of a file: {reason}. Paths are relative to {base}.")
    return path


def _why_no_name(path: Path) -> str:
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        return "it is not valid Unicode text"  # half a surrogate pair
    if b"\0" in encoded:
        return "it has a NUL character"
    if any(len(part) > _LONGEST_PART for part in encoded.split(b"/")):
        return f"a part of it is longer than {_LONGEST_PART} bytes"
    return f"it is longer than {_LONGEST:,} bytes" if len(encoded) > _LONGEST else ""


def from_home(name: str | Path) -> Path:
    """`name`, with the home folder for `~` at its beginning; that of an unknown user stays as it is."""
    return Path(os.path.expanduser(name))  # noqa: PTH111 (which fails for an unknown user)


def _checkout_around(root: Path) -> Path:
    """The checkout that `root` is in; `root` itself if there is none."""
    for folder in (root, *root.parents):
        if any((folder / mark).exists() for mark in _CHECKOUTS) and not too_wide(folder):
            return folder
    return root


async def _found() -> None:
    """Nothing is to be found."""


def too_wide(folder: Path) -> str:
    """A description of `folder`, if it is too wide to be meant by accident: `/`, the home folder or its parents."""
    home = Path.home().resolve()
    if folder == Path(folder.anchor):
        return "the top of the file system"
    if folder == home:
        return "your home folder"
    return "the folder of home folders" if home.is_relative_to(folder) else ""
