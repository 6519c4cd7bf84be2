"""Answers as text that can be sent: compact JSON, and nothing in it that is no Unicode."""

from __future__ import annotations

import json
from typing import Any


def as_json(value: Any) -> str:
    """`value` as compact JSON; what is no UTF-8 in it is replaced."""
    return readable(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def readable(text: str) -> str:
    """`text` with what is no Unicode in it replaced: bytes that were no UTF-8 (PEP 383), and halves of pairs."""
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "replace")
    return raw.decode("utf-8", "replace")
