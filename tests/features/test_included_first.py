"""Texts of a trial are shown to the server behind what they include: `features.renaming.tried`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from lsp_mcp.adapters import load_adapter
from lsp_mcp.features.renaming.tried import _included_first
from lsp_mcp.text import Text


def test_what_is_included_is_shown_before_and_a_circle_ends() -> None:
    by_kind = load_adapter("clangd").by_kind
    backend = SimpleNamespace(plugin=SimpleNamespace(language_of=lambda path: by_kind.get(path.suffix)))
    texts = {
        Path("/p/use.cc"): Text('#include "alias.h"\n'),
        Path("/p/alias.h"): Text('#include "sub/n.h"\n'),
        Path("/p/sub/n.h"): Text('#pragma once\n#include "../alias.h"\n'),
        Path("/p/other.cc"): Text("int x;\n"),
    }
    shown = [path.name for path in _included_first(cast("Any", backend), texts)]
    assert shown == ["n.h", "alias.h", "use.cc", "other.cc"]
