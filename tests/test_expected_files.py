"""The files that a coming call may be about."""

import pytest

from lsp_mcp.sessions.expected import file_names


@pytest.mark.parametrize(
    ("argument", "names"),
    [
        ("cpp://include/a.hpp#36:7", ["include/a.hpp"]),
        ("cpp:///usr/include/a.h#1:1", ["/usr/include/a.h"]),
        ("go://a%20b.go#1:1", ["a b.go"]),
        ("src/a.go:12:Name", ["src/a.go"]),
        ("error in ../a.cc(3): `b.h`", ["../a.cc", "b.h"]),
        ("Type.Method", ["Type.Method"]),
        ("Name", []),
        ("", []),
    ],
)
def test_names_of_files_are_found_in_anchors_addresses_and_paths(argument: str, names: list[str]) -> None:
    assert list(file_names([argument])) == names
