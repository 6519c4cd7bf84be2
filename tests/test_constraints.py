"""constraints.txt, the versions that `make env LOCKED=true` installs."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOP = Path(__file__).resolve().parent.parent


def locked() -> dict[str, str]:
    lines = (TOP / "constraints.txt").read_text("utf-8").splitlines()
    found = [Requirement(line) for line in lines]
    return {canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one in found}


def required() -> list[Requirement]:
    data = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))
    groups = [*data["project"]["optional-dependencies"].values(), *data["dependency-groups"].values()]
    lines = [*data["project"]["dependencies"], *(line for group in groups for line in group)]
    return [Requirement(line) for line in lines if isinstance(line, str)]


def test_the_locked_versions_are_in_the_ranges_of_the_dependencies() -> None:
    versions = locked()
    known = [(one, canonicalize_name(one.name)) for one in required() if canonicalize_name(one.name) in versions]
    assert len(known) > 30
    wrong = [f"{one}: {versions[name]}" for one, name in known if versions[name] not in one.specifier]
    assert not wrong, f"run make lock: {wrong}"


def test_the_locked_versions_name_no_place_to_get_them_from() -> None:
    assert not re.search(r"://|--index|@", (TOP / "constraints.txt").read_text("utf-8"))
