"""Of the declarations in an outline only those with a name of their own, outside of functions, can be unused."""

from __future__ import annotations

from pathlib import Path

from languages.served import ask, write


def test_parameters_and_locals_in_python_are_not_judged(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    code = "def used(first, second):\n    local = first\n    return local\n\n\ndef lost():\n    pass\n\n\nused(1, 2)\n"
    write(root, {"pyproject.toml": '[project]\nname = "parcel"\nversion = "1"\n', "parcel.py": code})
    answer = ask("basedpyright", root, "find_impact", unused=True, path="parcel.py")
    assert "examined below parcel.py" in answer
    assert "6:5-7 function lost" in answer
    assert "second" not in answer
    assert "local" not in answer


def test_callbacks_in_typescript_are_not_judged(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    code = (
        "function double(values: number[]) {\n  return values.map((one) => {\n    return one * 2\n  })\n}\n"
        "function lost() {}\nconsole.log(double([1]))\n"
    )
    write(root, {"tsconfig.json": '{"include": ["src"]}\n', "src/a.ts": code})
    answer = ask("typescript", root, "find_impact", unused=True, path="src/a.ts")
    assert "6:10-6 function lost" in answer
    assert "callback" not in answer
