"""Files of other programs: read whole, and written whole or not at all."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.edits.apply import apply_plan
from lsp_mcp.edits.plan import CreateFile, DeleteFile, EditPlan, FileChange
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
    _apply(file, EditPlan((*create, FileChange(file, Text(before or ""), after, ()))))


def remove_config(file: Path, root: Path | None) -> None:
    """Delete `file`, and the folders between it and `root` that are empty then; none without a `root`.

    Raises:
        EditError: that is not possible; the file is unchanged.
    """
    _apply(file, EditPlan((DeleteFile(file),)))
    for folder in file.parents:
        if root is None or folder == root or not folder.is_relative_to(root) or any(folder.iterdir()):
            break
        folder.rmdir()


def _apply(file: Path, plan: EditPlan) -> None:
    policy = EditPolicy(Path(file.anchor), allow_protected=True)  # the user asked for exactly this file
    apply_plan(policy.check(plan))
