"""Traits of clangd, as seen with clangd 22.1."""

from __future__ import annotations

from lsp_mcp.servers.traits import (
    Diagnostics,
    Documents,
    Headers,
    Hierarchy,
    Implied,
    InactiveRegions,
    LocalTypes,
    Mention,
    Namesake,
    Refactorings,
    Renaming,
    Reports,
    Symbols,
    WordCheck,
)

DOCUMENTS = Documents(
    # It waits for more changes before it looks at one, unless it is told not to.
    change_fields={"wantDiagnostics": True},
    # Told that one document was saved, it looks at all that are open again: at the includes too, but not if the file
    # has its old size and time. All that a change concerns is opened again anyway (see [compilation]), or told below.
    tell_saved=False,
    # clangd 22 loses a worker (`-j`, as many as there are processors) for good over a document that is closed while two
    # updates of it wait to be built; without workers it answers nothing any more.
    close_when_read=True,
    # Builds even where all looks the same. The first diagnostics may come out of the build that was going on already.
    reread_fields={"wantDiagnostics": True, "forceRebuild": True},
    reread_times=2,
)


INACTIVE_REGIONS = InactiveRegions(
    method="textDocument/inactiveRegions",
    capability=("textDocument", "inactiveRegionsCapabilities", "inactiveRegions"),
)


REPORTS = Reports(
    # What it says on its stderr of a file that could not be compiled to its end: uses in the rest are not in the index.
    incomplete_pattern=r"Failed to compile (.+), index may be incomplete",
    # And of one that clang could not begin with, because it has no use for a flag that GCC knows. It says nothing else
    # of such a file, whatever is asked, but "invalid AST".
    unusable_pattern=r"Indexing (.+) failed: ",
    unusable_hint="`clangd --check=FILE` says why; `CompileFlags: {Remove: [FLAG]}` in a file .clangd takes a flag out",
    # Of the compiler's command line: flags of another compiler.
    harmless_errors="drv_",
    # "declaration of 'struct s' will not be visible outside of this function": in a header read alone it is another.
    hiding_warnings=r"-Wvisibility\Z",
)


DIAGNOSTICS = Diagnostics(
    # Of an included file it says so where that is included.
    clears_closed=True,
    elsewhere_pattern="[Ii]n (?:included file|template): ",
    remark_pattern=r" \(fix(?:es)? available\)",
    # "use of undeclared identifier 'mode'; did you mean 'node'?": it takes the word for a use of that.
    guessed=r"_suggest\Z",
    # A header has changed since clangd read it for this document, and more errors follow, such as redefinitions.
    outdated_code="fe_ast_file_modified",
)


SYMBOLS = Symbols(
    # A symbol's whole name is its container's, this, and its own.
    scope_separator="::",
    tag_pattern=r"\btypedef\s+(?:const\s+)?(?:struct|union|enum)\s+\Z",
    # It indexes the standard library by itself.
    knows_libraries=True,
    # Its index has the types in functions and their methods, but not their fields; its outlines have none of them.
    local_types=LocalTypes("types inside functions", r"(?<![.(!+%^|?-])(?<!->)\Z", r"(?![.)\]>+%^|?-])"),
    # Of macros: their expansions in an outline, their definitions in a name search.
    kinds={"null": "macro", "string": "macro"},
)

# Which type is based on which is not all in the index of clangd 22 (of the nine subclasses of leveldb's Iterator three
# are missing), and what was so once stays in it. What it has read from an open document is right.
HIERARCHY = Hierarchy(
    id_field="symbolID",
    bases_field="parents",
    override_pattern=r"[^;{}]*\boverride\b",
)

HEADERS = Headers(
    include_pattern=r'(?m)^[ \t]*#[ \t]*include[ \t]*(?P<header>"[^"\n]+"|<[^>\n]+>)[^\r\n]*',
    include="#include {header}",
    guard_pattern=r"\A(?:\s|//[^\n]*\n|/\*(?s:.)*?\*/)*#[ \t]*ifndef[ \t]+(\w+)[^\n]*\n\s*#[ \t]*define[ \t]+\1\b",
    condition_patterns=(r"(?m)^[ \t]*#[ \t]*if", r"(?m)^[ \t]*#[ \t]*endif\b"),
    once="#pragma once\n",
    scope="namespace{space}{name} {{\n\n{code}\n\n}}  // namespace{space}{name}",
    shared_pattern=r"\b(?:inline|template|constexpr|consteval|static)\b",
    shared={"cpp": "inline "},
)

REFACTORINGS = Refactorings(invented={"refactor": r"extracted|placeholder"})

_IN_ANGLES = r"<(?:[^<>;{}]++|<(?:[^<>;{}]++|<[^<>;{}]*+>)*+>)*+>"
# What is not in a file of its own only by its name (`c:a.c@F@f`) has one id in all programs of the workspace.
_SCOPE = r"^c:[^@]*(?:@(?:N@\w+|aN))*"
_TYPE = r"@(?:[SUE]A?|S[TP][^@]*)@({}\w+)(?:>[^@]*)?"
_TYPES = f"(?:{_TYPE.format('?:')})*"
_DEFINED_TYPE = (
    r"\b(?:struct|class|union|enum)\s(?:(?:[^;{}():]|::)*[\s:])?{owner}\b(?:\s*final\b)?(?:\s*__attribute__\s*\(\([^;{}]*?\)\))?"
    r"\s*(?::[^;{}()]*)?\{|\}[\s*\w]*\b{owner}\s*[;,\[]"
)
_NAMESAKES = (
    Namesake(
        rf"{_SCOPE}{_TYPES}(?!@[SUE]A@){_TYPE.format('?:')}\Z",
        before_pattern=r"\b(?:struct|class|union|enum)\s(?:(?:[^;{}():]|::)*[\s:])?\Z",
        after_pattern=r"(?:\s*final\b)?(?:\s*__attribute__\s*\(\([^;{}]*?\)\))?\s*(?::[^;{}()]*)?\{",
    ),
    # Members of types, some in one without a name, and constants.
    Namesake(
        rf"{_SCOPE}{_TYPES}{_TYPE.format('?P<owner>')}(?:@[SUE](?:a|@[^@]*@\d+))*@(?:FI?@|FT@)?[\w~]",
        owner_pattern=_DEFINED_TYPE,
        is_declared_once=True,
    ),
    # The name of a type without one, `typedef struct {} name;`.
    Namesake(
        rf"{_SCOPE}(?:@T@\w+|@[SUE]A@\w+)\Z",
        before_pattern=r"\}[\s*\w]*\Z",
        after_pattern=r"\s*[;,\[]",
        is_declared_once=True,
    ),
    Namesake(rf"{_SCOPE}@Ea@\w+@", before_pattern=r"\benum\b[^{};()]*\{[^{}]*\Z", is_declared_once=True),
    # A function, also with its parameters declared behind them.
    Namesake(
        rf"{_SCOPE}@FT?@",
        is_alone=False,
        after_pattern=r"\s*\((?:[^;{}()]|\((?:[^;{}()]|\([^;{}()]*\))*\))*\)[^;{}()]*(?:\s\w[^;{}()]*;\s*)*\{",
    ),
    Namesake(
        rf"{_SCOPE}@\w+\Z",
        is_alone=False,
        before_pattern=r"(?m)^(?!(?:extern|return|typedef|goto|using)\b)\w[^;{}()\n]*[\s*&]\Z",
        after_pattern=r"\s*[=;,\[{]",
    ),
)

_RANGE_FOR = r"\bfor\s*\((?:[^:;{}]|::)*(?:;(?:[^:;{}]|::)*)?:(?!:)"
_ITERATOR = (r"\boperator\s*\*\s*\(\s*\)", r"\boperator\s*\+\+\s*\(\s*\)", r"\boperator\s*[!=]=")
_AWAITING = ("co_await", "co_yield")

# The definition of a place that the preprocessor leaves out, or that depends on a template's argument, clangd 22
# guesses by its spelling; this answers from what was parsed, and not at all there.
WORD_CHECK = WordCheck(
    request="textDocument/symbolInfo",
    type_dependent_pattern=r"\btypename\b|[>)\]]\s*::\s*(?:template\s+)?\Z",
    # A lambda too may have parameters of any type.
    generic_pattern=r"\btemplate\b|\bauto\b\s*(?:const\b\s*)?[&*\s]*\w*\s*[,)]",
    location_fields=("declarationRange", "definitionRange"),
    definition_field="definitionRange",
    namesakes=_NAMESAKES,
    id_field="id",
    # Where a typedef or an alias is used clangd 22 also gives what it stands for. `typedef struct S {} S;` are two
    # symbols, and so are the two of `using S = n::S;`: before the name of such an alias there stands no letter for what
    # it is.
    alias_field="usr",
    # What begins with a file's name is static, a macro, a typedef, or is in an unnamed namespace.
    internal_pattern=r"^c:[^@]",
    # A function without the types of its parameters is one of C, or `extern "C"` in whatever namespace.
    linked_pattern=r"^c:(?:@N@\w+)*@F@(\w+)\Z",
    # The parameters of all types of functions in a file have one id, `c:a.h@name`; so does a static variable of that
    # name.
    shared_id_pattern=r"^c:[^@]+@\w+$",
    alias_pattern=r"@T@[^@]*$|^c:(?:@(?:N|[SUE]A?|[SU][TP][^@]*)@[^@]+)*@[^@]+$",
    # Of a type that it does not know, in a header that was opened alone, it says that it is the member declared behind
    # it; of a parameter that is declared between `f(a)` and `{`, as in the first C, that it is the function.
    name_field="name",
    standing_for=frozenset(["auto", "this", "operator", "decltype"]),
    member_pattern=r"(?P<operand>(?<!\w)(?:[^\W\d]\w*+\s*+(?:\.|->|::)\s*+)*[^\W\d]\w*+)?+\s*+(?P<operator>\.|->|::)"
    r"\s*\Z",
    member_operators=frozenset([".", "->"]),
    # Which overload a call means whose arguments depend on a template's parameters, an instance decides: it is a use of
    # each.
    # `@ST>1#T@Box@size`, `@SP>1#T@Box>#*t0.0@size` and `@S@Box>#C@size`: a template, and two of its specializations.
    of_template_pattern=r"@S(?:[TP]>\d+#|@\w+>#)",
    of_any_pattern=r"@S[TP]>\d+#",
    template_marks=r"(?<=@S)[TP](?=>)|>[^@]*(?:\$@[^@]+@\w+[^@]*)*",
    found_by_argument=r"^c:(?:@(?:N@\w+|aN))*@FT?@",
    template_pattern=r"\btemplate\s*<|[(,]\s*(?:const\s+)?auto\b",
    qualifier_pattern=r"\s*(?:<[^;{}]*>\s*)?::",
    expansion_pattern=r"(?s)// Expands to\n(?P<code>.*)",
    returned_pattern=r"(?:[)\]&]|\b(?:const|volatile|noexcept|mutable|constexpr|override|final))\s*->\s*\Z",
    parameter_pattern=r"\btemplate\s*<(?:[^<>;{}]|<[^<>;{}]*>)*\Z",
    # `typename T::word`, where T is the parameter of a template and has no default that clangd 22 would take for it.
    dependent_pattern=r"\btypename\s+(?P<parameter>\w+)\s*::\s*(?:template\s+)?\Z",
    explicit_object_pattern=rf"\bthis\s+(?P<type>(?:[^(){{}};=<>,]|{_IN_ANGLES}){{0,200}}?)[\s&*](?P<name>\w+)\s*+[,)]",
    type_parameters_pattern=rf"(?:\btemplate|\])\s*+<(?P<parameters>(?:[^<>;{{}}]++|{_IN_ANGLES})*+)>",
    type_parameter_pattern=r"\b(?:typename|class)\s+{name}\s*[,>]",
    kind_pattern=r"\b(?:struct|union|enum|class|goto)\s+\Z",
    # Of a conversion the rest is empty, since its type may be spelled in several ways; capitals may be a macro, but not
    # before `*`.
    longer_names={
        "operator": r"\s*(?:\(\s*\)|\[\s*\]|<<=|>>=|<=>|->\*?|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%^&|]="
        r"|[-+*/%^&|~!=<>,]|\"\"\s*\w+|(?:new|delete)\b(?:\s*\[\s*\])?)"
        r"|\s+(?!(?:new|delete)\b|[A-Z\d_]+\b(?!\s*[*&]))(?=\w)",
    },
    # Those that only pass arguments on, such as make_unique and emplace_back, it sees through.
    maker_words=(
        *("emplace", "try_emplace", "emplace_hint", "insert_or_assign", "piecewise_construct", "in_place"),
        *("in_place_type", "allocate_shared", "construct_at", "construct"),
    ),
    # Calls of operators it lists at the operator, and that of an iterator's `*` at the colon of a range-for.
    implied=(
        Implied("where objects are destroyed", r"~|(?<=~)"),
        Implied("range-for loops", r"(?:begin|end)\s*\(", words=("for",), code=_RANGE_FOR),
        Implied(
            "range-for loops", r"operator\s*(?:\+\+\s*\(\s*\)|!=)", beside=_ITERATOR, words=("for",), code=_RANGE_FOR
        ),
        Implied(
            "co_await and co_yield", r"(?:await_(?:ready|suspend|resume)\s*\(|operator\s+co_await\b)", words=_AWAITING
        ),
        Implied(
            "coroutines",
            r"(?:(?:get_return_object|initial_suspend|final_suspend|return_void|return_value|yield_value"
            r"|await_transform|unhandled_exception)\s*\(|promise_type\b)",
            words=(*_AWAITING, "co_return"),
        ),
        Implied("implicit conversions", r"operator\s+(?!new\b|delete\b|co_await\b)\w"),
        # `a != b` by `==`, and `a < b` by `<=>`: since C++20.
        Implied(
            "comparisons that are rewritten with it",
            r"operator\s*(?:==|<=>)",
            flags=r"[-/]std[=:](?:c|gnu)\+\+(?:2|latest)",
        ),
        # Where a variable is declared it lists the constructor.
        Implied(
            "where bases, members and elements are initialized",
            written=r"@(?P<type>\w+)(?:>[^@]*)?@F@(?P=type)#(?:v#)?\Z",
        ),
        Implied(
            "implicit copies and moves",
            written=r"@(?P<type>\w+)(?:>[^@]*)?@F@(?P=type)#&&?1?\$?[^#]*@(?P=type)(?:>[^@]*)?#\Z",
        ),
        Implied(
            "where members and bases are assigned",
            written=r"@(?P<type>\w+)(?:>[^@]*)?@F@operator=#&&?1?\$?[^#]*@(?P=type)(?:>[^@]*)?#\Z",
        ),
    ),
    unusable_pattern=r"(?:[^;{}()]|\((?:[^;{}()]|\([^;{}()]*\))*\))*=\s*delete\b",
)

_BY_LIBRARY = "what range-for and the standard library look for"
_CALLED = r"\s[^(]*\((?!\*).*"  # the type of a function, not of a pointer to one
MENTIONS = (
    Mention(
        what="a grammar", files=r"\.(?:y|yy|ypp|yxx|y\+\+|l|ll|lpp|lxx|l\+\+|lex|lemon|re|rl|gperf)$", beside=False,
    ),
    Mention(
        what="a binding", files=r"\.(?:pyx|pxd|pxi|xs|swg|i)$", beside=False
    ),
)  # fmt: skip


RENAMING = Renaming(
    line_directive=r"^[ \t]*#[ \t]*(?:line[ \t]+)?(?P<line>\d+)[ \t]+\"(?P<file>[^\"\n]+)\"",
    # The standard library's templates use them, and the compiler: without them it sees the error in the library, or
    # takes another way without a word.
    known_by_name={
        rf"(?:c?r?(?:begin|end)|swap|insert|(?:push|pop|emplace)_(?:back|front)|emplace(?:_hint)?){_CALLED}": (
            _BY_LIBRARY
        ),
        r"(?:size|empty|data)\s[^(]*\(\).*": _BY_LIBRARY,
        rf"get\stemplate{_CALLED}": _BY_LIBRARY,
        r"(?:(?:value|key|mapped|difference|size|allocator|element|container|char|traits|promise)_type|(?:const_)?(?:"
        r"reference|pointer|(?:reverse_)?iterator)|iterator_(?:category|concept)|is_transparent) "
        r"(?:type alias|class|struct|union|enum)": _BY_LIBRARY,
        rf"(?:await_(?:ready|suspend|resume|transform)|get_return_object|(?:initial|final)_suspend|return_void"
        rf"|(?:return|yield)_value|unhandled_exception){_CALLED}": "what coroutines look for",
    },
    linked_type_pattern=r"@(?:[SU]|S[TP][^@]*)@\w+(?:>[^@]*)?\Z",
    program_start="main",
    macro_flag=r"(?:^|[\s\"'])[-/]D\s*[\"']?{name}(?!\w)",
)
