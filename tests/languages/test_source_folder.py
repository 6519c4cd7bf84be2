"""Python packages below `src` are found from tests beside it, installed or not."""

from __future__ import annotations

import json
import venv
from pathlib import Path

from languages.served import ask, write

FILES = {
    "pyproject.toml": '[project]\nname = "parcel"\nversion = "1"\n',
    "src/parcel/__init__.py": "from .core import wrap as wrap\n",
    "src/parcel/core.py": "def wrap():\n    pass\n",
    "tests/test_wrap.py": "import parcel\n\nparcel.wrap()\n",
}


def test_a_test_uses_the_package_below_src_and_not_a_copy_of_it_that_is_installed(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    write(root, FILES)
    venv.create(root / ".venv", symlinks=True)
    (site,) = (root / ".venv/lib").glob("python*/site-packages")
    for file in ("__init__.py", "core.py"):
        (site / "parcel").mkdir(exist_ok=True)
        (site / "parcel" / file).write_text(FILES[f"src/parcel/{file}"])
    arguments = {"symbol_anchor": "py://src/parcel/core.py#1:5", "format": "json"}
    answer = json.loads(ask("basedpyright", root, "find_symbol_references_by_anchor", **arguments))
    places = {(one["location"]["file"], one["location"]["line"]) for one in answer["references"]}
    assert ("tests/test_wrap.py", 3) in places
    assert answer["status"] == "complete"
