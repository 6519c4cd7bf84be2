"""What an overview of a workspace is made of: `lsp_mcp.features.overview`."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.features.overview.graph import circles, layers
from lsp_mcp.features.overview.imported import Folders

EDGES = st.dictionaries(st.sampled_from("abcdefgh"), st.frozensets(st.sampled_from("abcdefgh")))


def test_a_part_is_above_all_that_it_depends_on() -> None:
    edges = {"cmd": {"web", "store"}, "web": {"store", "text"}, "store": {"text"}}
    assert layers(edges) == [["text"], ["store"], ["web"], ["cmd"]]
    assert circles(edges) == []


def test_parts_that_need_each_other_are_a_circle_in_one_layer() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "text"}, "top": {"a"}}
    assert circles(edges) == [["a", "b", "c"]]
    assert layers(edges) == [["text"], ["a", "b", "c"], ["top"]]


@given(edges=EDGES)
def test_each_part_is_in_one_layer_and_what_it_needs_is_lower_unless_in_its_circle(
    edges: dict[str, frozenset[str]],
) -> None:
    found = layers(edges)
    parts = {*edges, *(other for others in edges.values() for other in others)}
    assert sorted(part for layer in found for part in layer) == sorted(parts)
    level = {part: number for number, layer in enumerate(found) for part in layer}
    together = {part: frozenset(group) for group in circles(edges) for part in group}
    for part, others in edges.items():
        for other in others - together.get(part, frozenset([part])):
            assert level[other] < level[part]


FILES = [
    *("main.go", "store/disk/disk.go", "store/store.go", "web/web.go"),
    *("src/app/models/user.py", "src/app/__init__.py", "src/app/views.py", "src/json.py", "tools/gen/json.py"),
    *("include/lib/a.h", "lib/a.cc", "lib/b.h", "ui/index.ts", "ui/parts/button.tsx"),
    *("crate/src/lib.rs", "crate/src/util/mod.rs"),
]
GO = [("example.com/x", ".")]


@pytest.mark.parametrize(
    ("spelled", "importer", "folder"),
    [
        ("example.com/x/store/disk", "main.go", "store/disk"),
        ("example.com/x", "web/web.go", ""),
        ("example.com/xy/store", "main.go", None),
        ("store", "main.go", None),
    ],
)
def test_imports_with_known_beginnings_lead_only_where_these_say(
    spelled: str, importer: str, folder: str | None
) -> None:
    meant = Folders(map(PurePosixPath, FILES), GO).meant(spelled, PurePosixPath(importer))
    assert (meant and meant[0]) == folder


@pytest.mark.parametrize(
    ("spelled", "importer", "folder"),
    [
        ("app.models.user", "src/app/views.py", "src/app/models"),
        (".models", "src/app/views.py", "src/app/models"),
        ("..json", "src/app/views.py", "src"),
        ("os.path", "src/app/views.py", None),
        ("lib/a.h", "lib/a.cc", "include/lib"),
        ("b.h", "lib/a.cc", "lib"),
        ("vector", "lib/a.cc", None),
        ("./parts/button", "ui/index.ts", "ui/parts"),
        ("../index", "ui/parts/button.tsx", "ui"),
        ("react", "ui/index.ts", None),
        ("crate::util::helper", "crate/src/lib.rs", "crate/src/util"),
        ("std::io", "crate/src/lib.rs", None),
    ],
)
def test_other_imports_lead_to_the_folder_that_is_spelled_alike(
    spelled: str, importer: str, folder: str | None
) -> None:
    meant = Folders(map(PurePosixPath, FILES)).meant(spelled, PurePosixPath(importer))
    assert (meant and meant[0]) == folder


@pytest.mark.parametrize(
    ("spelled", "importer", "file"),
    [
        ("app.models.user", "src/app/views.py", "src/app/models/user.py"),
        (".models", "src/app/views.py", ""),
        ("b.h", "lib/a.cc", "lib/b.h"),
        ("./parts/button", "ui/index.ts", "ui/parts/button.tsx"),
    ],
)
def test_an_import_that_names_a_file_leads_to_it(spelled: str, importer: str, file: str) -> None:
    meant = Folders(map(PurePosixPath, FILES)).meant(spelled, PurePosixPath(importer))
    assert meant is not None
    assert meant[1] == file
