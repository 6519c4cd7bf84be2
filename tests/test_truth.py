"""A small part of `make truth`: answers about packages of Go's standard library, judged by go/types.

What it needs is on every machine with Go; the larger trees are for `make truth` alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from asking import skip_without

PROGRAM = Path(__file__).parent.parent / "truth" / "truth.py"
SEED = 7
BOUND = 1800  # seconds: a hang, not a measurement


def test_answers_about_real_go_packages_are_true_or_say_what_they_lack() -> None:
    skip_without("gopls")
    options = ["--backend", "gopls", "--tree", "standard", "--seed", str(SEED), "--quick", "--json"]
    asked = {"references": 20, "callers": 4, "subtypes": 3, "renames": 5, "freshness": 6}
    command = [sys.executable, str(PROGRAM), *options, *(f"--part={part}" for part in asked)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BOUND, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["figures"]["all"]
    assert sum(figures.values()) == sum(asked.values())
    # A program that always flags or refuses is not wrong either.
    assert figures["flagged though right"] < 0.1 * sum(asked.values()), done.stderr
