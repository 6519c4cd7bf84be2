"""Files of other programs: read whole, and written whole or not at all."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.edits.apply import apply_plan
from lsp_mcp.edits.plan import CreateFile, EditPlan, FileChange
from lsp_mcp.edits.policy import EditPolicy
from lsp_mcp.errors import ConfigError
from lsp_mcp.text import Text


def read_config(file: Path) -> str | None:
    """The text of `file`; None if it does not exist.

    Raises:
        ConfigError: it is not a regular UTF-8 file, or cannot be read.
    """
    if file.exists() and not file.is_file():
        raise ConfigError("it is not a regular file")
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigError(f"it is not UTF-8 (byte {error.start:,})") from None
    except OSError as error:
        raise ConfigError(f"it cannot be read: {error.strerror}") from None


def write_config(file: Path, before: str | None, after: str) -> None:
    """Replace the text `before` of `file` (None: there is no file) with `after`.

    Raises:
        EditError: that is not possible; the file is unchanged.
    """
    create = [CreateFile(file)] if before is None else []
    change = FileChange(file, Text(before or ""), after, ())
    # A person asked for exactly this file.
    policy = EditPolicy(Path(file.anchor), allow_protected=True)
    apply_plan(policy.check(EditPlan((*create, change))))
