"""What includes what, by the text alone: never less than the preprocessor takes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.adapters import load_adapter
from lsp_mcp.servers.clangd.compilation.includes import Includes
from lsp_mcp.servers.clangd.rules import COMPILATION

CLANGD = load_adapter("clangd")
PATTERN = COMPILATION.include_pattern


class Tree:
    """Source files in a folder, and what they include."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder
        self.includes = Includes(PATTERN)
        self.files: set[str] = set()
        for name, text in files.items():
            self.write(name, text)
        self.update()

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        self.files.add(name)

    def update(self) -> None:
        files = [self.folder / name for name in sorted(self.files)]
        self.includes.update(files, [path for path in files if CLANGD.language_of(path)])

    def affected(self, *names: str) -> set[str]:
        return self._names(self.includes.affected([self.folder / name for name in names]))

    def reached(self, *names: str) -> set[str]:
        return self._names(self.includes.reached([self.folder / name for name in names]))

    def _names(self, paths: Iterable[Path]) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in paths}


CHAIN = {
    "a.cpp": '#include "b.h"\n',
    "b.h": "#include <sub/c.h>\n",
    "sub/c.h": "",
    "other.cpp": "#include <vector>\n",
}


def test_what_changed_affects_whatever_includes_it_through_others_too(tmp_path: Path) -> None:
    tree = Tree(tmp_path, CHAIN)
    assert tree.affected("sub/c.h") == {"sub/c.h", "b.h", "a.cpp"}
    assert tree.affected("b.h") == {"b.h", "a.cpp"}
    assert tree.affected("a.cpp", "other.cpp") == {"a.cpp", "other.cpp"}
    assert tree.affected() == set()


def test_a_source_reaches_whatever_it_includes_through_others_too(tmp_path: Path) -> None:
    tree = Tree(tmp_path, CHAIN)
    assert tree.reached("a.cpp") == {"a.cpp", "b.h", "sub/c.h"}
    assert tree.reached("b.h", "other.cpp") == {"b.h", "sub/c.h", "other.cpp"}
    assert tree.reached() == set()


def test_files_that_include_each_other_are_not_followed_endlessly(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"a.h": '#include "b.h"', "b.h": '#include "a.h"', "c.h": '#include "c.h"'})
    assert tree.affected("a.h") == tree.reached("a.h") == {"a.h", "b.h"}
    assert tree.affected("c.h") == tree.reached("c.h") == {"c.h"}


@pytest.mark.parametrize(
    "line",
    [
        '#include "sub/c.h"',
        "#include <sub/c.h>",
        "#include<sub/c.h>",
        ' \t#\t include  "sub/c.h"  // why',
        '#include_next "sub/c.h"',
        '#import "sub/c.h"',
        '#include "c.h"',
        '#include "./c.h"',
        '#include "../sub/c.h"',
        '#include "../../anything/../sub/./c.h"',
        '#include "sub//c.h"',
        'int x;\r\n#include "c.h"\r\nint y;',
        '/* why */ #include "c.h"',
        'import "c.h";',
        "import <sub/c.h>;",
        'export import "sub/c.h";',
        '#ifdef NEVER\n#include "c.h"\n#endif',
    ],
)
def test_however_an_include_is_spelled_it_counts(tmp_path: Path, line: str) -> None:
    tree = Tree(tmp_path, {"src/a.cpp": f"{line}\n", "sub/c.h": "", "sub/d.h": ""})
    assert tree.affected("sub/c.h") == {"sub/c.h", "src/a.cpp"}
    assert tree.affected("sub/d.h") == {"sub/d.h"}
    assert tree.reached("src/a.cpp") == {"src/a.cpp", "sub/c.h"}


@pytest.mark.parametrize(
    "line",
    ['#include "xc.h"', '#include "c.hpp"', '#include "other/c.h"', '// #include "c.h"', "#includes <c.h>", "c.h"],
)
def test_what_only_looks_like_an_include_of_it_does_not_count(tmp_path: Path, line: str) -> None:
    tree = Tree(tmp_path, {"src/a.cpp": f"{line}\n", "sub/c.h": "", "other/c.h": ""})
    assert tree.affected("sub/c.h") == {"sub/c.h"}
    assert "sub/c.h" not in tree.reached("src/a.cpp")


def test_an_include_that_no_file_ends_with_may_lead_by_a_link_to_any_of_that_name(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"src/a.cpp": '#include "other/c.h"\n', "sub/c.h": "", "sub/d.h": ""})
    assert tree.affected("sub/c.h") == {"sub/c.h", "src/a.cpp"}
    assert tree.affected("sub/d.h") == {"sub/d.h"}
    assert tree.reached("src/a.cpp") == {"src/a.cpp", "sub/c.h"}
    # Until there is one that it can mean.
    tree.write("other/c.h", "")
    tree.update()
    assert tree.affected("sub/c.h") == {"sub/c.h"}
    assert tree.reached("src/a.cpp") == {"src/a.cpp", "other/c.h"}


def test_an_absolute_include_counts(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"a.cpp": f'#include "{tmp_path}/sub/c.h"\n', "sub/c.h": ""})
    assert tree.affected("sub/c.h") == {"sub/c.h", "a.cpp"}


def test_each_file_whose_path_ends_so_is_one_that_may_be_meant(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"a.cpp": "#include <lib/c.h>\n", "x/lib/c.h": "", "y/lib/c.h": "", "y/c.h": ""})
    assert tree.reached("a.cpp") == {"a.cpp", "x/lib/c.h", "y/lib/c.h"}
    assert tree.affected("y/lib/c.h") == {"y/lib/c.h", "a.cpp"}
    assert tree.affected("y/c.h") == {"y/c.h"}


def test_an_include_that_a_macro_spells_is_affected_by_every_file(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"a.cpp": "#include CONFIG\n", "b.cpp": '#include "a.cpp"\n', "c.h": "", "d.cpp": ""})
    assert tree.affected("c.h") == {"c.h", "a.cpp", "b.cpp"}
    assert tree.affected("d.cpp") == {"d.cpp", "a.cpp", "b.cpp"}


def test_what_the_command_of_a_file_includes_counts_as_if_the_file_did(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {})
    for name, text in {"a.cpp": "", "b.cpp": "", "conf/force.h": '#include "more.h"\n', "conf/more.h": ""}.items():
        tree.write(name, text)
    tree.includes.forced = {tmp_path / "a.cpp": ["../conf/force.h", f"{tmp_path}/none.h"]}
    tree.update()
    assert tree.affected("conf/more.h") == {"conf/more.h", "conf/force.h", "a.cpp"}
    assert tree.affected("none.h") == {"none.h", "a.cpp"}
    assert tree.reached("a.cpp") == {"a.cpp", "conf/force.h", "conf/more.h"}
    # Read again, it is still so.
    tree.includes.forget([tmp_path / "a.cpp"])
    tree.update()
    assert tree.affected("conf/force.h") == {"conf/force.h", "a.cpp"}


def test_files_with_other_extensions_count_where_they_are_included(tmp_path: Path) -> None:
    tree = Tree(
        tmp_path,
        {
            "a.cpp": '#include "table.inc"\n',
            "table.inc": '#include "rows.def"\n',
            "rows.def": '#include "c.h"\n',
            "c.h": "",
            "notes.txt": '#include "c.h"\n',
        },
    )
    assert tree.affected("c.h") == {"c.h", "rows.def", "table.inc", "a.cpp"}
    assert tree.reached("a.cpp") == {"a.cpp", "table.inc", "rows.def", "c.h"}
    assert tmp_path / "notes.txt" not in tree.includes.known


def test_a_file_that_is_not_there_any_more_still_affects_its_includers(tmp_path: Path) -> None:
    tree = Tree(tmp_path, CHAIN)
    (tmp_path / "sub" / "c.h").unlink()
    tree.includes.forget([tmp_path / "sub" / "c.h"])
    tree.files.remove("sub/c.h")
    tree.update()
    assert tree.affected("sub/c.h") == {"sub/c.h", "b.h", "a.cpp"}
    assert tree.reached("a.cpp") == {"a.cpp", "b.h"}


def test_a_file_is_read_again_when_it_is_forgotten_and_only_then(tmp_path: Path) -> None:
    tree = Tree(tmp_path, CHAIN)
    tree.write("other.cpp", '#include "b.h"\n')
    tree.write("new.h", '#include "a.cpp"\n')
    tree.update()
    assert tree.affected("b.h") == {"b.h", "a.cpp", "new.h"}
    tree.includes.forget([tmp_path / "other.cpp", tmp_path / "never seen.h"])
    tree.update()
    assert tree.affected("b.h") == {"b.h", "a.cpp", "new.h", "other.cpp"}


def test_bytes_that_are_not_text_are_not_an_obstacle(tmp_path: Path) -> None:
    (tmp_path / "b\udcff.h").write_text("")
    (tmp_path / "a.cpp").write_bytes(b'\xfe\x00\n#include "b\xff.h"\n')
    tree = Tree(tmp_path, {})
    tree.files = {"a.cpp", "b\udcff.h"}
    tree.update()
    assert tree.affected("b\udcff.h") == {"b\udcff.h", "a.cpp"}


# --- against a model ---------------------------------------------------------------------------------

NAMES = ["a.h", "b.h", "c.cpp", "x/a.h", "x/b.h", "x/y/a.h", "x/y/d.cpp"]
SPELLINGS = [*NAMES, "y/a.h", "../a.h", "../../b.h", "./x/a.h", "x/../b.h", "z/a.h", "d.cpp", "MACRO"]
FILES = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(SPELLINGS), max_size=3), min_size=1)


def meant(spelled: str, name: str) -> bool:
    """Whether an include may mean the file: its last parts are those of the spelling, dots worked out."""
    parts: list[str] = []
    for part in PurePosixPath(spelled).parts:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return PurePosixPath(name).parts[-len(parts) :] == tuple(parts)


def may_mean(spelled: str, name: str, known: Iterable[str]) -> bool:
    """Whether it means the file, or no known one and the file has its name: a link may lead there."""
    one = PurePosixPath(spelled)
    plain = [part for part in one.parts if part != ".."]
    lost = len(plain) > 1 and not any(meant(spelled, other) for other in known)
    return meant(spelled, name) or (lost and one.name == PurePosixPath(name).name)


def below(start: Iterable[str], steps: set[tuple[str, str]]) -> set[str]:
    """All that can be got to from `start`."""
    found = set(start)
    while more := {after for before, after in steps if before in found} - found:
        found |= more
    return found


@given(FILES, st.sets(st.sampled_from(NAMES), max_size=3), st.sets(st.sampled_from(NAMES), max_size=3))
def test_what_is_affected_and_reached_is_what_brute_force_finds(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, list[str]], changed: set[str], sources: set[str]
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    lines = {"MACRO": "#include MACRO\n"}
    tree = Tree(
        folder,
        {name: "".join(lines.get(to, f'#include "{to}"\n') for to in spelled) for name, spelled in files.items()},
    )
    spelled = {name: [to for to in there if to != "MACRO"] for name, there in files.items()}
    by_text = {(name, to) for name in files for to in NAMES if any(may_mean(one, to, files) for one in spelled[name])}
    by_macro = {(name, to) for name in files for to in NAMES if "MACRO" in files[name]}
    assert tree.affected(*changed) == below(changed, {(to, name) for name, to in by_text | by_macro})
    # What a macro may include is not counted as included: it is asked about as a file of its own then.
    assert tree.reached(*sources) == below(sources, {(name, to) for name, to in by_text if to in files})


@given(FILES, FILES)
def test_files_read_one_after_the_other_are_as_if_read_at_once(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, list[str]], after: dict[str, list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("tree")

    def texts(files: dict[str, list[str]]) -> dict[str, str]:
        return {name: "".join(f'#include "{to}"\n' for to in spelled) for name, spelled in files.items()}

    tree = Tree(folder, texts(before))
    tree.affected(*NAMES)
    for name in before.keys() - after.keys():
        (folder / name).unlink()
    tree.files = set()
    for name, text in texts(after).items():
        tree.write(name, text)
    tree.includes.forget([folder / name for name in before.keys() | after.keys()])
    tree.update()
    fresh = Tree(folder, {})
    fresh.files = set(after)
    fresh.update()
    assert set(tree.includes.known) == set(fresh.includes.known)
    for name in NAMES:
        assert tree.affected(name) == fresh.affected(name)
        assert tree.reached(name) == fresh.reached(name)


def test_an_include_of_what_is_not_there_may_lead_anywhere_unless_nothing_of_that_name_is_read(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"a.cpp": '#include "gone.h"\n', "b.cpp": '#include "lib/left.h"\n', "c.cpp": ""})

    def leading_out(*nowhere: str) -> set[str]:
        found = tree.includes.leading_out(lambda _: False, lambda _, name: name in nowhere)
        return {path.name for path in found}

    assert leading_out() == {"a.cpp", "b.cpp"}
    assert leading_out("gone.h") == {"b.cpp"}
    assert leading_out("gone.h", "left.h") == set()
