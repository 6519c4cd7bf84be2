"""A small part of `make truth`: answers about packages of Go's standard library, judged by go/types.

What it needs is on every machine with Go; the larger trees are for `make truth` alone.
"""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

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


def test_trees_that_are_made_of_what_is_hard_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without("gopls")
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    write_go = importlib.import_module("hostile").write_go
    for seed in range(1, 4):
        write_go(tmp_path / str(seed), seed)
        done = subprocess.run(
            ["go", "vet", "./..."], cwd=tmp_path / str(seed), capture_output=True, text=True, timeout=BOUND, check=False
        )
        assert done.returncode == 0, done.stderr


def test_a_log_becomes_rows_of_the_published_results(tmp_path: Path) -> None:
    log = tmp_path / "log"
    verdicts = ["right", "flagged", "hinted", "wrong"]
    lines = [{"tree": "cobra", "part": "callers", "seed": 3, "verdict": one} for one in verdicts]
    lines.append({"tree": "cobra", "part": "renames", "seed": 3, "verdict": "larger"})
    log.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    summary = [sys.executable, str(PROGRAM.parent / "summary.py"), "--rows", str(log)]
    printed = subprocess.run(summary, capture_output=True, text=True, check=True, timeout=BOUND).stdout
    assert tomllib.loads(f"rows = [{printed}]")["rows"] == [
        ["cobra", "questions", "3", 1, 0, 1, 0, 2],
        ["cobra", "renames", "3", 0, 1, 0, 0, 0],
    ]


def test_every_published_row_has_a_tree_a_part_seeds_and_a_number_for_each_verdict() -> None:
    results = tomllib.loads((PROGRAM.parent / "results.toml").read_text("utf-8"))
    for run in results["runs"]:
        for row in run["rows"]:
            assert [type(cell) for cell in row] == [str, str, str, int, int, int, int, int], row
            assert row[1] in ("questions", "references", "callers", "subtypes", "names", "renames"), row


@pytest.mark.parametrize("make", ["write_c", "write_cpp"])
def test_trees_of_c_and_cpp_that_are_made_of_what_is_hard_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: str
) -> None:
    if not (shutil.which("gcc") and shutil.which("g++")):
        pytest.skip("gcc is not installed")
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    write = getattr(importlib.import_module("hostile_cpp"), make)  # raises if no random names compile
    for folder in ("one", "same"):
        write(tmp_path / folder, 1)
    texts = [sorted((p.name, p.read_text()) for p in (tmp_path / one).rglob("*.*")) for one in ("one", "same")]
    assert texts[0] == texts[1]
    assert {"table.inc", "kinds.def"} <= {name for name, _ in texts[0]}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The examination's reader of one translation unit."""
    pytest.importorskip("clang")
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    return importlib.import_module("translation_unit").read


def test_a_use_of_a_macro_with_the_name_of_a_field_in_it_is_not_required_as_a_use_of_the_field(
    tmp_path: Path, read: Callable[..., Any]
) -> None:
    code = "struct s { char token; };\n#define token(x) ((x)->token)\n"
    (tmp_path / "a.c").write_text(f"{code}char f(struct s *one) {{ one->token = 1; return token(one); }}\n", "utf-8")
    uses = {
        (use.place.character, use.optional) for use in read(tmp_path, "a.c", [], "c", "").uses if use.place.line == 3
    }
    assert {(30, False), (48, True)} <= uses


def test_what_qualifies_a_member_of_a_partial_specialization_is_not_required_as_a_use_of_the_template(
    tmp_path: Path, read: Callable[..., Any]
) -> None:
    code = "template <typename T> struct A {};\ntemplate <typename T> struct A<T*> { int f(A<T> one); };\n"
    (tmp_path / "a.cpp").write_text(f"{code}template <typename T>\nint A<T*>::f(A<T> one) {{ return 1; }}\n", "utf-8")
    unit = read(tmp_path, "a.cpp", ["-std=c++17"], "c++", "")
    uses = {(use.place.character, use.optional) for use in unit.uses if use.place.line == 4 and use.target.line == 1}
    assert {(5, True), (14, False)} <= uses


def test_a_declaration_of_a_header_is_read_with_the_flags_of_each_configuration(
    tmp_path: Path, read: Callable[..., Any]
) -> None:
    (tmp_path / "a.h").write_text("static int f(int n) { CHECK(n) return 1; }\n", "utf-8")
    (tmp_path / "a.c").write_text('#include "a.h"\n', "utf-8")
    plain = read(tmp_path, "a.c", ["-DCHECK(n)="], "c", "")
    checked = read(tmp_path, "a.c", ["-DCHECK(n)=if (!n) return 0;"], "c", "")
    assert not plain.uses
    assert {use.place.character for use in checked.uses} == {29}


def test_a_member_of_a_template_that_is_a_base_is_not_the_template(tmp_path: Path, read: Callable[..., Any]) -> None:
    code = "template <class T> struct A { using Type = T; };\ntemplate <class T> struct D : A<A<T>>::Type {};\n"
    named = "namespace n { struct B {}; template <class T> struct C {}; }\n"
    code += f"{named}struct E : n::B, n::C<A<int>>, A<n::B>::Type {{}};\n"
    (tmp_path / "a.cpp").write_text(code, "utf-8")
    unit = read(tmp_path, "a.cpp", ["-std=c++17"], "c++", "")
    names = {one.place: one.name for one in unit.declarations}
    assert {(names[base], names[derived]) for base, derived in unit.bases} == {("B", "E"), ("C", "E")}


def test_a_destructor_overrides_one_above_a_class_that_declares_none(tmp_path: Path, read: Callable[..., Any]) -> None:
    code = "struct A { virtual ~A(); };\nstruct B : A {};\ntemplate <class T> struct C : B { ~C(); };\n"
    (tmp_path / "a.cpp").write_text(code, "utf-8")
    unit = read(tmp_path, "a.cpp", [], "c++", "")
    destructors = [one for one in unit.declarations if one.kind == "destructor"]
    assert {one.name: [place.line for place in one.family] for one in destructors} == {"~A": [], "~C": [1]}


PYTHON = {
    "app/__init__.py": "",
    "app/shapes.py": (
        "class Shape:\n    def __init__(self, name: str) -> None:\n        self.name = name\n\n"
        "    def show(self) -> str:\n        return self.name\n\n\nclass Round(Shape):\n    def show(self) -> str:\n"
        "        return 'round'\n"
    ),
    "app/use.py": (
        "from app.shapes import Shape as S\n\n\ndef named(one: S, name: str) -> str:\n"
        "    print([name for name in name])\n"
        "    return one.show() + one.name + S(name='x').name\n"
    ),
}


def test_the_oracle_for_python_knows_scopes_attributes_and_keywords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    oracle = importlib.import_module("python_oracle")
    for file, text in PYTHON.items():
        (tmp_path / "tree" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / file).write_text(text)
    graph = oracle._graph(tmp_path / "tree", ["."], tmp_path / "cache")
    assert graph.broken == []

    def uses(name: str, kind: str) -> list[set[str]]:
        found = [one for one in graph.symbols.values() if (one.name, one.kind, one.outside) == (name, kind, False)]
        return sorted(({place.shown for place in one.uses} for one in found), key=sorted)

    assert uses("Shape", "class") == [
        {
            "app/shapes.py#1:7",
            "app/shapes.py#9:13",
            "app/use.py#1:24",
            "app/use.py#1:33",
            "app/use.py#4:16",
            "app/use.py#6:36",
        }
    ]
    assert uses("name", "field") == [{"app/shapes.py#3:14", "app/shapes.py#6:21", "app/use.py#6:29", "app/use.py#6:48"}]
    assert uses("name", "local") == [
        {"app/shapes.py#2:24", "app/shapes.py#3:21", "app/use.py#6:38"},
        {"app/use.py#4:19", "app/use.py#5:29"},
        {"app/use.py#5:12", "app/use.py#5:21"},
    ]
    families = {one.family for one in graph.symbols.values() if one.name == "show"}
    assert len(families) == 1


def test_a_tag_and_the_typedef_of_its_name_are_one_word_to_a_reader_but_each_may_be_renamed_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    of = importlib.import_module("graph")
    at = [of.Place("a.h", 1, column) for column in (16, 30)]

    def graph(*words: str) -> Any:
        names = zip(("tag", "typedef"), at, words, strict=True)
        return of.Graph(
            {id_: of.Symbol(id_, word, "class", frozenset([place]), frozenset([place]), family=word, kin=id_)
             for id_, place, word in names}, [], {},
        )  # fmt: skip

    before, after = graph("S", "S"), graph("T", "S")
    assert before.same(after) == ""
    assert before.family(before.symbols["tag"]) == {*at}


def test_the_oracle_for_python_reads_the_strings_of_all_and_slots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    oracle = importlib.import_module("python_oracle")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text(
        "__all__ = ['Card', 'deal']\n__all__ += ['Deck']\n\n\nclass Card:\n    __slots__ = ('suit',)\n\n"
        "    def __init__(self) -> None:\n        self.suit = 'all'\n\n\nclass Deck: ...\n\n\ndef deal() -> None: ...\n"
    )
    graph = oracle._graph(tmp_path / "tree", ["."], tmp_path / "cache")
    uses = {one.name: [place.shown for place in sorted(one.uses)] for one in graph.symbols.values()}
    assert uses["Card"] == ["a.py#1:13", "a.py#5:7"]
    assert uses["deal"] == ["a.py#1:21", "a.py#15:5"]
    assert uses["Deck"] == ["a.py#2:14", "a.py#12:7"]
    assert uses["suit"] == ["a.py#6:19", "a.py#9:14"]


def test_the_oracle_for_python_sees_that_a_method_overrides_another_no_more_and_does_not_read_what_pytest_fills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    oracle = importlib.import_module("python_oracle")
    text = "class A:\n    def run(self) -> None: ...\n\n\nclass B(A):\n    def run(self) -> None: ...\n"
    filled = "import pytest\n\n\n@pytest.fixture\ndef card(): ...\n\n\ndef test_one(card): ...\ndef other(card): ...\n"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "test_b.py").write_text(filled)
    graphs = []
    for name in ("run", "off"):
        (tmp_path / "tree" / "a.py").write_text(text[:60] + text[60:].replace("run", name))
        graphs.append(oracle._graph(tmp_path / "tree", ["."], tmp_path / "cache"))
    assert graphs[0].same(graphs[0]) == ""
    assert graphs[0].same(graphs[1]) == "a.py#2:9: related with a.py#6:9, then with "
    (card,) = [one for one in graphs[0].symbols.values() if (one.name, one.kind) == ("card", "function")]
    assert {place.shown for place in graphs[0].unread_places(card)} == {"test_b.py#8:14"}


def test_the_oracle_for_rust_knows_what_the_compiler_misses_once_a_declaration_has_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which("cargo"):
        pytest.skip("cargo is not installed")
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    oracle = importlib.import_module("rust_oracle")
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "Cargo.toml").write_text('[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n')
    (tree / "src/lib.rs").write_text(
        "mod core;\npub use crate::core::greet as hello;\n\nmacro_rules! call {\n    () => {\n"
        "        crate::core::greet()\n    };\n}\n\npub fn both() {\n    call!();\n}\n\n#[cfg(windows)]\n"
        "pub fn far() {\n    crate::core::greet();\n}\n"
        "macro_rules! given {\n    (fn given_one() $body:block) => {\n        pub fn made() $body\n    };\n}\n"
        "given!(fn given_one() {});\n"
    )
    (tree / "src/core.rs").write_text(
        "pub fn greet() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {\n        super::greet();\n"
        "    }\n}\n"
    )
    graph = oracle.graph(tree, 10, tmp_path / "work")
    (greet,) = [one for one in graph.symbols.values() if one.name == "greet"]
    assert sorted(place.shown for place in greet.uses) == [
        "src/core.rs#1:8", "src/core.rs#7:16", "src/lib.rs#2:22", "src/lib.rs#6:22"
    ]  # fmt: skip
    assert {place.shown for place in graph.unread_places(greet)} == {"src/lib.rs#16:18"}
    whole = importlib.import_module("rust_code").Rust(tmp_path / "work").graph(tree)
    assert "src/lib.rs#11:5" in {place.shown for place in whole.symbols[greet.id].allowed}
    assert {one.name for one in graph.symbols.values()} == {"greet", "call", "both", "works", "given", "made"}


def test_what_mypy_does_not_find_is_the_same_in_all_modules_to_the_oracle_for_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    oracle = importlib.import_module("python_oracle")
    (tmp_path / "tree").mkdir()
    for file in ("a.py", "b.py"):
        (tmp_path / "tree" / file).write_text("from nowhere.at_all import thing\n\nprint(thing, open('x').close())\n")
    first, again = (oracle._graph(tmp_path / "tree", ["."], tmp_path / "cache") for _ in range(2))
    (thing,) = [one for one in first.symbols.values() if one.name == "thing"]
    assert thing.outside
    assert len(thing.uses) == 4
    assert first.same(again) == ""


def test_a_rename_that_writes_both_names_is_no_other_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    compared = importlib.import_module("renaming").compared
    places, moved = compared("a.ts", "f({ one }, one)\n", "f({ one: two }, two)\n", "one", "two")
    assert {place.shown for place in places} == {"a.ts#1:5", "a.ts#1:12"}
    assert {now.character: before.character for now, before in moved.items()}[17] == 12
    places, _ = compared("a.go", "t{ one: one{} }\n", "t{ one: two{} }\n", "one", "two")
    assert {place.shown for place in places} == {"a.go#1:9"}
    assert compared("a.ts", "f(one)\n", "f(two, 1)\n", "one", "two") is None


def test_an_examination_that_can_ask_nothing_fails_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    examination = importlib.import_module("examination")
    graph, tree = importlib.import_module("graph").Graph, importlib.import_module("sources").Tree

    class Unreadable:
        compares = False

        def graph(self, folder: Path) -> Any:
            return graph({}, ["a.rs: expected one of `:`, found `fn`"])

    monkeypatch.setattr(examination, "_language", lambda *_, **__: Unreadable())
    monkeypatch.setattr(examination, "copied", lambda *_: None)
    record = importlib.import_module("verdicts").Record(print)
    with pytest.raises(RuntimeError, match="nothing to ask: the oracle knows no symbol of x: a"):
        examination.examine(
            tree(name="x", backend="rust-analyzer", size=1), record, seeds=[1], parts=["references"], scale=1,
            quick=True, folder=tmp_path, say=print,
        )  # fmt: skip


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """TypeScript's compiler, which answers what a program means."""
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    oracle = importlib.import_module("typescript_oracle")
    if not oracle._COMPILER.is_file():
        pytest.skip("TypeScript's compiler API is not installed")
    with oracle.typescript_oracle() as asked:
        yield asked


def test_an_error_whose_text_has_the_new_name_is_not_a_new_error_of_a_rename(tmp_path: Path, asked: Any) -> None:
    code = "interface Card {{ suit: string }}\nexport const pick = (card: Card, by: string) => card[by]\n{more}"
    (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"strict": true, "types": []}}')
    (tmp_path / "a.ts").write_text(code.format(more=""))
    typescript = importlib.import_module("typescript").TypeScript(asked)
    assert typescript.trouble(tmp_path, []) == ""
    assert len(asked.graph(tmp_path).broken) == 1
    (tmp_path / "a.ts").write_text("// moved\n" + code.format(more="").replace("Card", "Deck"))
    assert typescript.trouble(tmp_path, ["a.ts"]) == ""
    (tmp_path / "a.ts").write_text(code.format(more="export const one: Card = 1\n").replace("Card", "Deck"))
    assert typescript.trouble(tmp_path, ["a.ts"]) == "a.ts:3: TS2322: Type 'number' is not assignable to type 'Deck'."


def test_a_rename_changes_no_variable_of_another_function_and_answers_have_what_passes_a_symbol_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    graphs = importlib.import_module("graph")

    def symbol(kind: str, *lines: int, family: str = "", passed: tuple[str, ...] = ()) -> Any:
        places = frozenset(graphs.Place("a.js", line, 1) for line in lines)
        first = min(places).shown
        return graphs.Symbol(first, "one", kind, places, places, family=family or first, passed=passed)

    every = [symbol("class", 1, 2, family="f", passed=("a.js#3:1",)), symbol("local", 3, 4, family="f")]
    every += [symbol("local", 5, 6), symbol("field", 7)]
    graph = graphs.Graph({one.id: one for one in every})
    assert {at.line for at in graph.required(every[0])} == {1, 2, 3, 4}
    assert {at.line for at in graph.foreign_locals(every[0], graph.at)} == {5, 6}
    assert {at.line for at in graph.foreign_locals(every[2], graph.at)} == {3, 4}


def test_a_property_of_what_a_commonjs_module_exports_is_a_symbol_of_its_own_however_it_is_written(
    tmp_path: Path, asked: Any
) -> None:
    options = {"allowJs": True, "checkJs": True, "module": "commonjs", "noEmit": True, "types": []}
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": options}))
    declared = "declare const require: any;\ndeclare const module: any;\ndeclare const exports: any;\n"
    (tmp_path / "env.d.ts").write_text(declared)
    (tmp_path / "b.js").write_text("const { One } = require('./a');\nnew One(require('./a').Two);\n")
    graphs = []
    for exported in (
        "module.exports = { %s, %s }",
        "module.exports = { One: %s, %s }",
        "exports.One = %s; exports.Two = %s",
    ):
        (tmp_path / "a.js").write_text(f"class One {{}}\nclass Two {{}}\n{exported % ('One', 'Two')};\n")
        graphs.append(asked.graph(tmp_path))
    for graph in graphs:
        assert {at.shown for at in graph.required(graph.symbols["a.js#1:7"])} >= {"b.js#1:9", "b.js#2:5"}
        assert {at.shown for at in graph.symbols["b.js#1:9"].uses} == {"b.js#1:9", "b.js#2:5"}
        assert any(
            "b.js#2:24" in {at.shown for at in one.uses} for one in graph.symbols.values() if one.kind == "member"
        )


def test_a_parameter_for_the_type_of_this_is_not_a_symbol(tmp_path: Path, asked: Any) -> None:
    (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"strict": true, "types": []}}')
    (tmp_path / "a.ts").write_text("export function f(this: Date, size: number) { return this.getTime() + size }\n")
    assert {one.name for one in asked.graph(tmp_path).symbols.values() if not one.outside} == {"f", "size"}
