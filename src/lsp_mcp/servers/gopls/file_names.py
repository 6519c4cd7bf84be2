"""What a Go file's name says about its build (`go help packages`, `go help buildconstraint`): `build_change`. Pure."""

from __future__ import annotations

import re

from msgspec import Struct

# As in go/build/syslist.go of Go 1.25; names of the past and the future count too.
# fmt: off
SYSTEMS = frozenset([
    "aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "js", "linux", "nacl", "netbsd",
    "openbsd", "plan9", "solaris", "wasip1", "windows", "zos",
])
PROCESSORS = frozenset([
    "386", "amd64", "amd64p32", "arm", "armbe", "arm64", "arm64be", "loong64", "mips", "mipsle", "mips64",
    "mips64le", "mips64p32", "mips64p32le", "ppc", "ppc64", "ppc64le", "riscv", "riscv64", "s390", "s390x", "sparc",
    "sparc64", "wasm",
])
# fmt: on


_LINE = re.compile(r"(?m)^//go:build[ \t]+(\S.*)$")


class _Build(Struct, frozen=True):
    """Whether the go command ignores a file, whether it is a test, and the system and processor that it is for."""

    is_ignored: bool
    is_test: bool
    only: tuple[str, ...]


def build_change(old: str, new: str) -> str:
    """What is different in the build when the file `old` is called `new`; empty if nothing is."""
    before, after = _build(old), _build(new)
    if before == after:
        return ""
    if after.is_ignored:
        return f"the go command ignores {new}"
    if before.is_ignored:
        return f"the go command ignores {old}, but not {new}"
    if after.is_test != before.is_test:
        return f"{new} is {'built with tests only' if after.is_test else 'not a test file'}, unlike {old}"
    if after.only:
        return f"{new} is built for {' and '.join(after.only)} only"
    return f"{new} is built for every system, {old} for {' and '.join(before.only)} only"


def systems_of(name: str, content: str) -> frozenset[str]:
    """The systems and processors in the name of a file and in its `//go:build` line."""
    line = _LINE.search(content)
    written = re.findall(r"\w+", line[1]) if line else ()
    return frozenset((*_build(name).only, *written)) & (SYSTEMS | PROCESSORS)


def _build(name: str) -> _Build:
    stem, _, _ = name.partition(".")
    is_test = name.endswith("_test.go")
    # What is before the first underscore is never a system: linux.go is built everywhere.
    parts = stem.removesuffix("_test").split("_")[1:]
    only: tuple[str, ...] = ()
    if len(parts) > 1 and parts[-2] in SYSTEMS and parts[-1] in PROCESSORS:
        only = parts[-2], parts[-1]
    elif parts and parts[-1] in SYSTEMS | PROCESSORS:
        only = (parts[-1],)
    return _Build(name.startswith(("_", ".")), is_test, only)
