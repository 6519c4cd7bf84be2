"""Where Go's symbols are called by their names outside Go's code: in assembler, in C, in templates, in directives."""

from __future__ import annotations

from lsp_mcp.servers.traits import Mention

_VALUES = ("function", "variable")
_TYPES = ("struct", "interface", "type", "class", "function", "number", "string", "array", "boolean")
_ASSEMBLER = r"\.[sS]$"
# The comment before `import "C"` is a C file of its own.
_PREAMBLE = r"""(?:/\*(?:[^*]|\*(?!/))*\*/|(?://[^\n]*\n)+)\s*import\s+"C\""""
# No field of a template's data, but of an object of some script, is in lower case; `exported` sees to that.
_TEMPLATES = r"\.(?:tmpl|tpl|gotmpl|gotpl|gohtml|gotext|html?|xhtml|xml|svg|txt|eml|email)$"

MENTIONS = (
    # gopls 0.24 finds uses in assembler of this system, and renames none.
    Mention(
        what="assembler", files=_ASSEMBLER, pattern=r"(?<![\w·∕./])·(?P<name>{name})(?!\w)", kinds=_VALUES, is_sure=True
    ),
    Mention(
        what="assembler", files=_ASSEMBLER, pattern=r"\w·(?P<name>{name})(?!\w)", beside=False, kinds=_VALUES
    ),
    # What `go tool asm` defines in go_asm.h.
    Mention(
        what="assembler", files=_ASSEMBLER, pattern=r"\bconst_(?P<name>{name})(?!\w)", kinds=("constant",),
        is_sure=True,
    ),
    Mention(
        what="assembler", files=_ASSEMBLER, pattern=r"\b{owner}_(?P<name>{name})(?!\w)", kinds=("field",),
        is_sure=True,
    ),
    Mention(what="assembler", files=_ASSEMBLER, pattern=r"\b(?P<name>{name})__?[a-z]\w*", kinds=("struct",)),
    # `x+0(FP)`, `p_base+8(FP)` in the body of its function; the assembler ignores these names, `go vet` does not.
    Mention(
        what="assembler", files=_ASSEMBLER, pattern=r"\b(?P<name>{name})(?:_\w+)?\+\d+\(FP\)",
        within=r"(?m)^[ \t]*TEXT[ \t]+[\w.∕]*·{owner}(?:<\w*>)?\(SB\)(?:(?!^[ \t]*TEXT[ \t])[\s\S])*",
        kinds=("parameter",), is_sure=True,
    ),
    Mention(
        what="C", files=r"\.(?:[ch](?:[ch]|pp|xx)?|mm?|swig(?:cxx)?)$",
        kinds=("function",), declared=r"(?m)^//export[ \t]+{name}\b",
    ),
    Mention(
        what="C", files=r"\.go$", within=_PREAMBLE, kinds=("function",),
        declared=r"(?m)^//export[ \t]+{name}\b",
    ),
    Mention(
        what="a template", files=_TEMPLATES, pattern=r"\.(?P<name>{name})(?!\w)", within=r"\{\{[\s\S]*?\}\}",
        beside=False, kinds=("field", "method"), exported=True,
    ),
    Mention(
        what="a grammar", files=r"\.(?:yy?|l|rl|re|peg|leg)$", beside=False,
    ),
    Mention(
        what="a component", files=r"\.(?:templ|qtpl)$", beside=False,
    ),
    Mention(
        what="go:generate", files=r"\.go$", pattern=r"(?<![\w./-])(?P<name>{name})(?![\w./-])",
        within=r"(?m)^//go:generate[ \t].*$", kinds=_TYPES,
    ),
)  # fmt: skip
