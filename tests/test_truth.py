"""A small part of `make truth`: answers about real code that nobody here wrote, judged by oracles of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without

TRUTH = Path(__file__).parent.parent / "truth"
BOUND = 1800  # seconds: a hang, not a measurement


def examined(backend: str, tree: str, *parts: str) -> dict[str, Any]:
    """The figures of a quick examination; what was wrong is in the message of a failure."""
    fetched = [sys.executable, TRUTH / "fetch.py", backend, tree]
    if said := subprocess.run(fetched, capture_output=True, text=True, timeout=BOUND, check=False).stderr:
        pytest.skip(f"the code of {tree}: {said}")
    options = ["--backend", backend, "--tree", tree, "--quick", "--json"]
    command = [sys.executable, TRUTH / "truth.py", *options, *(f"--part={part}" for part in parts)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BOUND, check=False)
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)["figures"]
    return figures


def assert_hardly_cautious(figures: dict[str, int]) -> None:
    """A program that always flags or refuses is not wrong either."""
    assert figures["flagged though right"] < 0.2 * sum(figures.values())


def test_answers_about_a_real_go_module_are_true_or_say_what_they_lack() -> None:
    skip_without("gopls")
    figures = examined("gopls", "cobra", "references", "renames", "freshness")
    assert {part: sum(counts.values()) for part, counts in figures.items()} == {
        "references": 20, "renames": 5, "after edits": 6, "all": 31,
    }  # fmt: skip
    assert_hardly_cautious(figures["all"])


@pytest.mark.skipif(not find_spec("clang"), reason="libclang is not installed")
@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
def test_answers_about_a_real_c_program_are_true_or_say_what_they_lack() -> None:
    skip_without("clangd")
    figures = examined("clangd", "lua", "references", "renames")
    assert {part: sum(counts.values()) for part, counts in figures.items()} == {
        "references": 20,
        "renames": 5,
        "all": 25,
    }
    assert_hardly_cautious(figures["all"])
