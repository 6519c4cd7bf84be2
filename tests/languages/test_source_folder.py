"""Python packages below `src` are found from tests beside it, installed or not."""

from __future__ import annotations

import asyncio
import json
import venv
from pathlib import Path

from languages.served import served

FILES = {
    "pyproject.toml": '[project]\nname = "parcel"\nversion = "1"\n',
    "src/parcel/__init__.py": "from .core import wrap as wrap\n",
    "src/parcel/core.py": "def wrap():\n    pass\n",
    "tests/test_wrap.py": "import parcel\n\nparcel.wrap()\n",
}


def test_a_test_uses_the_package_below_src_and_not_a_copy_of_it_that_is_installed(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    for file, text in FILES.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)
    venv.create(root / ".venv", symlinks=True)
    (site,) = (root / ".venv/lib").glob("python*/site-packages")
    for file in ("__init__.py", "core.py"):
        (site / "parcel").mkdir(exist_ok=True)
        (site / "parcel" / file).write_text(FILES[f"src/parcel/{file}"])
    open_workspace = served("basedpyright")

    async def asked() -> str:
        async with open_workspace(root) as call:
            arguments = {"symbol_anchor": "py://src/parcel/core.py#1:5", "format": "json"}
            return await asyncio.wait_for(call("find_symbol_references_by_anchor", arguments), 120)

    answer = json.loads(asyncio.run(asked()))
    places = {(one["location"]["file"], one["location"]["line"]) for one in answer["references"]}
    assert ("tests/test_wrap.py", 3) in places
    assert answer["status"] == "complete"
