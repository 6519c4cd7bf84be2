"""The description on the package index: README.md with absolute addresses, since relative ones lead nowhere there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReadmeHook(MetadataHookInterface):
    """Sets `readme`, which pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Pages link to the repository, pictures to their raw content."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        repository = metadata["urls"]["Repository"]
        raw = repository.replace("https://github.com/", "https://raw.githubusercontent.com/") + "/main/"
        text = re.sub(r"(!\[[^\]]*\]\()(?!\w+:|#)", rf"\g<1>{raw}", text)
        text = re.sub(r"(?<!!)(\[[^\]]*\]\()(?!\w+:|#)", rf"\g<1>{repository}/blob/main/", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
