"""How indexes made by scip-typescript 0.4.0 name what a file declares."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from lsp_mcp.index.monikers import escaped

_SCHEME, _MANAGER = "scip-typescript", "npm"
_OUTPUT = re.compile(r'"(?P<key>outDir|declarationDir|rootDir)"\s*:\s*"(?P<folder>[^"]*)"')
_OUTPUTS = ("dist", "lib", "build", "out", "types", "dist/types", "dist/src", "lib/src", "esm", "cjs", "")
_SOURCES = ("src", "lib", "source", "ts", "")
_DECLARED = {".ts": ".d.ts", ".tsx": ".d.ts", ".mts": ".d.mts", ".cts": ".d.cts", ".js": ".d.ts", ".jsx": ".d.ts"}


def index_package(path: Path) -> str:
    """See `Plugin.index_package`: the package whose package.json is the nearest one with a name."""
    found = _package(path)
    return f"{_MANAGER} {found[0]}" if found else ""


def index_symbols(path: Path, name: str, scopes: Sequence[str] = ()) -> tuple[str, ...]:
    """See `Plugin.index_symbols`.

    Another package uses the declaration file that the compiler made of `path`: dist/x.d.ts of src/x.ts.
    """
    found = _package(path)
    words = [*scopes, *re.findall(r"[\w$]+", name)]
    if not found or len(words) == len(scopes):
        return ()
    package, folder, entry = found
    inside = PurePosixPath(path.relative_to(folder).as_posix())
    spaces, owners, own = words[: len(scopes)], words[len(scopes) : -1], words[-1]
    before = "".join(f"{escaped(one)}/" for one in spaces) + "".join(f"{escaped(one)}#" for one in owners)
    if own == "constructor" and owners:
        spelled = [f"{before}`<constructor>`()."]
    else:
        plain = escaped(own)
        spelled = [f"{before}{plain}{end}" for end in ("().", "#", ".", "/", "#`<constructor>`().")]
        if owners:
            spelled += [f"{before}{escaped(f'<{kind}>{own}')}()." for kind in ("get", "set")]
    files = dict.fromkeys([inside.as_posix(), *_declarations(inside, folder), *entry])
    start = f"{_SCHEME} {_MANAGER} {package} "
    return tuple(f"{start}{_namespace(file)}{one}" for file in files for one in spelled)


def _namespace(file: str) -> str:
    return "".join(f"{escaped(part)}/" for part in file.split("/"))


def _declarations(file: PurePosixPath, folder: Path) -> list[str]:
    """The declaration files that may have been made of `file`, whatever configuration made them."""
    extension = _DECLARED.get(file.suffix)
    if extension is None or file.name.endswith((".d.ts", ".d.mts", ".d.cts")):
        return []
    sources, outputs = list(_SOURCES), list(_OUTPUTS)
    for config in folder.glob("tsconfig*.json"):
        try:
            said = config.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        for one in _OUTPUT.finditer(said):
            (sources if one["key"] == "rootDir" else outputs).append(_folder(one["folder"]))
    found = []
    for source in dict.fromkeys(sources):
        if not source or file.is_relative_to(source):
            below = file.relative_to(source) if source else file
            found += [(PurePosixPath(output) / below).with_suffix(extension).as_posix() for output in outputs]
    return found


def _folder(spelled: str) -> str:
    return spelled.removeprefix("./").strip("/").removeprefix(".")


def _package(path: Path) -> tuple[str, Path, list[str]] | None:
    """The name of the package of `path`, its folder, and the declaration files of its entries: one may hold all."""
    for folder in path.parents:
        try:
            said = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(said, dict) and isinstance(name := said.get("name"), str):
            return name, folder, [_folder(file) for file in _entries(said)]
    return None


def _entries(said: object, is_types: bool = False) -> list[str]:
    """The declaration files that package.json names, of its entry points."""
    if isinstance(said, str):
        return [said] if is_types and said.endswith(tuple(_DECLARED.values())) else []
    if isinstance(said, list):
        return [file for one in said for file in _entries(one, is_types)]
    if not isinstance(said, dict):
        return []
    keys = ("types", "typings", "exports") if not is_types else said
    return [file for key in keys if key in said for file in _entries(said[key], True)]
