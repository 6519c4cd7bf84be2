"""Which build has a Go file, by its build constraint."""

from __future__ import annotations

import pytest

from lsp_mcp.servers.gopls.build_tags import own_build

HERE = {"GOOS": "linux", "GOARCH": "amd64"}


@pytest.mark.parametrize(
    ("line", "variables"),
    [
        ("fast", {"GOFLAGS": "-tags=fast"}),
        ("fast && !slow", {"GOFLAGS": "-tags=fast"}),
        ("(a && b) || c", {"GOFLAGS": "-tags=c"}),
        ("!cgo", {"GOFLAGS": "-tags=", "CGO_ENABLED": "0"}),
        ("cgo && fast", {"GOFLAGS": "-tags=fast", "CGO_ENABLED": "1"}),
        ("fast && linux && amd64 && go1.20", {"GOFLAGS": "-tags=fast"}),
        ("fast && (windows || darwin)", {"GOFLAGS": "-tags=fast", "GOOS": "darwin"}),
        ("race", {"GOFLAGS": "-tags=race"}),
        ("ignore", None),
        ("windows", None),
        ("fast && !go1.20", None),
        ("fast && !fast", None),
        ("fast &&", None),
        ("fast && (arm64", None),
    ],
)
def test_a_build_that_has_a_file_has_as_few_tags_as_possible(line: str, variables: dict[str, str] | None) -> None:
    assert own_build(f"// Licence.\n\n//go:build {line}\n\npackage a\n", HERE) == variables


def test_a_file_without_a_constraint_has_no_build_of_its_own() -> None:
    assert own_build("package a\n\n// see //go:build fast\n", HERE) is None


def test_the_tags_and_flags_that_the_user_gives_stay() -> None:
    given = {**HERE, "GOFLAGS": "-mod=mod -tags=slow,a -trimpath"}
    assert own_build("//go:build fast && a\n", given) == {"GOFLAGS": "-mod=mod -trimpath -tags=a,fast,slow"}
    assert own_build("//go:build fast && !slow\n", given) is None
