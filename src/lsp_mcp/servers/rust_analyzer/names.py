"""Where Rust's symbols are used by their names, or without them, outside of what rust-analyzer lists."""

from __future__ import annotations

from lsp_mcp.servers.traits import Implied, Mention, Renaming, Serializing

# A block of code in a comment, from its fence to the next one, which ends it; {} says which blocks count.
_BLOCK = (
    r"(?m)^[ \t]*//[/!][ \t]*```(?:(?P<end>(?!text\b|sh\b|bash\b|console\b|toml\b|json\b){}[^\n]*)|[^\n]*)\n"
    r"(?:[ \t]*//[/!](?![ \t]*```)[^\n]*\n)*(?:[ \t]*//[/!][ \t]*```)?"
)
_IGNORED = r"[^\n]*\bignore\b(?!-)"  # `ignore-windows` is run elsewhere
_OPERATORS = (
    r"(?:(?:add|sub|mul|div|rem|neg|not|bit(?:and|or|xor)|sh[lr])(?:_assign)?|eq|ne|lt|le|gt|ge|cmp|partial_cmp"
    r"|index(?:_mut)?)\s*\("
)
_OF_OPERATORS = (
    r"\b(?:(?:Add|Sub|Mul|Div|Rem|Neg|Not|Bit(?:And|Or|Xor)|Sh[lr])(?:Assign)?|(?:Partial)?(?:Eq|Ord)|Index(?:Mut)?)"
    r"(?:<[^{};]*>)?\s+for\b"
)

MENTIONS = (
    Mention(
        what="a doc test", files=r"\.rs$", beside=False, pattern=r"(?<![\w\"'])(?P<name>{name})\b",
        within=_BLOCK.format(f"(?!{_IGNORED})"),
    ),
    Mention(
        what="a doc test that is not run", files=r"\.rs$", beside=False, pattern=r"(?<![\w\"'])(?P<name>{name})\b",
        within=_BLOCK.format(f"(?={_IGNORED})"), is_prose=True,
    ),
    Mention(
        what="a doc test", files=r"\.md$", beside=False, pattern=r"(?<![\w\"'])(?P<name>{name})\b",
        within=r"(?m)^```rust[^\n]*\n(?:(?!```)[^\n]*\n)*",
    ),
    Mention(what="a grammar", files=r"\.(?:lalrpop|pest)$", beside=False),
    Mention(
        what="an attribute", files=r"\.rs$", beside=False,
        pattern=r"(?<!feature = )(?<!feature=)[\":](?P<name>{name})(?=\")", within=r"#!?\[(?!\s*cfg\b)[^\]]*\]",
    ),
)  # fmt: skip

# Operators it finds by their names only.
IMPLIED = (
    Implied("where values are dropped", r"drop\s*\(", beside=(r"\bDrop\s+for\b",)),
    Implied("macros that format", r"fmt\s*\(", beside=(r"\bfmt\s*\([^)]*\bFormatter\b",)),
    Implied("for loops", r"(?:next|into_iter)\s*\(", beside=(r"\b(?:Into)?Iterator\s+for\b",)),
    Implied("operators", _OPERATORS, beside=(_OF_OPERATORS,)),
    Implied("where values are dereferenced", r"deref(?:_mut)?\s*\(", beside=(r"\bDeref(?:Mut)?\s+for\b",)),
    Implied(
        "conversions that do not name it", r"(?:try_)?(?:from|into)\s*[<(]",
        beside=(r"\b(?:Try)?(?:From|Into)<[^{};]*>\s+for\b",),
    ),
    Implied("where values are awaited", r"(?:poll|into_future)\s*\(", beside=(r"\b(?:Into)?Future\s+for\b",)),
)  # fmt: skip

_ATTRIBUTE = r"#\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
_DERIVED = r"#\[(?:[^\[\]]*\W)?derive\([^)]*\b(?:{})\b"  # `cfg_attr` may be around it
_GIVEN = r"#\[(?:[^\[\]]*\W)?(?:{})\([^\]]*\b(?:{})[^\]]*\]"  # an attribute directly before a field or variant
_ITS_LINE = rf"(?:\s|//[^\n]*\n|{_ATTRIBUTE})*(?:pub(?:\([^)]*\))?\s+)?\w+[^\n]*\Z"

# Derived traits that make something of the names of fields and variants.
SERIALIZING = (
    Serializing(
        "serde", _DERIVED.format("Serialize|Deserialize"),
        named=_GIVEN.format("serde", r"rename\s*=|skip\b|flatten\b") + _ITS_LINE,
    ),
    Serializing(
        "the command line", _DERIVED.format("Parser|Args|Subcommand|ValueEnum"),
        named=_GIVEN.format("arg|clap|command|value", r"(?:long|name|id)\s*=") + _ITS_LINE,
    ),
)  # fmt: skip

RENAMING = Renaming(
    serializing=SERIALIZING,
    program_start="main",
    gives_at_imports=True,
    function_pattern=r"(?:[^{};]*\s)?fn\s",
)

MACRO_ITEMS = {
    "fn": "function", "struct": "struct", "enum": "enum", "union": "struct", "trait": "interface", "type": "type",
    "const": "constant", "static": "variable", "mod": "module",
}  # fmt: skip
