"""Problems of a database, as errors that say what to do. Pure."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from lsp_mcp.database.words import shown_url, words_of
from lsp_mcp.errors import ConfigError, UnavailableError
from lsp_mcp.installed import upgrade_command

_LOCKED = "database is locked"  # SQLite's words, after our time for others
_BROKEN = ("malformed", "not a database")  # SQLite's words


class Failures:
    """The errors of one database, `file` of SQLite's or at `url`."""

    def __init__(self, url: str, file: Path | None) -> None:
        self.shown = shown_url(url)
        self._file = file

    def cannot_open(self, why: object) -> ConfigError:
        """It cannot be opened."""
        return ConfigError(f"the board {self.shown} cannot be opened: {why}")

    def broken(self, error: SQLAlchemyError) -> ConfigError:
        """It cannot be opened, and was left unchanged."""
        return self.cannot_open(f"{words_of(error)}. It was left as it is{self._rescue(error)}.")

    def unavailable(self, error: SQLAlchemyError, *, is_known: bool = True) -> UnavailableError:
        """It cannot be used now; `is_known`: it is known that nothing was stored."""
        what = (
            "Nothing was changed"
            if is_known
            else "It is not known whether the change was stored: look before you repeat it, unless the call "
            "had an idempotency key; with the same one it is stored once"
        )
        return UnavailableError(
            f"the board {self.shown} cannot be used: {words_of(error)}. {what}{self._advice(error)}."
        )

    def of_another_release(self, known: object) -> UnavailableError:
        """Its tables are those of a newer release; `known` is the version of ours."""
        return UnavailableError(
            f"the board {self.shown} has the tables of another release of lsp-mcp by now (this one knows version "
            f"{known}). Nothing was changed: update lsp-mcp ({upgrade_command()}) and start it again."
        )

    def _advice(self, error: Exception) -> str:
        """What to do next, for the end of a sentence."""
        return "; other processes kept writing to it: try again" if _LOCKED in words_of(error) else self._rescue(error)

    def _rescue(self, error: Exception) -> str:
        """How to repair a broken file, for the end of a sentence."""
        if not self._file or not any(words in words_of(error) for words in _BROKEN):
            return ""
        file, new = shlex.quote(str(self._file)), shlex.quote(f"{self._file}.rescued")
        program = f"{shlex.quote(sys.executable)} -m lsp_mcp.board.rescue"
        return f"; what is readable of it comes into a new file with: {program} {file} {new}"
