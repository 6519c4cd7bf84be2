"""How indexes made by `rust-analyzer scip` (1.95) name what a file declares."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.index.monikers import escaped

_SCHEME, _MANAGER = "rust-analyzer", "cargo"
_ROOTS = ("lib.rs", "main.rs", "mod.rs")


def index_package(path: Path) -> str:
    """See `Plugin.index_package`: the crate whose Cargo.toml is the nearest one with a package."""
    found = _crate(path)
    return f"{_MANAGER} {found[0]}" if found else ""


def index_symbols(path: Path, name: str, scopes: Sequence[str] = ()) -> tuple[str, ...]:
    """See `Plugin.index_symbols`. `name` is `f`, `Type.field`, `impl Type.method` or `impl Trait for Type.method`."""
    found = _crate(path)
    owner, _, own = name.rpartition(".")
    if not found or not re.fullmatch(r"(?:r#)?\w+!?", own):
        return ()
    crate, source = found
    if not path.is_relative_to(source):
        return ()
    inside = path.relative_to(source)
    modules = [*inside.parts[:-1], *([] if inside.name in _ROOTS else [inside.stem]), *scopes]
    module = "".join(f"{escaped(one)}/" for one in modules)
    implemented = _implemented(owner)
    if implemented:
        before = f"{module}impl#" + "".join(f"[{escaped(one)}]" for one in implemented)
    else:
        before = module + "".join(f"{escaped(one)}#" for one in owner.split(".") if owner)
    plain = escaped(own.removesuffix("!"))
    ends = [f"{before}{plain}{end}" for end in ("().", "#", ".", "/")]
    macros = [] if owner else [f"{plain}!"]  # exported ones are the crate's, wherever they are
    return tuple(f"{_SCHEME} {_MANAGER} {crate} {one}" for one in (*ends, *macros))


def _implemented(owner: str) -> list[str]:
    """The type, and the trait if there is one, of `impl<…> Trait for Type`, as an outline names it; else nothing."""
    if not re.match(r"impl\b", owner):
        return []
    rest = owner.removeprefix("impl")
    if rest.startswith("<"):
        depth = 0
        for at, letter in enumerate(rest):
            depth += (letter == "<") - (letter == ">" and rest[at - 1] != "-")
            if not depth:
                rest = rest[at + 1 :]
                break
    rest = rest.partition(" where ")[0].strip().removeprefix("!")
    trait, between, type_name = rest.rpartition(" for ") if not rest.startswith("for<") else ("", "", rest)
    return [type_name, trait] if between else [type_name]


def _crate(path: Path) -> tuple[str, Path] | None:
    """The name of the crate of `path`, and the folder of its library's first file."""
    for folder in path.parents:
        try:
            said = tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(name := _of(said, "package", "name"), str):
            library = _of(said, "lib", "path")
            return name, (folder / library).parent if isinstance(library, str) else folder / "src"
    return None


def _of(said: dict[str, object], table: str, key: str) -> object:
    found = said.get(table)
    return found.get(key) if isinstance(found, dict) else None
