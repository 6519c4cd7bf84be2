"""The compilation database to use, and the one that the server has: `ChosenDatabase`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lsp_mcp.disk.files import Signature
from lsp_mcp.servers.clangd.compilation.database import (
    Database,
    database_of_flags,
    find_database,
    own_project,
    read_database,
)
from lsp_mcp.servers.clangd.rules import Compilation


class ChosenDatabase:
    """The database of the workspace `root`, searched again when it may have changed.

    `given` is named by the user. With `only_own`, only databases count that a server finds by itself. `sources` gives
    the source files, to which a file of flags applies.
    """

    def __init__(
        self,
        rules: Compilation,
        root: Path,
        given: Path | None,
        sources: Callable[[], Iterable[Path]],
        *,
        only_own: bool,
    ) -> None:
        self.given = given
        self.now: Database | None = None  # as last read
        self.used: Database | None = None  # the last usable one: the server has it
        self._rules = rules
        self._root = root
        self._sources = sources
        self._only_own = only_own

    def find(self) -> Path | None:
        """The file to use now."""
        found = self.given or find_database(self._root, self._rules)
        if found and self._only_own and found != self.given:
            return found if own_project(found, self._rules, self._root) else None
        return found

    def read_given_by(self, command: Sequence[str]) -> None:
        """The server was started by `command`, which may name the database."""
        before, _, after = self._rules.argument.partition("{folder}")
        for word in command:
            if word.startswith(before) and word.endswith(after):
                folder = Path(word.removeprefix(before).removesuffix(after))
                self.given = (self._root / folder / self._rules.database).resolve()

    def take(self) -> Path | None:
        """Read the database to use now, for a starting server; returns the file."""
        file = self.find()
        self.now = self._read(file) if file else None
        if self.now is None or not self.now.problem:
            self.used = self.now
        return file

    def may_be_other(self, changed: Iterable[Path]) -> bool:
        """Whether these changes could make `look_again` find another database."""
        named = any(path.name in (self._rules.database, self._rules.flags) for path in changed)
        return self.now is None or named or Signature.read(self.now.file) != self.now.signature

    def look_again(self) -> None:
        """Read the file to use now, unless it was the last one read."""
        file, known = self.find(), self.now
        if file is None:
            self.now = None
        elif known is None or file != known.file or Signature.read(file) != known.signature:
            self.now = self._read(file)

    def differs(self) -> bool:
        """Whether the server has a database other than the one to use now.

        One with a problem does not count: the server keeps the previous one, and answers say so.
        """
        now, used = self.now, self.used
        if now is used or (now and now.problem):
            return False
        if now and used and now.commands == used.commands:
            self.used = now
            return False
        return True

    def _read(self, file: Path) -> Database:
        if file.name != self._rules.flags:
            return read_database(file, self._root)
        return database_of_flags(file, list(filter(self._rules.compiles, self._sources())))
