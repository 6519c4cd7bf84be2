"""Renames of what imports bring, pass on, and call otherwise: a name that an import gives stays, all others change."""

from __future__ import annotations

from pathlib import Path

import pytest

from languages.served import ask, write
from lsp_mcp.errors import LspMcpError

# `greet` becomes `hail`: the texts below are those before; afterwards each «greet» is `hail`.
PROJECTS = {
    "typescript": {
        "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}',
        "core.ts": "export function «greet»(n: number) {\n  return n;\n}\nexport default «greet»;\n",
        "list.ts": "function local() {}\nexport { local as other };\n",
        "index.ts": 'export { «greet» } from "./core";\nexport { «greet» as g } from "./core";\n'
        'export * from "./list";\n',
        "outer.ts": 'export { «greet», g as h } from "./index";\n',
        "main.ts": 'import { «greet» } from "./index";\nimport { h } from "./outer";\n'
        'import { «greet» as again } from "./outer";\nimport whole from "./core";\n\n'
        "export const all = [«greet»(1), h(2), again(3), whole(4)];\n",
        "far.ts": 'import * as outer from "./outer";\n\nexport const one = outer.«greet»(1) + outer.h(2);\n',
    },
    "basedpyright": {
        "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
        "core.py": '__all__ = ["«greet»"]\n\n\ndef «greet»(n):\n    return n\n',
        "index.py": "from core import «greet»\nfrom core import «greet» as g\n",
        "outer.py": "from index import «greet» as «greet»\nfrom index import g as h\n",
        "main.py": "import core as c\nfrom index import «greet»\nfrom outer import h\n"
        "from outer import «greet» as again\n\nevery = [«greet»(1), h(2), again(3), c.«greet»(4)]\n",
    },
}


def before(text: str) -> str:
    return text.replace("«", "").replace("»", "")


def after(text: str) -> str:
    return text.replace("«greet»", "hail")


def renamed(backend: str, files: dict[str, str], root: Path, symbol: str, new_name: str) -> str:
    """What the program says about a rename in a project with these files."""
    write(root, files)
    return ask(backend, root, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name=new_name)


@pytest.mark.parametrize("asked_at", ["core", "main"])
@pytest.mark.parametrize("backend", PROJECTS)
def test_a_rename_reaches_every_file_that_gets_the_name_by_another_and_keeps_the_names_that_imports_give(
    backend: str, asked_at: str, tmp_path: Path
) -> None:
    files = PROJECTS[backend]
    file = next(name for name in files if name.startswith(asked_at))
    text = before(files[file])
    start = text.index("greet(")
    line, at = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    scheme = {"typescript": "ts", "basedpyright": "py"}[backend]
    texts = {file: before(text) for file, text in files.items()}
    said = renamed(backend, texts, tmp_path.resolve(), f"{scheme}://{file}#{line}:{at}", "hail")
    assert {file: (tmp_path / file).read_text() for file in files} == {
        file: after(text) for file, text in files.items()
    }
    assert "status: complete" in said


SHORT = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "jsx": "preserve"}}',
    "core.ts": (
        "export function greet(n: number) {\n  return n;\n}\nexport default function first() {}\n"
        "export interface Props {\n  title: string;\n}\n"
    ),
    "index.ts": "export { default } from './core';\nexport { default as run } from './core';\n",
    "use.tsx": (
        "import { greet, type Props } from './core';\nimport main from './index';\n\nconst all = { greet };\n"
        "all.greet(main() ?? 1);\n\nfunction Card(props: Props) {\n  const { title } = props;\n  return title;\n}\n"
        "const title = 'a';\nexport const some = [<Card title={title} />, Card({ title })];\n"
    ),
}  # fmt: skip


USE = {
    "core.ts#1:17": [("{ greet,", "{ hail,"), ("{ greet }", "{ greet: hail }")],
    "core.ts#4:25": [],
    "core.ts#6:3": [
        ("{ title } = props", "{ caption: title } = props"),
        ("<Card title=", "<Card caption="),
        ("({ title })", "({ caption: title })"),
    ],
}


@pytest.mark.parametrize(
    ("at", "old", "new"),
    [("core.ts#1:17", "greet", "hail"), ("core.ts#4:25", "first", "last"), ("core.ts#6:3", "title", "caption")],
)
def test_a_variable_and_a_property_that_share_a_word_are_renamed_apart(
    at: str, old: str, new: str, tmp_path: Path
) -> None:
    expected = {**SHORT, "core.ts": SHORT["core.ts"].replace(old, new)}
    for one, other in USE[at]:
        expected["use.tsx"] = expected["use.tsx"].replace(one, other, 1)
    said = renamed("typescript", SHORT, tmp_path.resolve(), f"ts://{at}", new)
    assert {file: (tmp_path / file).read_text() for file in SHORT} == expected
    assert "status: complete" in said


DEFAULTS = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}',
    "core.ts": "export default function greet(n: number) {\n  return n;\n}\n",
    "index.ts": 'export { default as «greet» } from "./core";\n',
    "main.ts": 'import { «greet» } from "./index";\n\nexport const one = «greet»(1);\n',
}


def test_a_name_that_an_export_gives_is_renamed_even_if_what_it_exports_is_called_so(tmp_path: Path) -> None:
    files = {file: before(text) for file, text in DEFAULTS.items()}
    renamed("typescript", files, tmp_path, "index.ts:1:21", "hail")
    assert {file: (tmp_path / file).read_text() for file in ("index.ts", "main.ts")} == {
        file: after(DEFAULTS[file]) for file in ("index.ts", "main.ts")
    }


NAMELESS = {
    "tsconfig.json": '{"compilerOptions": {"jsx": "preserve", "allowJs": true, "module": "esnext"}}',
    "core.tsx": "export default (n: number) => n;\n",
    "core.jsx": "export default (n) => n;\n",
    "main.tsx": 'import greet from "./core";\n\nexport const one = greet(1);\n',
    "main.jsx": 'import greet from "./core.jsx";\n\nexport const one = greet(1);\n',
}


@pytest.mark.parametrize("file", ["main.tsx", "main.jsx"])
def test_a_name_that_an_import_gives_to_what_has_none_is_renamed(file: str, tmp_path: Path) -> None:
    files = NAMELESS | {
        "tsconfig.json": '{"compilerOptions": {"jsx": "preserve", "allowJs": true, "module": "esnext"}}'
    }
    said = renamed("typescript", files, tmp_path, f"{file}:1:8", "hail")
    assert (tmp_path / file).read_text() == files[file].replace("greet", "hail")
    assert "status: complete" in said


OVERLOADS = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}',
    "core.ts": (
        "export function «greet»(n: number): number;\nexport function «greet»(n: string): string;\n"
        "export function «greet»(n: any): any {\n  return n;\n}\n"
    ),
    "main.ts": 'import { «greet» } from "./core";\n\nexport const all = [«greet»(1), «greet»("a")];\n',
}


def test_overloads_are_renamed_together_with_every_import_of_them(tmp_path: Path) -> None:
    files = {file: before(text) for file, text in OVERLOADS.items()}
    said = renamed("typescript", files, tmp_path, "main.ts:3:21", "hail")
    assert {file: (tmp_path / file).read_text() for file in files} == {
        file: after(text) for file, text in OVERLOADS.items()
    }
    assert "status: complete" in said


PLUGIN = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}',
    "core.ts": (
        "export interface Plugin {\n  apply(n: number): number;\n}\n\nexport function load(plugin: Plugin) {\n"
        "  return plugin.apply(1);\n}\n"
    ),
    "main.ts": (
        'import { load } from "./core";\n\nexport function main() {\n'
        "  function apply(n: number) {\n    return n;\n  }\n  load({ apply });\n}\n"
    ),
}


def test_a_method_that_a_function_of_its_name_is_passed_for_is_renamed_without_it(tmp_path: Path) -> None:
    said = renamed("typescript", PLUGIN, tmp_path, "Plugin.apply", "execute")
    assert (tmp_path / "core.ts").read_text() == PLUGIN["core.ts"].replace("apply", "execute")
    assert (tmp_path / "main.ts").read_text() == PLUGIN["main.ts"].replace("{ apply }", "{ execute: apply }")
    assert "status: complete" in said


WRONG_ELSEWHERE = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}',
    "core.ts": "export interface Options {\n  depth: number;\n}\n",
    "main.ts": (
        'import type { Options } from "./core";\n\nexport function show({ depth }: Options) {\n'
        "  const wrong: string = 1;\n  return [depth, { depth }, wrong];\n}\n"
        "export const of = (all: Options) => all.depth;\n"
    ),
}


def test_errors_that_are_there_already_do_not_stop_the_rename_of_a_variable_that_takes_a_property(
    tmp_path: Path,
) -> None:
    said = renamed("typescript", WRONG_ELSEWHERE, tmp_path, "main.ts:5:11", "level")
    text = WRONG_ELSEWHERE["main.ts"].replace("{ depth }", "{ depth: level }").replace("[depth", "[level")
    assert (tmp_path / "main.ts").read_text() == text
    assert (tmp_path / "core.ts").read_text() == WRONG_ELSEWHERE["core.ts"]
    assert "status: complete" in said


LOADED = {
    "tsconfig.json": '{"compilerOptions": {"allowJs": true, "module": "commonjs", "types": []}}',
    "env.d.ts": "declare const require: any;\ndeclare const module: any;\n",
    "core.js": "class «Greeter» {\n  #size = 1\n  first () { return this.#size }\n}\n\nmodule.exports = «Greeter»\n",
    "main.js": "const «Greeter» = require('./core')\n\nmodule.exports.make = function () { return new «Greeter»() }\n",
    "other.js": "const Another = require('./core')\n\nclass Size { amount () { return new Another() } }\n",
}


@pytest.mark.parametrize("at", ["core.js:1:7", "main.js:1:7", "main.js:3:48"])
def test_what_a_module_is_loaded_into_is_renamed_with_what_it_exports_if_both_have_one_name(
    at: str, tmp_path: Path
) -> None:
    files = {file: before(text) for file, text in LOADED.items()}
    said = renamed("typescript", files, tmp_path, at, "hail")
    assert {file: (tmp_path / file).read_text() for file in files} == {
        file: text.replace("«Greeter»", "hail") for file, text in LOADED.items()
    }
    assert "status: complete" in said


def test_a_private_member_may_have_the_name_of_a_member_of_another_type(tmp_path: Path) -> None:
    files = {file: before(text) for file, text in LOADED.items()}
    said = renamed("typescript", files, tmp_path, "core.js:2:4", "amount")
    assert (tmp_path / "core.js").read_text() == files["core.js"].replace("#size", "#amount")
    assert "status: complete" in said


GIVEN = {
    "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
    "filters.py": "FILTERS = [1]\n",
    "defaults.py": "from filters import FILTERS as «DEFAULTS»\n",
    "use.py": "from defaults import «DEFAULTS»\n\nprint(«DEFAULTS».copy())\n",
}


@pytest.mark.parametrize("at", ["use.py:1:22", "use.py:3:7", "defaults.py:1:32"])
def test_a_name_that_an_import_gives_is_renamed_from_where_others_import_it(at: str, tmp_path: Path) -> None:
    said = renamed("basedpyright", {file: before(text) for file, text in GIVEN.items()}, tmp_path, at, "STANDARD")
    assert {file: (tmp_path / file).read_text() for file in GIVEN} == {
        file: text.replace("«DEFAULTS»", "STANDARD") for file, text in GIVEN.items()
    }
    assert "status: complete" in said


SYMBOLS = {
    "tsconfig.json": '{"compilerOptions": {"allowJs": true, "module": "commonjs", "types": []}}',
    "env.d.ts": "declare const require: any;\ndeclare const module: any;\n",
    "constants.js": "module.exports = {\n  kOne: Symbol('kOne'),\n  kTwo: 2\n};\n",
    "main.js": "const { kOne, kTwo } = require('./constants');\n\nconsole.log(kOne, kTwo);\n",
    "other.js": "const { kOne } = require('./constants');\n\nconsole.log(kOne);\n",
}


def test_a_variable_that_takes_a_property_of_a_module_is_not_renamed_together_with_that_in_part(tmp_path: Path) -> None:
    with pytest.raises(LspMcpError, match="kOne was not renamed, no file changed"):
        renamed("typescript", SYMBOLS, tmp_path, "main.js:3:13", "another")
    assert {file: (tmp_path / file).read_text() for file in SYMBOLS} == SYMBOLS


WHOLE = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}',
    "api/one.ts": "export interface First {\n  size: number;\n}\n",
    "api/two.ts": "export const second = 1;\n",
    "internal.ts": 'export * from "./api/one";\nexport * from "./api/two";\n',
}


def test_a_name_that_another_module_exports_is_refused_where_a_file_exports_all_of_both(tmp_path: Path) -> None:
    with pytest.raises(LspMcpError, match=r"internal\.ts#2: Module .* has already exported a member named 'second'"):
        renamed("typescript", WHOLE, tmp_path, "api/one.ts:1:18", "second")
    assert {file: (tmp_path / file).read_text() for file in WHOLE} == WHOLE


SEVERAL = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "commonjs", "target": "es2022", "types": []}}',
    "shapes.ts": (
        "export interface «Shape» {\n  size: number;\n}\nexport namespace geo {\n  export const pi = 3;\n}\n"
        "export import Short = geo;\n"
    ),
    "other.ts": (
        'import { type «Shape», Short } from "./shapes";\n\ndeclare module "./shapes" {\n  interface «Shape» {\n'
        "    extra?: number;\n  }\n}\nexport const fn = (shape: «Shape») => (shape.extra ?? 1) + Short.pi;\n"
    ),
    "eq.ts": "class Parser {\n  first = 1;\n}\nexport = Parser;\n",
    "use.ts": 'import Given = require("./eq");\n\nexport const one = new Given().first;\n',
}


@pytest.mark.parametrize("at", ["shapes.ts:1:18", "other.ts:1:15", "other.ts:8:28"])
def test_what_several_files_declare_is_renamed_in_all_of_them_from_where_it_is_imported(
    at: str, tmp_path: Path
) -> None:
    said = renamed("typescript", {file: before(text) for file, text in SEVERAL.items()}, tmp_path, at, "Figure")
    assert {file: (tmp_path / file).read_text() for file in SEVERAL} == {
        file: text.replace("«Shape»", "Figure") for file, text in SEVERAL.items()
    }
    assert "status: complete" in said


@pytest.mark.parametrize(("at", "name"), [("eq.ts:1:7", "Parser"), ("other.ts:8:58", "Short")])
def test_names_that_import_assignments_give_stay_unless_they_are_asked_about(
    at: str, name: str, tmp_path: Path
) -> None:
    files = {file: before(text) for file, text in SEVERAL.items()}
    said = renamed("typescript", files, tmp_path, at, "Brief")
    assert {file: (tmp_path / file).read_text() for file in files} == {
        file: text.replace(name, "Brief") for file, text in files.items()
    }
    assert "status: complete" in said


SIGNS = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}',
    "core.ts": "export class $«Card»<T> {\n  one?: T;\n}\nexport class Card {}\n",
    "index.ts": 'export * from "./core";\n',
    "main.ts": (
        'import { $«Card», Card } from "./index";\n\nexport const make = (of: $«Card»<string>) => [of, new Card()];\n'
    ),
}


@pytest.mark.parametrize("at", ["core.ts:1:15", "main.ts:1:11", "main.ts:3:28"])
def test_a_name_that_begins_with_a_sign_is_renamed_in_all_files_from_where_it_is_imported(
    at: str, tmp_path: Path
) -> None:
    said = renamed("typescript", {file: before(text) for file, text in SIGNS.items()}, tmp_path, at, "Figure")
    assert {file: (tmp_path / file).read_text() for file in SIGNS} == {
        file: text.replace("«Card»", "Figure") for file, text in SIGNS.items()
    }
    assert "status: complete" in said


GLOBAL = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}',
    "shop.d.ts": (
        "export as namespace shop;\nexport const two: number;\ndeclare global { const three: typeof shop.two; }\n"
    ),
    "use.ts": 'import * as shop from "./shop";\n\nexport const one = shop.two;\n',
}


def test_a_name_that_an_import_gives_a_module_is_not_renamed_together_with_one_that_the_module_has(
    tmp_path: Path,
) -> None:
    with pytest.raises(LspMcpError, match=r"shop\.d\.ts#1:21: may be a name that the module itself has"):
        renamed("typescript", GLOBAL, tmp_path, "use.ts:1:13", "store")
    assert {file: (tmp_path / file).read_text() for file in GLOBAL} == GLOBAL
