"""For the release workflow: `check TAG URL` that everything agrees, `notes TAG` prints the changelog of that version.

Exits with 1 and says what to change. Needs the standard library only.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def problems(tag: str, url: str, top: Path = TOP) -> list[str]:
    """The reasons not to release `top` as `tag` from the repository at `url`."""
    version = re.search(r'__version__ = "(.+)"', (top / "src/lsp_mcp/__init__.py").read_text("utf-8"))
    assert version
    named = tomllib.loads((top / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
    entry = json.loads((top / "server.json").read_text("utf-8"))
    found = []
    if tag != f"v{version[1]}":
        found.append(f"the tag is {tag}, the version in src/lsp_mcp/__init__.py is {version[1]}")
    if named != url:
        found.append(
            f"[project.urls] in pyproject.toml names {named}, this is {url}: replace it and run `make reference`"
        )
    if not notes(tag, top):
        found.append(f"CHANGELOG.md has no section [{tag.removeprefix('v')}]: rename [Unreleased] and date it")
    plugin = json.loads((top / "claude/.claude-plugin/plugin.json").read_text("utf-8"))
    if plugin["version"] != version[1]:
        found.append(f"claude/.claude-plugin/plugin.json has the version {plugin['version']}")
    if entry["version"] != version[1] or entry["repository"]["url"] != named:
        found.append("server.json is not up to date: run `make reference`")
    if f"mcp-name: {entry['name']} " not in (top / "README.md").read_text("utf-8"):
        found.append("the last line of README.md is not up to date: run `make reference`")
    return found


def notes(tag: str, top: Path = TOP) -> str:
    """The section of the changelog about `tag`; empty if there is none."""
    text = (top / "CHANGELOG.md").read_text("utf-8")
    section = re.search(rf"^## \[{re.escape(tag.removeprefix('v'))}\][^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return section[1].strip() if section else ""


def main(command: str, tag: str, url: str = "") -> int:
    """See the module."""
    if command == "notes":
        print(notes(tag))
        return 0
    found = problems(tag, url)
    print("\n".join(found) or f"{tag} can be released", file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
