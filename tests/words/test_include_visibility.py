"""Which files can mean a symbol where files include others: `WorkspaceWords.that_can_see` on a real C++ folder."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.disk.feed import FeedHub
from lsp_mcp.servers.clangd.compilation.files import BuildFiles
from lsp_mcp.servers.clangd.compilation.includes import Includes
from lsp_mcp.servers.clangd.rules import COMPILATION
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import occurrences
from lsp_mcp.words.visibility import Role, Symbol, that_may_define
from lsp_mcp.words.workspace_words import WorkspaceWords

CLANGD = load_adapter("clangd")


def seen(root: Path, files: Mapping[str, str], symbol: Symbol | tuple[str, str, Role, str]) -> set[str]:
    """Which of `files` that have its name can mean `symbol`: its name, the file that declares it, role, owner."""
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, "utf-8")
    if isinstance(symbol, tuple):
        name, declared, role, owner = symbol
        symbol = Symbol(name, (root / declared,), role, owner)
    wanted = symbol
    includes = Includes(COMPILATION.include_pattern)

    async def ask() -> set[str]:
        hub = FeedHub(root, [])
        await hub.start()
        feed = hub.feed()
        build = BuildFiles(CLANGD, COMPILATION, feed, includes)
        words = WorkspaceWords(CLANGD, root, feed.paths, includes=build)
        having = (await words.files_with(wanted.name)).files
        found = await words.that_can_see(having, wanted)
        await words.close()
        hub.close()
        return {path.relative_to(root).as_posix() for path in found}

    return asyncio.run(ask())


FILES = {
    "lib/a.h": "namespace n { struct A { int Get(); }; void Free(); }\n",
    "lib/b.h": '#include <vector>\n#include "a.h"\n',
    "a.cc": '#include "lib/a.h"\nint n::A::Get() { return 1; }\n',
    "b.cc": '#include "lib/b.h"\nint b(n::A &a) { n::Free(); return a.Get(); }\n',
    "again.cc": "namespace n { void Free(); }\nvoid f() { n::Free(); }\n",
    "own.cc": "#include <vector>\nstruct O { int Get(); };\nvoid Free();\nint o(O &o) { Free(); return o.Get(); }\n",
    "uses.cc": '#include "other.h"\nint u(O *o) { o -> Free(); return o->Get(); }\n',
    "other.h": "#include <stdint.h>\nstruct O;\n",
}


def test_a_member_is_seen_by_files_that_include_its_class_or_may_declare_it_again(tmp_path: Path) -> None:
    assert seen(tmp_path, FILES, ("Get", "lib/a.h", "member", "A")) == {"lib/a.h", "a.cc", "b.cc"}


def test_a_header_that_includes_nothing_sees_what_is_included_before_it(tmp_path: Path) -> None:
    files = {
        "types.h": "typedef int T;\n",
        "state.h": "struct State { T t; };\n",
        "use.h": '#include "types.h"\n',
        "a.c": '#include "use.h"\n#include "state.h"\n',
    }
    assert seen(tmp_path, files, ("T", "types.h", "type", "")) == {"types.h", "state.h"}


def test_an_override_is_seen_by_files_that_know_only_its_base(tmp_path: Path) -> None:
    files = {**FILES, "derived.cc": '#include "lib/b.h"\nstruct D : n::A { int Get(); };\n'}
    assert seen(tmp_path, files, ("Get", "derived.cc", "member", "D")) == {"lib/a.h", "a.cc", "b.cc", "derived.cc"}


def test_a_function_is_seen_by_files_that_declare_it_themselves(tmp_path: Path) -> None:
    assert seen(tmp_path, FILES, ("Free", "lib/a.h", "value", "n")) == {"lib/a.h", "b.cc", "again.cc"}
    assert seen(tmp_path, FILES, ("Free", "lib/a.h", "value", "")) == {"lib/a.h", "b.cc", "again.cc", "own.cc"}


def test_what_only_its_file_knows_is_seen_there_only(tmp_path: Path) -> None:
    assert seen(tmp_path, FILES, ("Get", "own.cc", "local", "")) == {"own.cc"}


@pytest.mark.parametrize("include", ['"made.h"', "<project/made.h>", "MADE"])
def test_an_include_that_is_not_there_may_lead_everywhere(tmp_path: Path, include: str) -> None:
    files = {**FILES, "other.h": f"#include {include}\nstruct O;\n"}
    assert "uses.cc" in seen(tmp_path, files, ("Get", "lib/a.h", "member", "A"))


def test_an_owner_that_its_header_does_not_spell_says_nothing(tmp_path: Path) -> None:
    files = {**FILES, "own.cc": "BEGIN(A) int Get(); END\n", "lib/a.h": "struct A_ { int Get(); };\n"}
    assert "own.cc" in seen(tmp_path, files, ("Get", "lib/a.h", "member", "A"))


def test_of_a_symbol_of_a_library_nothing_is_known(tmp_path: Path) -> None:
    everything = {"lib/a.h", "a.cc", "b.cc", "own.cc", "uses.cc"}
    assert seen(tmp_path, FILES, ("Get", "../usr/get.h", "member", "A")) == everything


def test_a_member_of_a_type_without_a_name_is_seen_by_who_includes_it(tmp_path: Path) -> None:
    files = {**FILES, "a.cc": '#include "lib/a.h"\nstruct { int Get; } a;\nint f() { return a.Get; }\n'}
    symbol = Symbol("Get", (tmp_path / "a.cc",), "member", unnamed_owner=True, overrides=False)
    assert seen(tmp_path, files, symbol) == {"a.cc", "lib/a.h"}


def test_what_is_static_is_seen_by_who_includes_it(tmp_path: Path) -> None:
    assert seen(tmp_path, FILES, Symbol("Free", (tmp_path / "own.cc",), "value", internal=True)) == {"own.cc"}
    files = {**FILES, "other.h": '#include <winsock2.h>\n#include <sys/prctl.h>\n#include "own.cc"\nstruct O;\n'}
    symbol = Symbol("Free", (tmp_path / "own.cc",), "value", internal=True)
    assert seen(tmp_path, files, symbol) == {"own.cc", "uses.cc"}


def test_an_include_that_is_not_there_leads_to_no_compiled_file(tmp_path: Path) -> None:
    files = {**FILES, "other.h": '#include "made.h"\nstruct O;\n'}
    assert "uses.cc" not in seen(tmp_path, files, Symbol("Free", (tmp_path / "own.cc",), "value", internal=True))


def test_a_field_overrides_nothing(tmp_path: Path) -> None:
    files = {**FILES, "derived.cc": '#include "lib/b.h"\nstruct D : n::A { int Get; };\n'}
    symbol = Symbol("Get", (tmp_path / "derived.cc",), "member", "D", overrides=False)
    assert seen(tmp_path, files, symbol) == {"derived.cc", "lib/a.h"}


@pytest.mark.parametrize(
    ("code", "only"),
    [
        ("int f() {\n  use(1);\n  // again\n  Use(2);\n}\n", True),
        ("int f() { a->use(); return b.Use; }  // use, reuse\n", True),
        ("int f(Use how) { Use other; for (const Use one : all) {} }\n", True),
        ("int f() {\n  reuse(1);\n}\n", True),
        ("int reuse(int);\n", False),
        ("int use(int);\n", False),
        ("struct O {} use(1);\n", False),
        ("enum { Use OLD, User OLD = 1 };\n", False),
        ("class Use final {};\n", False),
        ("class Use {};\n", False),
        ("int use OLD;\n", False),
        ("TEST(Use) {}\n", False),
        ("use *made(int);\n", True),
        ("int x;\n/* what */\nstatic const struct use *made;\n", True),
        ("void f(int a, enum use kind);\n", True),
        ("void f(int a, int use);\n", True),
        ("void f(int a, use b, int c);\n", True),
        ("enum { OTHER = (1), use OLD, LAST };\n", False),
        ("struct use list[3];\n", True),
        ("typedef struct use use;\n", False),
        ("struct use { int a; };\n", False),
        ("struct use final : B {};\n", False),
        ("int a, use;\n", False),
        ("char *use;\n", False),
        ("#define use *made\n", False),
        ("void (CALL *use)(int);\n", False),
    ],
)
def test_calls_and_types_of_variables_define_nothing_of_a_name_or_one_that_contains_it(code: str, only: bool) -> None:
    text, language = Text(code), CLANGD.language_of(Path("a.cc"))
    left = that_may_define(text, "use", language, lambda word: occurrences(text, word, language))
    assert (not left) == only
