"""The build of a Go file that the present one excludes by its `//go:build` line: `own_build`."""

from __future__ import annotations

import itertools
import os
import platform
import re
import sys
from collections.abc import Collection, Iterator, Mapping

_LINE = re.compile(r"(?m)^//go:build[ \t]+(\S.*)$")
_TOKEN = re.compile(r"\|\||&&|[!()]|[\w.]+")
_SYSTEMS = frozenset(
    (
        "aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js", "linux", "netbsd", "openbsd",
        "plan9", "solaris", "wasip1", "windows",
    )
)  # fmt: skip
_UNIX = _SYSTEMS - {"js", "plan9", "wasip1", "windows"}
# Decided by the machine, its compiler and Go's version, or not meant to be built with the rest.
_FIXED = re.compile(
    r"unix|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm|gc|gccgo|ignore|go1(?:\.\d+)?"
)
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_MOST_FREE = 8  # tags in one line
_TAGS = re.compile(r"(?:^|(?<=\s))--?tags[= ](\S+)")


def own_build(content: str, given: Mapping[str, str] | None = None) -> dict[str, str] | None:
    """The variables of a build that has a file with this `content`, with as few more tags as possible.

    None if tags do not decide that. `given` are the variables of the present build, by default of this process.
    """
    given = os.environ if given is None else given
    line = _LINE.search(content)
    names = frozenset(re.findall(r"[\w.]+", line[1])) if line else frozenset[str]()
    free = sorted(name for name in names if name not in _SYSTEMS and not _FIXED.fullmatch(name))
    if line is None or not free or len(free) > _MOST_FREE:
        return None
    tokens = _TOKEN.findall(line[1])
    flags = given.get("GOFLAGS", "")
    tags = {tag for found in _TAGS.findall(flags) for tag in found.split(",")}
    here = given.get("GOOS") or ("darwin" if sys.platform == "darwin" else "linux")
    for system in (here, *sorted((names & _SYSTEMS) - {here})):
        for more in _choices(free):
            chosen = {*more, *tags}
            if _holds(tokens, chosen | _facts(system, given, names)):
                return _variables(chosen, flags, given, names, system if system != here else "")
    return None


def _choices(free: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Subsets, the smallest first; with cgo, which is there usually, before without."""
    sets = [some for size in range(len(free) + 1) for some in itertools.combinations(free, size)]
    return iter(sorted(sets, key=lambda some: (len(set(some) - {"cgo"}), "cgo" not in some)))


def _facts(system: str, given: Mapping[str, str], names: Collection[str]) -> set[str]:
    machine = platform.machine()
    architecture = given.get("GOARCH") or _ARCHITECTURES.get(machine, machine)
    versions = {name for name in names if name.startswith("go1")}
    return {system, architecture, "gc", *versions, *(["unix"] if system in _UNIX else [])}


def _variables(
    tags: Collection[str], flags: str, given: Mapping[str, str], names: Collection[str], system: str
) -> dict[str, str]:
    found = {"GOFLAGS": " ".join([*_TAGS.sub("", flags).split(), f"-tags={','.join(sorted({*tags} - {'cgo'}))}"])}
    if "cgo" in names:
        found["CGO_ENABLED"] = "1" if "cgo" in tags else "0"
    return found | ({"GOOS": system} if system else {})


def _holds(tokens: list[str], true: Collection[str]) -> bool:
    """Whether a constraint is met if exactly `true` are; False if it cannot be read."""
    left = list(reversed(tokens))

    def either() -> bool:
        value = both()
        while left and left[-1] == "||":
            left.pop()
            value = both() or value
        return value

    def both() -> bool:
        value = one()
        while left and left[-1] == "&&":
            left.pop()
            value = one() and value
        return value

    def one() -> bool:
        match left.pop():
            case "!":
                return not one()
            case "(":
                value = either()
                left.pop()
                return value
            case name:
                return name in true

    try:
        value = either()
    except IndexError:
        return False
    return value and not left
