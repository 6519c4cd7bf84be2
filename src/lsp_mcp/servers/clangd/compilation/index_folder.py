"""The folder in which a server keeps its index of one checkout: `IndexFolder`.

It is ours, so that an editor's server never writes the same files, and each of our processes has its own, which begins
as a copy of another's. The index outlives the process. A server notices only some of the changes made in the meantime
(clangd 22 indexes only one of the files that include a changed header), so a list of file states from the last start
determines which parts of the index to remove first. Where everything has other times and inodes, as in a new container,
the contents count, if the process that made the index ended in order.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import re
import shutil
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from blake3 import blake3
from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Indexed
from lsp_mcp.cache_folders import cache_folder, checkout_folder, require_room
from lsp_mcp.disk.files import Signature, content
from lsp_mcp.private_files import open_private, private_folder, write_private
from lsp_mcp.remembered import Remembered
from lsp_mcp.servers.clangd.compilation import index_file
from lsp_mcp.servers.clangd.compilation.database import Database
from lsp_mcp.servers.clangd.compilation.includes import Includes, Scan
from lsp_mcp.servers.clangd.rules import Compilation

log = logging.getLogger(__name__)

_MOST_READ = 500_000  # places in remembered files of the index
_MOST = 64  # processes with an index of their own for one checkout
_FILES = "files.json"
_ELSEWHERE = "elsewhere.json"
_INCOMPLETE = "incomplete.txt"
_DIGEST = 16  # bytes
_SETTLED = 10.0  # seconds after which all that concerns a file of an index is written


class IndexFolder:
    """A folder for the index of `root` by the server `name`, locked until `close`. With `shared`, that folder.

    With `in_use`, a server already uses the index: nothing is removed from it before the next one starts.
    """

    def __init__(
        self, root: Path, name: str, rules: Compilation, shared: Path | None = None, *, in_use: bool = False
    ) -> None:
        self._rules = rules
        self._in_use = in_use
        self._lock: int | None = None
        self._temporary = False
        self._read_files: Remembered[Path, Signature, Indexed] = Remembered(_MOST_READ)
        self._reading = threading.Lock()
        try:
            place = private_folder(checkout_folder(root) / name)
            require_room(place)
            self._home = self._take(place)
        except OSError as error:
            log.warning("%s cannot be written (%s): the index is not kept", cache_folder(), error)
            self._home = Path(tempfile.mkdtemp(prefix="lsp-mcp-index-"))
            self._temporary = True
        self.folder = shared or self._home

    @property
    def is_full(self) -> bool:
        """Whether a server that starts now needs another folder: there is no room for its index any more."""
        try:
            require_room(self._home)
        except OSError:
            return not self._temporary and not self._in_use
        return False

    @property
    def index(self) -> Path:
        """The folder of the server's index."""
        return self.folder / self._rules.index_folder

    @property
    def _files(self) -> Path:
        return self._home / _FILES

    def prepare(
        self,
        files: Collection[Path],
        sources: Iterable[Path],
        database: Database | None,
        includes: Includes,
    ) -> None:
        """Prepare the folder for a server that starts now: the database, and an index without stale parts.

        `files` are all files of the workspace, `sources` those that a server answers for. `includes` knows all of them
        afterwards; only changed ones are read.
        """
        if self.folder == self._home and not (self._in_use or self._temporary or self._files.exists()):
            self._adopt()
        before, is_final = self._read()
        self._files.unlink(missing_ok=True)  # if anything below fails, the index is not trusted next time
        now = {path: _state(path, database) for path in (*sources, *before)}
        same = {path for path, state in now.items() if path in before and before[path].state == state}
        digests = {path: before[path].digest for path in same if before[path].digest}
        digests.update((path, _digest(path)) for path in now.keys() - digests.keys())
        if is_final:
            same.update(path for path in before if before[path].is_compiled_as(digests[path], now[path].command))
        includes.known.update((path, before[path].scan) for path in same)
        if not self._in_use and any(path.name in self._rules.config_files for path in now.keys() - same):
            shutil.rmtree(self.index, ignore_errors=True)
        includes.forget((now.keys() - same) | includes.links.files.keys())
        includes.update(files, sources)
        stale = includes.affected(now.keys() - same)
        # The part for a header records definitions of its functions, as known to the file indexed with it.
        if not self._in_use:
            self._remove({*includes.reached(stale), *self._take_incomplete()})
        if database and not database.problem and self.folder == self._home:
            write_private(self._home / self._rules.database, database.text(self._rules.added_flags).encode())
        known = {
            path: _Known(state, digests[path] if path in digests else _digest(path), scan)
            for path, scan in includes.known.items()
            if (state := now[path] if path in now else _state(path, database)).signature
        }
        self._write(known, is_final=False)
        self._in_use = False

    def prepare_elsewhere(self, headers: Iterable[Path], includes: Includes) -> None:
        """After `prepare`, remove what was made from other `headers`, included ones outside the workspace.

        Those that are not in the list of the last start count as changed.
        """
        before = self._read_elsewhere()
        now = {path: Signature.read(path) for path in headers}
        same = {path for path, signature in now.items() if path in before and before[path][0] == signature}
        same.update(path for path in now.keys() & before if before[path][1] and before[path][1] == _digest(path))
        changed = {*now, *before} - same
        self._remove(includes.reached(includes.affected(changed)))
        self._write_elsewhere({path: (signature, "") for path, signature in now.items() if signature})

    def keep(self) -> None:
        """The server has ended: contents that have not changed since `prepare` are what its index was made from."""
        elsewhere = self._read_elsewhere()
        self._write_elsewhere(
            {path: (was, _digest(path) if Signature.read(path) == was else "") for path, (was, _) in elsewhere.items()}
        )
        if self.folder == self._home and not self._temporary and (known := self._read()[0]):
            changed = {path for path, one in known.items() if Signature.read(path) != one.state.signature}
            kept = {path: replace(one, digest="") if path in changed else one for path, one in known.items()}
            self._write(kept, is_final=True)

    def indexed_names(self) -> Counter[str]:
        """The number of files in the index for each file name."""
        pattern = re.compile(self._rules.shard_pattern)
        return Counter(match[1] for shard in self.index.glob("*") if (match := pattern.fullmatch(shard.name)))

    def indexed(self, paths: Collection[Path]) -> dict[Path, Indexed]:
        """What the index on disk has about each of `paths`, as far as its form is known. See `prepare`."""
        names, found = {path.name for path in paths}, dict[Path, Indexed]()
        pattern = re.compile(self._rules.shard_pattern)
        for shard in self.index.glob("*") if self._rules.index_version and self.folder == self._home else ():
            if (match := pattern.fullmatch(shard.name)) and match[1] in names:
                one = self._content(shard)
                if one and one.path in paths:
                    found[one.path] = one
        return found

    def _content(self, shard: Path) -> Indexed | None:
        """The content of a file of the index, remembered as long as the server does not replace it."""
        signature = Signature.read(shard)
        if signature is None:
            return None
        with self._reading:
            if (known := self._read_files.get(shard, signature)) is None:
                known = index_file.read(shard, self._rules.index_version)
                if known:
                    self._read_files.put(shard, signature, known, len(known.uses) + len(known.types) + 1)
        return known

    def state(self) -> tuple[Counter[str], float | None]:
        """`indexed_names`, and the time of the index's last change, seconds since 1970."""
        changed = self.index.stat().st_mtime if self.index.is_dir() else None
        return self.indexed_names(), changed

    def incomplete(self, path: Path) -> None:
        """The server could not index all of `path`: index it again next time, so that the errors stay known."""
        try:
            descriptor = open_private(self._home / _INCOMPLETE, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with os.fdopen(descriptor, "a", encoding="utf-8", errors="surrogateescape") as file:
                file.write(f"{path}\n")
        except OSError as error:
            log.warning("%s: %s", _INCOMPLETE, error)

    def close(self) -> None:
        """Release the lock, so that another process can use the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        if self._temporary:
            shutil.rmtree(self._home, ignore_errors=True)

    def _take(self, place: Path) -> Path:
        for number in range(_MOST):
            folder = place / str(number)
            private_folder(folder)
            descriptor = open_private(folder / "lock", os.O_RDWR | os.O_CREAT)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                continue
            self._lock = descriptor
            return folder
        raise OSError(f"{_MOST} processes use it")

    def _adopt(self) -> None:
        """Begin with the index of another process that works on this checkout, if there is one.

        Its files are linked: a server replaces them, and never changes one. They may be newer than the list of files
        that is copied with them, so that too much is indexed again, but not older.
        """
        for other in sorted(self._home.parent.glob("*/" + _FILES)):
            try:
                shutil.rmtree(self.index, ignore_errors=True)
                listed = other.read_bytes()
                private_folder(self.index)
                for shard in (other.parent / self._rules.index_folder).iterdir():
                    # That it could not be indexed completely may not be written down yet for a newer one.
                    if time.time() - shard.stat().st_mtime > _SETTLED:
                        (self.index / shard.name).hardlink_to(shard)
                for name in (_INCOMPLETE, _ELSEWHERE):
                    with contextlib.suppress(FileNotFoundError):
                        write_private(self._home / name, (other.parent / name).read_bytes())
                write_private(self._files, listed)
            except OSError as error:
                log.info("the index in %s is not used: %s", other.parent, error)
            else:
                return

    def _take_incomplete(self) -> list[Path]:
        file = self._home / _INCOMPLETE
        try:
            lines = file.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        except FileNotFoundError:
            return []
        file.unlink()
        return [Path(line) for line in lines if line]

    def _read(self) -> tuple[dict[Path, _Known], bool]:
        """The files at the last start of a server, and whether that has ended in order: then their contents count.

        Without them, or if it compiled otherwise, the index is removed, except one made by an editor's server.
        """
        try:
            listed = json.loads(self._files.read_bytes())
            if listed["made_with"] == _surroundings(self._rules):
                known = {Path(path): _Known.from_listed(*one) for path, one in listed["files"].items()}
                return known, listed["is_final"]
            log.info("the environment has changed: the index in %s is built again", self._home)
        except (OSError, ValueError, TypeError, LookupError) as error:
            log.debug("%s: %r", self._files, error)
        if self.folder == self._home:
            shutil.rmtree(self.index, ignore_errors=True)
        return {}, False

    def _write(self, known: Mapping[Path, _Known], *, is_final: bool) -> None:
        """Write the list of files for the next start; `is_final`: the server has ended."""
        files = {str(path): one.listed for path, one in known.items()}
        self._write_json(_FILES, {"made_with": _surroundings(self._rules), "is_final": is_final, "files": files})

    def _write_json(self, name: str, listed: Any) -> None:
        # Not msgspec: file names need not be valid text.
        write_private(self._home / name, json.dumps(listed, separators=(",", ":")).encode())

    def _read_elsewhere(self) -> dict[Path, tuple[Signature, str]]:
        """The headers elsewhere at the last start, each with a digest if its content counts."""
        try:
            listed = json.loads((self._home / _ELSEWHERE).read_bytes())
            return {Path(path): (Signature(*signature), digest) for path, (signature, digest) in listed.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _write_elsewhere(self, headers: Mapping[Path, tuple[Signature, str]]) -> None:
        self._write_json(_ELSEWHERE, {str(path): known for path, known in headers.items()})

    def _remove(self, paths: Iterable[Path]) -> None:
        names = {path.name for path in paths}
        if not names:
            return
        pattern = re.compile(self._rules.shard_pattern)
        for shard in self.index.glob("*"):
            if (match := pattern.fullmatch(shard.name)) and match[1] in names:
                shard.unlink(missing_ok=True)


class _State(NamedTuple):
    """The state of a file and of its compile command."""

    signature: Signature | None
    command: int = 0


class _Known(Struct, frozen=True):
    """A file when the server was started: its state, a digest of its content if known, and its includes."""

    state: _State
    digest: str
    scan: Scan

    @classmethod
    def from_listed(
        cls,
        signature: list[int],
        command: int,
        digest: str,
        includes: list[str],
        conditional: bool,
        leading: list[str],
    ) -> _Known:
        """What `listed` has given. Raises TypeError."""
        scan = Scan(frozenset(includes), conditional, tuple(leading))
        return cls(_State(Signature(*signature), command), digest, scan)

    @property
    def listed(self) -> list[Any]:
        """As JSON."""
        scan = self.scan
        return [
            self.state.signature,
            self.state.command,
            self.digest,
            sorted(scan.includes),
            scan.conditional,
            scan.leading,
        ]

    def is_compiled_as(self, digest: str, command: int) -> bool:
        """Whether a file with that content and command is as it was then."""
        return bool(digest) and (self.digest, self.state.command) == (digest, command)


def _state(path: Path, database: Database | None) -> _State:
    commands = database.commands.get(path) if database else None
    command = zlib.crc32(json.dumps(commands, sort_keys=True).encode()) if commands else 0
    return _State(Signature.read(path), command)


def _digest(path: Path) -> str:
    """A digest of its content; empty if it cannot be read."""
    try:
        return blake3(content(path)).hexdigest(length=_DIGEST)
    except OSError:
        return ""


def _surroundings(rules: Compilation) -> dict[str, str]:
    """What the compiler reads beside the files of the build: variables, and the user's own settings."""
    files = {file: _digest(Path(os.path.expandvars(file)).expanduser()) for file in rules.user_files}
    variables = {name: os.environ[name] for name in rules.variables if os.environ.get(name)}
    return {**variables, **{file: digest for file, digest in files.items() if digest}}
