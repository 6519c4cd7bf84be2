"""Hooks of mkdocs: README and its neighbours become pages, and the repository's URL comes from pyproject.toml."""

from __future__ import annotations

import posixpath
import re
import tomllib
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

TOP = Path(__file__).resolve().parent.parent
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}
"""The files at the top of the repository, and the page of each."""

# A link in Markdown or a source in HTML: what is before the address, the address without its anchor.
_LINK = re.compile(r"""(\]\(|(?:src|srcset|href)=")([^)"#\s]+)""")


URL: str = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Link to the repository in the footer: with `repo_url` each page would ask GitHub for its stars."""
    config.extra["social"] = [{"icon": "material/source-repository", "link": URL, "name": "Repository"}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from the top of the repository."""
    for source, page in PAGES.items():
        text = (TOP / source).read_text("utf-8")
        moved = _moved(text, "../" * page.count("/"))
        files.append(File.generated(config, page, content=moved))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links that leave docs/ into links to the page that the file has become, or to the repository."""
    if page.file.src_uri in PAGES.values():
        return markdown
    here = posixpath.dirname(posixpath.join("docs", page.file.src_uri))

    def lead(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, link[2]))
        if target in PAGES:
            return link[1] + posixpath.relpath(posixpath.join("docs", PAGES[target]), here)
        if link[2].startswith("../") and not target.startswith("docs/") and (TOP / target).exists():
            return f"{link[1]}{URL}/blob/main/{target}"
        return link[0]

    return _LINK.sub(lead, markdown)


def _moved(text: str, depth: str) -> str:
    return _LINK.sub(lambda link: link[1] + _address(link[2], depth), text)


def _address(address: str, depth: str) -> str:
    """Where a link from the top of the repository leads in the pages; one to a missing file stays, and is told."""
    if re.match(r"[a-z]+:", address):
        return address
    if address in PAGES:
        return depth + PAGES[address]
    if address.startswith("docs/"):
        return depth + address.removeprefix("docs/")
    return f"{URL}/blob/main/{address}" if (TOP / address).exists() else address
