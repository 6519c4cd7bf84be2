"""Which packages Cargo loads together, by their manifests."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.servers.rust_analyzer.workspaces import MANIFEST, workspace_of, workspaces

PACKAGE = '[package]\nname = "a"\n'


def found(root: Path, manifests: dict[str, str]) -> list[str]:
    paths = written(root, manifests)
    return [str(path.parent.relative_to(root)) for path in workspaces(paths)]


def written(root: Path, manifests: dict[str, str]) -> list[Path]:
    paths = [root / folder / MANIFEST for folder in manifests]
    for path, text in zip(paths, manifests.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return paths


def test_members_of_a_workspace_are_loaded_with_it(tmp_path: Path) -> None:
    root = '[workspace]\nmembers = ["crates/*"]\n'
    assert found(tmp_path, {".": root, "crates/a": PACKAGE, "crates/a/inner": PACKAGE}) == ["."]


def test_a_package_below_a_plain_package_is_loaded_by_itself(tmp_path: Path) -> None:
    assert found(tmp_path, {".": PACKAGE, "xtask": PACKAGE, "tools/a": PACKAGE}) == [".", "xtask", "tools/a"]


def test_a_workspace_below_another_is_loaded_by_itself(tmp_path: Path) -> None:
    root = "[workspace]\n"
    assert found(tmp_path, {".": root, "fuzz": f"{PACKAGE}[workspace]\n", "fuzz/a": PACKAGE}) == [".", "fuzz"]


def test_a_package_that_a_workspace_excludes_is_loaded_by_itself(tmp_path: Path) -> None:
    root = '[workspace]\nmembers = ["old/kept"]\nexclude = ["old"]\n'
    assert found(tmp_path, {".": root, "old/a": PACKAGE, "old/kept": PACKAGE}) == [".", "old/a"]


def test_a_package_may_name_its_workspace_beside_it(tmp_path: Path) -> None:
    manifests = {"all": '[workspace]\nmembers = ["../a"]\n', "a": '[package]\nname = "a"\nworkspace = "../all"\n'}
    paths = written(tmp_path, manifests)
    roots = workspaces(paths)
    assert roots == [tmp_path / "all" / MANIFEST]
    assert workspace_of(tmp_path / "a/src/lib.rs", roots, paths) == roots[0]


def test_a_file_belongs_to_the_workspace_that_has_its_package(tmp_path: Path) -> None:
    manifests = {".": '[workspace]\nexclude = ["b"]\n', "a": PACKAGE, "b": PACKAGE}
    paths = written(tmp_path, manifests)
    roots = workspaces(paths)
    assert workspace_of(tmp_path / "a/src/lib.rs", roots, paths) == tmp_path / MANIFEST
    assert workspace_of(tmp_path / "b/src/lib.rs", roots, paths) == tmp_path / "b" / MANIFEST
    assert workspace_of(tmp_path.parent / "c.rs", roots, paths) is None


def test_a_manifest_that_cannot_be_parsed_may_still_be_a_workspace(tmp_path: Path) -> None:
    assert found(tmp_path, {".": "[workspace]\nmembers = [\n", "a": PACKAGE}) == ["."]
