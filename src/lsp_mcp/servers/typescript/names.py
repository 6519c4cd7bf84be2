"""Where JavaScript uses symbols by their names, or without them, outside of what TypeScript 7.0 lists."""

from __future__ import annotations

from lsp_mcp.servers.traits import Implied, Mention, Overriding, Renaming

_BY_ITSELF = r"(?:toString|valueOf|toJSON|toLocaleString|then)"
# What it looks up in the namespace JSX, and what that says of components.
_OF_MARKUP = (
    r"(?:Intrinsic(?:Elements|Attributes|ClassAttributes)"
    r"|Element(?:Class|Type|AttributesProperty|ChildrenAttribute)|LibraryManagedAttributes)"
)

MENTIONS = (
    Mention(
        what="a grammar", files=r"\.(?:pegjs|peggy|jison|ne)$", beside=False
    ),
    # They import modules of TypeScript, which does not read them.
    Mention(
        what="a component", files=r"\.(?:vue|svelte|astro|mdx)$", beside=False,
        pattern=r"(?:\bimport\b[^;'\"]*?\b|\.)(?P<name>{name})\b",
    ),
)  # fmt: skip

# Declarations of what a file of JavaScript has.
TWINS = ((".d.ts", ".js"), (".d.ts", ".jsx"), (".d.mts", ".mjs"), (".d.cts", ".cjs"))

IMPLIED = (
    Implied("where values are converted", r"(?:toString|valueOf|toJSON|toLocaleString)\s*\("),
    Implied("where values are awaited", r"then\s*[<(]"),
)

RENAMING = Renaming(
    passed_on="{name} as {given}",
    known_by_name={
        rf"{_BY_ITSELF}\s.*": "what JavaScript calls",
        r"__proto__\s.*": "what JavaScript looks up",
        rf"{_OF_MARKUP}\s.*": "what markup is checked by",
    },
    # It renames what overrides a member with it; this tells which other members must not have the new name.
    overriding=Overriding(
        through=r"\b(?:this|super)\s*\.\s*\Z", declared="(?!)", private_mark="#", never="constructor"
    ),
    taken_names=frozenset({"arguments"}),
    importing_words=("from", "import", "require"),
)
