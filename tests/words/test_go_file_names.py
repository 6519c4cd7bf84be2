"""What the name of a Go file says about its build."""

from __future__ import annotations

import pytest

from lsp_mcp.servers.gopls.file_names import build_change, systems_of


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("a.go", "b.go", ""),
        ("a.go", "linux.go", ""),
        ("a.go", "a_b.go", ""),
        ("a_linux.go", "b_linux.go", ""),
        ("a_test.go", "b_test.go", ""),
        ("a.go", "_b.go", "the go command ignores _b.go"),
        ("a.go", ".b.go", "the go command ignores .b.go"),
        ("_a.go", "b.go", "the go command ignores _a.go, but not b.go"),
        ("a.go", "b_windows.go", "b_windows.go is built for windows only"),
        ("a.go", "b_linux_arm64.go", "b_linux_arm64.go is built for linux and arm64 only"),
        ("a.go", "b_windows.x.go", "b_windows.x.go is built for windows only"),
        ("a.go", "b.x_windows.go", ""),
        ("a_linux.go", "a.go", "a.go is built for every system, a_linux.go for linux only"),
        ("a.go", "a_test.go", "a_test.go is built with tests only, unlike a.go"),
        ("a_test.go", "a.go", "a.go is not a test file, unlike a_test.go"),
        ("a_test.go", "a_windows_test.go", "a_windows_test.go is built for windows only"),
    ],
)
def test_another_name_of_a_file_may_change_its_build(old: str, new: str, change: str) -> None:
    assert build_change(old, new) == change


@pytest.mark.parametrize(
    ("name", "content", "systems"),
    [
        ("a.go", "package a\n", set()),
        ("a_linux.go", "package a\n", {"linux"}),
        ("a_linux_arm64_test.go", "package a\n", {"linux", "arm64"}),
        ("a.go", "//go:build windows && !cgo\n\npackage a\n", {"windows"}),
        ("a_arm.go", "//go:build darwin || plan9\n\npackage a\n", {"arm", "darwin", "plan9"}),
        ("a.go", "package a\n\n// go:build windows\n", set()),
    ],
)
def test_a_file_names_the_systems_that_it_is_for(name: str, content: str, systems: set[str]) -> None:
    assert systems_of(name, content) == systems
