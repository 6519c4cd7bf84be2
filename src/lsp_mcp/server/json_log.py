"""A log in which each line is a JSON object, without code, names of symbols or paths that were asked about."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

_FIELDS = "lsp_mcp_fields"
_OURS = "lsp_mcp"
_FRAMES = 12  # of a stack, the innermost


def told(**fields: object) -> dict[str, Any]:
    """`extra` of a record, whose line gets these fields."""
    return {_FIELDS: fields}


def log_as_json() -> None:
    """Let every line on stderr be a JSON object from now on."""
    logging.getLogger().handlers[0].setFormatter(JsonFormatter())


class JsonFormatter(logging.Formatter):
    """`time`, `level`, `event`, and fields of the event.

    Of other records it tells the text without the values, which may be code, and of errors their kind and stack.
    """

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        fields = getattr(record, _FIELDS, None)
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        if fields is not None:
            entry |= {"event": record.msg, **fields}
        else:
            entry |= {"event": "log", "at": f"{record.name}:{record.lineno}"}
            if record.name.partition(".")[0] == _OURS:
                entry["text"] = str(record.msg)
        if record.exc_info and record.exc_info[1]:
            error = record.exc_info[1]
            stack = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
            entry["error"] = type(error).__name__
            entry["stack"] = [f"{PurePath(one.filename).name}:{one.lineno} {one.name}" for one in stack]
        return json.dumps(entry, ensure_ascii=False)
