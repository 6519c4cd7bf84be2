"""Where the names of an indexer are not known, other repositories are matched by name, and the answer says so."""

from pathlib import Path

from asking import Asked, asking, skip_without
from index.scip_files import DEFINITION, document, occurrence, write
from lsp_mcp.index.gathering import gather
from lsp_mcp.index.store import IndexStore

skip_without("clangd")

WIDTH = "cxx . lib . ui/Window#width(49f6e7a06ebc5aa8)."


def test_uses_of_a_method_are_matched_by_its_name(tmp_path: Path) -> None:
    root = tmp_path / "lib"
    root.mkdir()
    (root / "window.h").write_text(
        "#pragma once\nnamespace ui {\nstruct Window {\n  int width() const { return 1; }\n};\n}  // namespace ui\n"
    )
    (root / "main.cpp").write_text('#include "window.h"\nint main() { return ui::Window().width(); }\n')
    url = f"sqlite:///{tmp_path / 'index.sqlite3'}"
    store = IndexStore(url)
    for repository, place in (
        ("lib", document("window.h", occurrence(WIDTH, 3, 6, 11, DEFINITION))),
        ("app", document("app/app.cpp", occurrence(WIDTH, 8, 4, 9))),
    ):
        store.push(gather(write(tmp_path / "i.scip", place), None, with_text=False), repository, "abc")
    store.close()

    async def question(ask: Asked) -> None:
        found = await ask("find_symbol_references_by_anchor", symbol_anchor="Window::width")
        assert len(found["references"]) == 2
        (there,) = found["elsewhere"]["repositories"]
        assert there["anchors"] == ["cpp://app@abc/app/app.cpp#9:5"]
        assert "matched by the name alone" in found["status"]

    asking("clangd", root, question, index_store=url)
