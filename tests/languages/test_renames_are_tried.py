"""Renames to names that something else has, and of what other files rely on: whether anything would mean another symbol
then, or break.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from languages.served import ask, write
from lsp_mcp.errors import LspMcpError

# `first` is used in another file, in a function with a parameter called `taken`; another function has `spare`.
PROJECTS = {
    "typescript": {
        "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true}}',
        "a.ts": "export const first = 1;\n",
        "b.ts": (
            'import { first } from "./a";\n\nexport function hides(taken: number) {\n  return first + taken;\n}\n\n'
            "export function apart(spare: number) {\n  return spare;\n}\n\nexport const third = first;\n"
        ),
    },
    "basedpyright": {
        "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
        "a.py": "first = 1\n",
        "b.py": (
            "from a import first\n\n\ndef hides(taken):\n    return first + taken\n\n\n"
            "def apart(spare):\n    return spare\n\n\nthird = first\n"
        ),
    },
    "rust-analyzer": {
        "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/a.rs": "pub fn first() -> u32 {\n    1\n}\n",
        "src/main.rs": (
            "mod a;\nuse a::first;\n\nfn hides(taken: fn() -> u32) -> u32 {\n    first() + taken()\n}\n\n"
            "fn apart(spare: u32) -> u32 {\n    spare\n}\n\nfn main() {\n    hides(first);\n    apart(1);\n}\n"
        ),
    },
}


def rename(backend: str, root: Path, symbol: str, new_name: str) -> str:
    """What the program says about a rename; the text of an error if it is refused."""
    write(root, PROJECTS[backend])
    try:
        return ask(backend, root, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name=new_name)
    except LspMcpError as error:
        return str(error)


def texts(backend: str, root: Path) -> dict[str, str]:
    return {file: (root / file).read_text() for file in PROJECTS[backend]}


@pytest.mark.parametrize("backend", PROJECTS)
def test_a_rename_by_which_a_local_name_would_hide_a_use_in_another_file_is_refused(
    backend: str, tmp_path: Path
) -> None:
    said = rename(backend, tmp_path, "first", "taken")
    assert "was not renamed" in said
    assert "would mean taken of" in said
    assert texts(backend, tmp_path) == PROJECTS[backend]


@pytest.mark.parametrize("backend", PROJECTS)
def test_a_local_name_of_another_function_does_not_stop_a_rename(backend: str, tmp_path: Path) -> None:
    assert "status: complete" in rename(backend, tmp_path, "first", "spare")
    assert all("first" not in text for text in texts(backend, tmp_path).values())


FITTING = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}',
    "model.ts": "export interface Sized {\n  size: number;\n}\nexport const grow = (one: Sized) => one.size;\n",
    "local.ts": "export class Local {\n  size = 3;\n  other = 1;\n}\n",
    "index.ts": 'export * from "./local";\n',
    "use.ts": (
        'import { grow } from "./model";\nimport { Local } from "./index";\n\nconst wrong: string = 1;\n'
        "export const all = [grow(new Local()), wrong];\n"
    ),
}


def test_a_member_by_which_something_fits_a_type_in_another_file_is_not_renamed_alone(tmp_path: Path) -> None:
    write(tmp_path, FITTING)
    with pytest.raises(
        LspMcpError, match=r"it makes 1 new error: ts://use\.ts#5: Property 'size' is missing in type 'Local'"
    ):
        ask("typescript", tmp_path, "rename_symbol_by_anchor", symbol_anchor="local.ts:2:3", new_name="length")
    said = ask("typescript", tmp_path, "rename_symbol_by_anchor", symbol_anchor="local.ts:3:3", new_name="length")
    assert (tmp_path / "local.ts").read_text() == FITTING["local.ts"].replace("other", "length")
    assert "status: complete" in said


MARKUP = {
    "tsconfig.json": (
        '{"compilerOptions": {"strict": true, "noEmit": true, "jsx": "react", "jsxFactory": "h", "module": "esnext", '
        '"moduleResolution": "bundler"}}'
    ),
    "jsx.d.ts": (
        "declare namespace JSX {\n  interface Element {\n    tag: string;\n  }\n  interface IntrinsicElements {\n"
        "    div: {};\n  }\n  interface ElementClass {\n    render(): Element;\n  }\n}\n"
    ),
    "panel.tsx": (
        "export const h = (tag: any, props?: any): JSX.Element => ({ tag });\nexport class Panel {\n  render() {\n"
        "    return <div />;\n  }\n}\n"
    ),
    "use.tsx": 'import { h, Panel } from "./panel";\n\nexport const one = <Panel />;\n',
}


@pytest.mark.parametrize(
    ("symbol", "said"),
    [
        ("panel.tsx:3:3", r"tsx://use\.tsx#3: 'Panel' cannot be used as a JSX component"),
        ("jsx.d.ts:5:13", "JSX would not implement what markup is checked by without IntrinsicElements"),
    ],
)
def test_what_only_markup_relies_on_is_not_renamed(symbol: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, MARKUP)
    with pytest.raises(LspMcpError, match=said):
        ask("typescript", tmp_path, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name="another")
