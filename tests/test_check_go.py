"""`check` with gopls says of random edits what the compiler says: judged by go/types without gopls."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from asking import skip_without

sys.path.insert(0, str(Path(__file__).parents[1] / "truth"))
from check_truth import examine

skip_without("gopls")

_TREE = Path(__file__).parent / "fixtures" / "go"
_EDITS = 12


def test_random_edits_of_go_have_the_errors_that_the_compiler_finds(tmp_path: Path) -> None:
    tree = Path(shutil.copytree(_TREE, tmp_path / "tree"))
    told: list[str] = []
    outcomes = examine(tree, "gopls", _EDITS, 1, tmp_path / "cache", told.append)
    assert outcomes == {"right": _EDITS}, told
