"""Builds of Rust's code that have what stands under conditions."""

from __future__ import annotations

from typing import Any

import pytest

from lsp_mcp.servers.rust_analyzer.builds import builds_with, features_in, settings_of


@pytest.mark.parametrize(
    ("conditions", "build"),
    [
        (['feature = "kv"'], "feature=kv"),
        (['feature="kv"', 'all(feature = "std", not(feature = "slow"))'], "!feature=slow,feature=kv,feature=std"),
        (["any(loom, windows)", "test"], "loom"),
        (["any(not(test), windows)"], "windows"),
        (['not(any(unix, target_os = "wasi"))', "not(all(miri, one))"], "!target_os=wasi,!unix"),
        ([], ""),
        (["unix", "not(unix)"], ""),
        (["not(test)"], ""),
        (["feature = kv)"], ""),
        (["all(", "unix"], ""),
        (["version(1.80)"], ""),
    ],
)
def test_a_build_sets_what_the_conditions_need(conditions: list[str], build: str) -> None:
    assert builds_with([conditions]) == [build]


def test_places_share_a_build_that_has_what_all_of_them_need() -> None:
    of_places = [["one"], ['feature = "a"'], ["windows"], ["not(one)"], [], ['target_os = "macos"', 'feature = "b"']]
    assert builds_with(of_places) == [
        "feature=a,one,windows", "feature=a,one,windows", "feature=a,one,windows",
        "!one,feature=b,target_os=macos", "", "!one,feature=b,target_os=macos",
    ]  # fmt: skip
    assert builds_with([['feature = "a"'], ['not(feature = "b")']]) == ["feature=a", "!feature=b"]


PACKAGES = [
    features_in({"features": {"default": ["std", "fast"], "std": ["alloc"], "alloc": [], "fast": [], "kv": ["std"]}}),
    features_in({"dependencies": {"serde": {"version": "1", "optional": True}, "libc": "0.2"}}),
]


@pytest.mark.parametrize(
    ("build", "settings"),
    [
        ("", {}),
        ("feature=kv,loom", {"cargo.cfgs": ["usual", "loom"], "cargo.features": ["kv"]}),
        ("feature=serde,feature=other", {"cargo.cfgs": ["usual", "feature=other"], "cargo.features": ["serde"]}),
        ("!feature=kv", {"cargo.cfgs": ["usual"]}),
        (
            "!feature=alloc",
            {"cargo.cfgs": ["usual"], "cargo.noDefaultFeatures": True, "cargo.features": ["fast"]},
        ),
        ("windows", {"cargo.cfgs": ["usual"], "cargo.target": "x86_64-pc-windows-msvc"}),
        (
            "target_pointer_width=16,!unix",
            {"cargo.cfgs": ["usual", "target_pointer_width=16", "!unix", "!target_pointer_width=64"]},
        ),
    ],
)
def test_the_server_is_told_what_a_build_sets(build: str, settings: dict[str, Any]) -> None:
    assert settings_of(build, ["usual"], PACKAGES) == settings
