"""Which files can mean a symbol: `lsp_mcp.words.visibility` and `packages`, by the rules for Go."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.servers.gopls.projects import map_projects
from lsp_mcp.servers.gopls.rules import MODULES
from lsp_mcp.servers.gopls.traits import VISIBILITY
from lsp_mcp.words.packages import Importing, Packages
from lsp_mcp.words.visibility import Role, Symbol, seeing

GO = load_adapter("gopls")
LEXING = GO.languages[0].lexing
assert LEXING


def seen(
    folder: Path, files: Mapping[str, str], name: str, declared: str, role: Role, library: Path | None = None
) -> set[str]:
    """Which of `files`, written below `folder`, can mean the symbol `name` that `declared` declares."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, "utf-8")
    assert LEXING
    importing = Importing(VISIBILITY, LEXING)
    sources = {
        str(folder / path): importing.imports(text.encode()) for path, text in files.items() if path.endswith(".go")
    }
    markers = [folder / path for path in files if path.rpartition("/")[2] in ("go.mod", "go.work")]
    projects = map_projects(markers, MODULES, folder, lambda path: path.read_text("utf-8"))
    libraries = [str(library)] if library else []
    packages = Packages(
        VISIBILITY, importing, sources.items(), projects.names(), libraries, GO.extensions, ["vendor"], {}
    )
    symbol = Symbol(name, (folder / declared,), role)
    found = seeing(list(map(Path, sources)), symbol, VISIBILITY, packages, lambda path: sources[path])
    return {path.relative_to(folder).as_posix() for path in found}


FILES = {
    "go.mod": "module example.com/m\n",
    "lib/lib.go": "package lib\n\ntype T struct{ F int }\n\nfunc New() *T { return nil }\nfunc own() {}\n"
    "type Fn func()\n",
    "lib/lib_test.go": 'package lib_test\n\nimport "example.com/m/tool"\n\nvar Fixture = tool.X\n',
    "lib/other.go": "package lib\n",
    "user/user.go": 'package user\n\nimport (\n\t"fmt" // for (all)\n\tl "example.com/m/lib"\n)\n\nvar X = l.New()\n',
    "user/more.go": "package user\n\nvar Y = X.F\n",
    "far/far.go": 'package far\n\nimport "example.com/m/user"\n\nvar Z = user.X.F\n',
    "far/far_test.go": 'package far\n\nimport "example.com/m/tool"\n',
    "beyond/beyond.go": 'package beyond\n\nimport "example.com/m/far"\n',
    "tool/tool.go": 'package tool\n\nimport "fmt"\n\nvar New, F, X = 1, 2, 3\n',
}
LIB = {"lib/lib.go", "lib/lib_test.go", "lib/other.go"}


def test_a_function_is_seen_by_its_package_and_by_files_that_import_it(tmp_path: Path) -> None:
    assert seen(tmp_path, FILES, "New", "lib/lib.go", "value") == {*LIB, "user/user.go"}


def test_a_field_and_a_type_are_seen_by_all_that_lead_to_them_by_imports_of_imports(tmp_path: Path) -> None:
    leading = {*LIB, "user/user.go", "user/more.go", "far/far.go", "far/far_test.go", "beyond/beyond.go"}
    assert seen(tmp_path, FILES, "F", "lib/lib.go", "member") == leading
    assert seen(tmp_path, FILES, "T", "lib/lib.go", "type") == leading
    assert seen(tmp_path, FILES, "T", "lib/lib.go", "unknown") == leading


def test_a_type_that_the_server_calls_a_function_is_a_type(tmp_path: Path) -> None:
    assert "far/far.go" in seen(tmp_path, FILES, "Fn", "lib/lib.go", "value")


def test_a_name_that_is_not_exported_is_seen_by_its_package_only(tmp_path: Path) -> None:
    assert seen(tmp_path, FILES, "own", "lib/lib.go", "value") == LIB


def test_what_a_test_declares_is_seen_by_its_package_only(tmp_path: Path) -> None:
    assert seen(tmp_path, FILES, "Fixture", "lib/lib_test.go", "value") == LIB


def test_imports_of_a_test_lead_nobody_else(tmp_path: Path) -> None:
    assert seen(tmp_path, FILES, "F", "tool/tool.go", "member") == {
        *LIB,
        "tool/tool.go",
        "far/far.go",
        "far/far_test.go",
    }


@pytest.mark.parametrize(
    "imports",
    [
        'import "example.com/m/lib"',
        'import . "example.com/m/lib"; import _ "fmt"',
        'import ("fmt"; l "example.com/m/lib")',
        "import `example.com/m/lib`",
        'import ( // )\n/* )\n */\n "fmt"\n _ /* x */ "example.com/m/lib"\n)',
        '// import "C"\n/*\nfunc s()\n*/; import (\n"example.com/m/lib"',
        'import /* a */ // b\n "example.com/m/lib"',
        'import "C"\nimport (\n)\nimport(\n"example.com/m/lib")',
    ],
)
def test_imports_are_read_however_they_are_written(tmp_path: Path, imports: str) -> None:
    files = {**FILES, "x/x.go": f"// import\npackage x; {imports}\n\nfunc f() {{}}\n"}
    assert "x/x.go" in seen(tmp_path, files, "New", "lib/lib.go", "value")


@pytest.mark.parametrize(
    "text",
    ['/* import "a.b/c"', 'var s = `\nimport "a.b/c"\n`', 'import ( // "a.b/c"\n/* "a.b/c" */)', 'important("a.b/c")'],
)
def test_what_comments_and_strings_say_is_not_an_import(text: str) -> None:
    assert LEXING
    assert Importing(VISIBILITY, LEXING).imports(f'package x\nimport "fmt"\n{text}'.encode()) == ("fmt",)


def test_modules_are_found_by_the_names_that_others_have_for_them(tmp_path: Path) -> None:
    files = {
        "a/go.mod": "module example.com/a/v2\n",
        "a/a.go": "package a\n\nfunc New() {}\n",
        "b/go.mod": "module b\n\nreplace (\n\texample.com/fork/a v1.0.0 => ../a\n)\n"
        "replace other.org/a => ../a // here\n",
        "b/one.go": 'package b\n\nimport "example.com/fork/a"\n',
        "b/two.go": 'package b\n\nimport "other.org/a"\n',
        "b/three.go": 'package b\n\nimport "example.com/a/v2"\n',
        "c/c.go": 'package c\n\nimport "a"\n',
    }
    assert seen(tmp_path, files, "New", "a/a.go", "value") == {"a/a.go", "b/one.go", "b/two.go", "b/three.go"}


def test_a_dependency_that_leads_back_is_followed_and_one_that_is_not_there_leads_everywhere(tmp_path: Path) -> None:
    library, root = tmp_path / "library", tmp_path / "root"
    for path, content in {
        "example.org/!dep@v1.0.0/go/dep.go": 'package dep\n\nimport "example.org/other"\n',
        "example.org/!dep@v1.0.0/go/dep_test.go": 'package dep\n\nimport "example.com/m/lib"\n',
        "example.org/other@v0.1.0/other.go": "package other\n",
        "example.org/other@v0.2.0/other.go": 'package other\n\nimport "example.com/m/lib"\n',
        "example.org/plain@v0.2.0/plain.go": 'package plain\n\nimport "example.org/!dep"\n\nimport "fmt"\n',
    }.items():
        (library / path).parent.mkdir(parents=True, exist_ok=True)
        (library / path).write_text(content, "utf-8")
    files = {
        **FILES,
        "back/back.go": 'package back\n\nimport "example.org/Dep/go"\n',
        "gone/gone.go": 'package gone\n\nimport "example.org/gone"\n',
        "std/std.go": 'package std\n\nimport "net/http"\n',
    }
    assert {"back/back.go", "gone/gone.go", "std/std.go"} & seen(root, files, "F", "lib/lib.go", "member", library) == {
        "back/back.go",
        "gone/gone.go",
    }


def test_packages_below_vendor_are_themselves_by_their_paths(tmp_path: Path) -> None:
    files = {
        **FILES,
        "vendor/example.org/dep/dep.go": 'package dep\n\nimport "example.com/m/lib"\n',
        "back/back.go": 'package back\n\nimport "example.org/dep"\n',
    }
    found = seen(tmp_path, files, "F", "lib/lib.go", "member")
    assert {"back/back.go", "vendor/example.org/dep/dep.go"} <= found
    assert "tool/tool.go" not in found


def test_of_a_symbol_outside_of_the_workspace_nothing_is_known(tmp_path: Path) -> None:
    everything = {path for path in FILES if path.endswith(".go")}
    assert seen(tmp_path, FILES, "New", "../elsewhere/a.go", "value") == everything


def test_patterns_of_names_leave_capitals_of_any_script_alone() -> None:
    assert [bool(re.search(VISIBILITY.private_names, name)) for name in ("own", "_x", "New", "Ünï", "日本")] == [
        True,
        True,
        False,
        False,
        False,
    ]
