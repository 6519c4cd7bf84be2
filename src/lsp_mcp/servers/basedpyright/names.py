"""Where Python's symbols are used by their names, or without them, outside of what basedpyright 1.40 lists."""

from __future__ import annotations

from msgspec.structs import replace

from lsp_mcp.servers.traits import Implied, Mention, Overriding, Renaming, Serializing

_IN_BRACKETS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_DECORATED = (
    rf"@(?:\w+\.)?fixture\b(?:{_IN_BRACKETS})?[ \t]*(?:#[^\n]*)?\n(?:[ \t]*@[^\n]*\n)*[ \t]*(?:async[ \t]+)?def[ \t]+"
)
_FILLED = rf"(?:\bdef[ \t]+test\w*|{_DECORATED}\w+)\s*{_IN_BRACKETS}"
_BY_STRING = r"\b(?:usefixtures|getfixturevalue)\s*\([^()]*\)"
_KEY = r"(?<=[\"'])(?P<name>{name})(?=[\"'])"
_QUOTED = "|".join(
    rf"{mark}{{3}}(?:[^{mark}\\]++|\\[\s\S]?|{mark}(?!{mark}{mark}))*+(?:{mark}{{3}}|\Z)"
    rf"|{mark}(?:[^{mark}\\\n]++|\\[\s\S]?)*+{mark}?+"
    for mark in "\"'"
)
# Comments and all other strings are passed over, so that none begins in another or is looked through again.
_FILLED_BY_NAMES = (
    rf"#[^\n]*+|(?:(?<!\w)[rRuU]?+(?:{_QUOTED})\s*+)++"
    r"(?P<end>\)?\s*+(?:\.format(?:_map\(|\(\s*+\*\*)|%\s*+\(?)\s*+(?:globals|locals|vars)\(\))?+"
    rf"|{_QUOTED}"
)
_FORMATTED = Mention(
    what="a string that the names in scope fill", files=r"\.py$", within=_FILLED_BY_NAMES, beside=False,
    pattern=r"(?:(?<!\{)\{|%\()(?P<name>{name})(?=[!:.\[})])", kinds=("variable", "constant", "function", "class"),
)  # fmt: skip

MENTIONS = (
    _FORMATTED,
    replace(_FORMATTED, is_local=True),
    Mention(what="Cython", files=r"\.(?:pyx|pxd|pxi)$", beside=False),
    Mention(what="a notebook", files=r"\.ipynb$", beside=False),
    Mention(
        what="an entry point", files=r"(?:^|/)(?:pyproject\.toml|setup\.cfg|setup\.py)$", beside=False,
        pattern=r"\w:\s*(?:\w+\.)*(?P<name>{name})\b(?=\s*(?:[\"'\[]|$))",
        kinds=("function", "class"),
    ),
    Mention(
        what="a parameter that pytest fills", files=r"\.py$", within=rf"{_FILLED}|{_BY_STRING}", beside=False,
        pattern=r"(?<=[(,\s\"'])(?P<name>{name})(?=\s*[,):\"'])", kinds=("function",),
        declared=_DECORATED + r"{name}\b",
    ),
    Mention(
        what="a fixture of pytest", files=r"\.py$", pattern=_DECORATED + r"(?P<name>{name})\b", beside=False,
        kinds=("variable",), is_local=True,
        declared=rf"(?:\bdef[ \t]+(?=test)|{_DECORATED}){{owner}}\s*\([^)]*\b{{name}}\b",
    ),
    Mention(
        what="a key", files=r"\.py$", pattern=_KEY, beside=False,
        declared=r"\bclass[ \t]+{owner}\b[^:]*\bTypedDict\b",
    ),
    Mention(
        what="a key", files=r"\.py$", pattern=r"\b{owner}\[[\"'](?P<name>{name})(?=[\"'])", beside=False,
        declared=r"\bclass[ \t]+{owner}\b[^:]*(?:Enum|Flag)\b",
    ),
)  # fmt: skip

IMPLIED = (
    Implied("where objects are made: ask about the class", r"__(?:init|new|post_init)__\s*\("),
    Implied("where Python calls it by itself", r"__(?!(?:init|new|post_init)__)\w+__\s*\("),
)

_STRUCTURED = r"\b(?:structure|unstructure|asdict|astuple)\s*\("

SERIALIZING = (
    Serializing("pydantic", r"\b(?:BaseModel|RootModel|BaseSettings|SQLModel)\b|\bpydantic\.dataclasses\.dataclass\b"),
    Serializing("the database", r"\b(?:models\.Model|ModelBase|DeclarativeBase\w*|declarative_base)\b"),
    Serializing("marshmallow", r"(?:\bmarshmallow\.|\bclass |\()Schema\b", named=r"\bdata_key\s*=[^\n]*\Z"),
    Serializing(
        "msgspec", r"\bStruct\b", named=r"\b(?:name|rename)\s*=[^\n]*\Z",
        calls=r"\b(?:json|msgpack|yaml|toml)\.(?:encode|decode|Encoder|Decoder)\b|\b(?:to_builtins|convert|asdict)\s*\(",
    ),
    Serializing("asdict", r"@(?:\w+\.)?dataclass\b", calls=r"\basdict\s*\("),
    Serializing("_asdict", r"\bNamedTuple\b", calls=r"\b_asdict\s*\("),
    Serializing("attrs", r"@(?:attrs?\.)?(?:s|attrs|define|frozen|mutable)\b", calls=_STRUCTURED),
)  # fmt: skip

RENAMING = Renaming(
    serializing=SERIALIZING,
    overriding=Overriding(
        through=r"\b(?:self|cls|super\(\))\s*\.\s*\Z",
        declared=r"(?m)^\s*(?:(?:async\s+)?def\s+|self\.){name}\b|^\s*{name}\s*(?::|=[^=])",
        sets_through=True,
        never=r"__\w+",  # those of Python itself, and those that the name of the class becomes a part of
    ),
    known_by_name={r"__\w+__\s.*": "what Python calls"},
    look_up_pattern=r"\b(?:getattr|setattr|hasattr|delattr|attrgetter|methodcaller|patch(?:\.object)?)\s*\("
    r"(?:[^()\"']|\([^()]*\)|[\"'][\w.]*[\"'],)*[\"'](?:\w+\.)*\Z",
    looks_up_all=True,
    function_pattern=r"(?:@[^\n]*\n\s*)*(?:async\s+)?def\b",
)
