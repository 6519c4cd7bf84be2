"""Answers about a Go module name what other repositories do with it: real gopls, SCIP as scip-go 0.2.9 spells it."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from asking import Asked, asking, skip_without
from index.scip_files import DEFINITION, document, field, go_symbol, implements, occurrence, write
from lsp_mcp.errors import CallerError
from lsp_mcp.index import elsewhere, place
from lsp_mcp.index.gathering import gather
from lsp_mcp.index.store import IndexStore

skip_without("gopls")

GREETINGS = """package greet

// Greeter greets.
type Greeter interface{ Greet(name string) string }

// Config says how.
type Config struct{ Loud bool }

// Say says it.
func (c *Config) Say(name string) string { return Hello(name) }

// Hello greets.
func Hello(name string) string { return inner(name) }

func inner(name string) string { return name }
"""
PACKAGE = "example.com/a/greet"


def a(descriptors: str) -> str:
    return go_symbol(PACKAGE, descriptors, module="example.com/a", version="v1.2.0")


def b(descriptors: str) -> str:
    return go_symbol("example.com/b", descriptors, module="example.com/b", version=".")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "a"
    (root / "greet").mkdir(parents=True)
    (root / "go.mod").write_text("module example.com/a\n\ngo 1.21\n")
    (root / "greet" / "greet.go").write_text(GREETINGS)
    return root


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Indexes of the module itself and of one that uses it."""
    url = f"sqlite:///{tmp_path / 'index.sqlite3'}"
    own = write(
        tmp_path / "a.scip",
        document(
            "greet/greet.go", occurrence(a("Hello()."), 12, 5, 10, DEFINITION), occurrence(a("Hello()."), 9, 50, 55)
        ),
    )
    other = write(
        tmp_path / "b.scip",
        document(
            "polite/polite.go",
            occurrence(b("Polite#"), 6, 5, 11, DEFINITION),
            occurrence(a("Config#Loud."), 10, 16, 20),
            occurrence(a("Hello()."), 11, 10, 15),
            occurrence(a("Hello()."), 13, 10, 15),
            occurrence(a("Config#Say()."), 11, 26, 29),
            implements(b("Polite#"), a("Greeter#")),
        ),
    )
    opened = IndexStore(url)
    opened.push(gather(own, None, with_text=False), "example.com/a", "aaa111")
    opened.push(gather(other, None, with_text=False), "example.com/b", "bbb222")
    opened.close()
    return url


def test_the_impact_of_a_change_includes_uses_in_another_repository(root: Path, store: str) -> None:
    async def question(ask: Asked) -> None:
        file = root / "greet" / "greet.go"
        file.write_text(file.read_text().replace("func Hello(name string)", "func Hello(name string, loud bool)"))

        found = await ask("find_impact", symbols=["Hello"])

        assert found["elsewhere"]["summary"] == "2 uses in 1 other repository"
        (there,) = found["elsewhere"]["repositories"]
        assert (there["repository"], there["commit"], there["version"]) == ("example.com/b", "bbb222", "v1.2.0")
        assert there["anchors"] == [
            "go://example.com/b@bbb222/polite/polite.go#12:11",
            "go://example.com/b@bbb222/polite/polite.go#14:11",
        ]
        assert "elsewhere only 1 indexed repository is known, each as of its commit" in found["status"]

    asking("gopls", root, question, index_store=store)


def test_the_status_says_which_indexes_are_older_than_the_text_and_that_versions_differ(
    root: Path, store: str, tmp_path: Path
) -> None:
    old = go_symbol(PACKAGE, "Hello().", module="example.com/a", version="v1.0.0")
    file = write(tmp_path / "d.scip", document("d.go", occurrence(old, 3, 4, 9)))
    opened = IndexStore(store)
    opened.push(gather(file, None, with_text=False), "example.com/d", "ddd444")
    opened.close()
    text = root / "greet" / "greet.go"

    async def question(ask: Asked) -> None:
        os.utime(text, (1, 1))
        found = await ask("find_symbol_references_by_anchor", symbol_anchor="Hello")
        assert "uses are of 2 versions: v1.0.0, v1.2.0" in found["status"]
        assert "older than" not in found["status"]

        os.utime(text)
        found = await ask("find_symbol_references_by_anchor", symbol_anchor="Hello")
        assert "2 of these indexes are older than greet.go here" in found["status"]

    asking("gopls", root, question, index_store=store)


def test_a_root_inside_a_repository_may_be_used_by_its_other_folders(root: Path, store: str) -> None:
    (root.parent / ".git").mkdir()

    async def question(ask: Asked) -> None:
        found = await ask("find_symbol_references_by_anchor", symbol_anchor="Hello")
        assert "of example.com/a only a is open: uses in its other folders are not known" in found["status"]

        (root / ".git").mkdir()
        found = await ask("find_symbol_references_by_anchor", symbol_anchor="Hello")
        assert "is open" not in found["status"]

    asking("gopls", root, question, index_store=store)


def test_more_symbols_of_one_name_than_are_looked_at_are_a_gap(
    root: Path, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "_MOST_NAMES", 20)
    alike = [
        occurrence(go_symbol(f"example.com/e/p{number}", "Same().", module="example.com/e"), number, 5, 9, DEFINITION)
        for number in range(30)
    ]
    opened = IndexStore(store)
    opened.push(gather(write(tmp_path / "e.scip", document("e.go", *alike)), None, with_text=False), "ex.com/e", "eee")
    opened.close()

    async def question(ask: Asked) -> None:
        found = await ask("find_symbol_definitions_by_name", symbol_name="Same")
        assert len(anchors(found)) == 20
        assert "elsewhere more symbols have that name than were looked at" in found["status"]

    asking("gopls", root, question, index_store=store)


def test_uses_of_members_and_implementations_are_found_elsewhere(root: Path, store: str) -> None:
    async def question(ask: Asked) -> None:
        for symbol, line in (("Config.Say", 12), ("Config.Loud", 11)):
            found = await ask("find_symbol_references_by_anchor", symbol_anchor=symbol)
            assert anchors(found) == [f"go://example.com/b@bbb222/polite/polite.go#{line}:{27 if line == 12 else 17}"]
            is_method = symbol == "Config.Say"
            assert ("through an interface or a base are not counted" in found["status"]) is is_method
        found = await ask("find_implementations", symbol="Greeter")
        assert anchors(found) == ["go://example.com/b@bbb222/polite/polite.go#7:6"]
        found = await ask("find_symbol_definitions_by_name", symbol_name="Polite")
        assert anchors(found) == ["go://example.com/b@bbb222/polite/polite.go#7:6"]

    asking("gopls", root, question, index_store=store)


def test_no_other_repository_can_use_a_symbol_that_is_not_exported(root: Path, store: str) -> None:
    async def question(ask: Asked) -> None:
        found = await ask("find_symbol_references_by_anchor", symbol_anchor="inner")
        assert "elsewhere" not in found
        assert found["status"].startswith("complete")

    asking("gopls", root, question, index_store=store)


def test_the_source_at_an_anchor_of_another_repository_is_read_from_the_store(
    root: Path, store: str, tmp_path: Path
) -> None:
    text = "package c\n\n// Cheer cheers.\nfunc Cheer() {\n\ta.Hello()\n}\n"
    cheer = go_symbol("example.com/c", "Cheer().", module="example.com/c", version=".")
    extent = field(7, bytes([3, 0, 5, 1]))
    defined = field(2, field(1, bytes([3, 5, 10])) + field(2, cheer) + field(3, DEFINITION) + extent)
    file = write(tmp_path / "c.scip", document("c.go", defined, occurrence(a("Hello()."), 4, 3, 8), text=text))
    opened = IndexStore(store)
    opened.push(gather(file, None, with_text=True), "example.com/c", "ccc333")
    opened.close()

    async def question(ask: Asked) -> None:
        for line, character in ((4, 6), (5, 4)):  # the definition, and a use inside it
            found = await ask("read_symbol", symbols=[f"go://example.com/c@ccc333/c.go#{line}:{character}"])
            (source,) = found["symbols"]
            assert source["text"] == "func Cheer() {\n\ta.Hello()\n}"
            assert source["name"] == "Cheer"
            assert (source["start_line"], source["end_line"]) == (4, 6)
            assert found["message"] == "Read 1 symbol."
        found = await ask("read_symbol", symbols=["go://example.com/b@bbb222/polite/polite.go#12:11"])
        assert "was stored without its text" in found["symbols"][0]["error"]

    asking("gopls", root, question, index_store=store)


def test_a_store_that_cannot_be_opened_is_a_gap(root: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.sqlite3"
    broken.write_bytes(b"not a database" * 100)

    async def question(ask: Asked) -> None:
        found = await ask("find_symbol_references_by_anchor", symbol_anchor="Hello")
        assert "other repositories were not asked: the index store" in found["status"]
        assert len(found["references"]) == 2

    asking("gopls", root, question, index_store=f"sqlite:///{broken}")


def test_without_a_store_nothing_is_asked_or_imported(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "default_file", lambda: tmp_path / "none.sqlite3")
    for name in [name for name in sys.modules if name.startswith("lsp_mcp.index.elsewhere")]:
        monkeypatch.delitem(sys.modules, name)

    async def question(ask: Asked) -> None:
        found = await ask("find_symbol_references_by_anchor", symbol_anchor="Hello")
        assert "elsewhere" not in found
        assert found["status"].startswith("complete")
        assert "lsp_mcp.index.elsewhere" not in sys.modules

    asking("gopls", root, question)


def anchors(found: dict[str, Any]) -> list[str]:
    return [anchor for one in found["elsewhere"]["repositories"] for anchor in one["anchors"]]


def test_tools_take_a_place_in_another_repository_or_say_that_it_is_read_only(root: Path, store: str) -> None:
    place = "go://example.com/b@bbb222/polite/polite.go#12:11"

    async def question(ask: Asked) -> None:
        found = await ask("find_symbol_references_by_anchor", symbol_anchor=place)
        assert found["message"] == "Found 4 references to Hello in 2 repositories."
        found = await ask("list_symbols_in_file", file_path=place.partition("#")[0] + "#1:1")
        assert [one["name"] for one in found["file_symbols"]] == ["Polite"]
        for tool, name in (
            ("find_calls", "symbol"),
            ("edit_symbol", "symbol"),
            ("rename_symbol_by_anchor", "symbol_anchor"),
        ):
            more = {"edit_symbol": {"action": "delete"}, "rename_symbol_by_anchor": {"new_name": "Hi"}}.get(tool, {})
            with pytest.raises(CallerError, match=r"is a place in the index of example.com/b, which is read only"):
                await ask(tool, **{name: place}, **more)

    asking("gopls", root, question, index_store=store)
