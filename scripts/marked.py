"""Generated parts of documents written by hand: the text between `<!-- NAME -->` and `<!-- /NAME -->`."""

from __future__ import annotations

import re


def replaced(text: str, name: str, content: str) -> str:
    """`text` with `content` between the marks called `name`, which must be there once."""
    pattern = re.compile(rf"(<!-- {name} -->).*?(<!-- /{name} -->)", re.DOTALL)
    assert len(pattern.findall(text)) == 1, f"the marks of {name} must be there once"
    return pattern.sub(lambda match: match[1] + content + match[2], text)


def table(head: list[str], rows: list[list[str]], numbers_from: int) -> str:
    """A table in Markdown between blank lines; columns from `numbers_from` on are aligned to the right."""
    rule = ["---" if one < numbers_from else "---:" for one in range(len(head))]
    lines = [f"| {' | '.join(row)} |" for row in [head, rule, *rows]]
    return "\n\n" + "\n".join(lines) + "\n\n"
