"""Traits of gopls, as seen with gopls 0.24."""

from __future__ import annotations

from lsp_mcp.servers.gopls.file_names import PROCESSORS, SYSTEMS
from lsp_mcp.servers.traits import (
    BuiltAction,
    Diagnostics,
    Documents,
    Encoder,
    Follower,
    LocalTypes,
    Packages,
    Refactorings,
    Renaming,
    Reports,
    Symbols,
    Visibility,
    WordCheck,
)

DOCUMENTS = Documents(
    # It reads the file itself.
    outlines_closed=True,
)


REPORTS = Reports(
    # In go.mod or go.work, when `go list` fails: without a folder for its cache, for example. gopls then finds nothing
    # by name.
    failure_pattern=r"^packages\.Load error: (?:err: )?(?:exit status \d+: )?(?:stderr: )?(?P<reason>[\s\S]+)",
)


DIAGNOSTICS = Diagnostics(
    # Told that a file changed, gopls 0.24 says after a while, or not at all, what that means for others.
    command="gopls.diagnose_files",
    command_field="Files",
    # It answers when all that it has to say of every file has been published, of files that are not open too.
    command_covers="workspace",
    syntax_source="syntax",
    # gopls 0.24 names what is different from this machine: `[plan9]`, `[arm64]`, `[plan9,386]`.
    other_build=rf" \[(?:{'|'.join(sorted(SYSTEMS | PROCESSORS))}|,)+\]$",
    # If the go command cannot read one file, gopls 0.24 may have no package for the others; it depends on what it had
    # read before, and on how fast that command is.
    load_error=r"\S+\.go: |found packages ",
)


SYMBOLS = Symbols(
    # gopls names a method `T.M` or `(*T).M` beside its type T.
    member_pattern=r"^\(?\*?(?P<owner>[^().\[\]*]+)(?:\[.*\])?\)?\.(?P<member>[^.]+)$",
    # gopls 0.24 finds the uses of a method of a generic type only from its definition, and those of a field only when
    # it renames: `Set[int].Items` and `Set[string].Items` are two objects to it.
    generic_pattern=r"\[",
    # The most that gopls gives to one workspace/symbol, whatever is asked.
    workspace_symbol_cap=100,
    narrow_query="{name}$",
    # Of a concrete type or method it gives the interfaces and their methods; of an interface, whatever has it, at once.
    implementation_goes_up=True,
    # As a caller, a variable is called `init`, by Go's function that gives it its value.
    names_in_text=("variable",),
    # gopls 0.24 has nothing that a type inside a function declares, nor `var v struct { a int }`, `type S []struct { a
    # int }`.
    local_types=LocalTypes(
        "types inside functions or without a name",
        r"(?m)(?:^|[{;(])[ \t]*(?:type[ \t]+|(?:\w+[ \t]*,[ \t]*)*|\*?(?:\w+\.)?)\Z",
        r"(?![ \t]*(?::=|==|[.:)>+%^|?&!-]))",
    ),
    embedded_pattern=r"\s*\*?(?:\w+\.)?{name}(?:\[.*\])?\s*(?:[`\"].*|//.*|/\*.*)?$",
    unkeyed_pattern=r"(?:\[[^\[\]\n]*\])?\{(?:\s*\{)*\s*(?!\w+\s*:)[^\s{}]",
    counted_pattern=r"\bconst\s*\((?:[^()]|\([^()]*\))*\biota\b(?:[^()]|\([^()]*\))*\Z|\bconst\s*\(\s*\w+\Z",
    next_pattern=r"[^\n]*\n(?:\s*//[^\n]*\n)*\s*\w+[ \t]*(?://[^\n]*)?\n",
    # A hover on a type ends with the members that it has by embedding: `func (*base.Base) Reset()`, `Count int //
    # through Base`.
    promoted_patterns=(
        r"(?m)^func \((?:\w+ )?\*?(?P<package>\w+\.)?(?P<owner>\w+)(?:\[.*\])?\) {name}\(",
        r"(?m)^{name}\b.*// through (?:\w+\.)*(?P<owner>\w+)[ \t]*$",
    ),
    # A defined type that is neither a struct nor an interface.
    kinds={"class": "type"},
)


VISIBILITY = Visibility(
    import_pattern=r"""\bimport\b(?:\s|{comment})*(?:\((?:{comment}|{string}|[^)"`])*(?:\)|\Z)|[\w.]*(?:\s|{comment})*{string})""",
    after_imports_pattern=r"^(?:func|type|var|const)\b",
    import_name_pattern=r"(?:\b(?!import\b)(?P<alias>\w+)[ \t]+)?(?P<path>{string})",
    # Not `C`, by which exported functions of Go are called too, and no version: math/rand/v2 is called rand.
    library_name_pattern=r"(?:^|/)(?!v[0-9]+$)(?P<name>[a-z]\w*)$",
    # The standard library's, and `C`.
    library_pattern=r"[^./]+(?:/|$)",
    private_files=r"_test\.go$",
    private_names=r"^[a-z_]",
    # gopls 0.24 calls a type by what is below it: `type F func()` is a function, `type N int` a number.
    type_pattern=r"(?m)\btype[ \t]+{name}\b|^[ \t]*type[ \t]*\([\s\S]*?(?:^|;)[ \t]*{name}\b",
    # By `//go:linkname` any package can use what another one keeps to itself.
    naming_words=("linkname",),
    version_mark="@",
    capital_mark="!",
    # There GOPATH is `testdata` for the tests of analyzers.
    path_folders=("testdata/src",),
)


_P = r"(?:\w+ )?"  # the name of a parameter or result
_ANY = r"(?:any|interface\{\})"
_BYTES_OR_ERROR = rf"\({_P}\[\]byte, {_P}error\)"
_ONE_ERROR = rf"(?:error|\({_P}error\))"
_KNOWN_BY_NAME = {
    r"String func\(\) (?:string|\(\w+ string\))": "fmt.Stringer",
    r"GoString func\(\) (?:string|\(\w+ string\))": "fmt.GoStringer",
    rf"Format func\({_P}fmt\.State, {_P}(?:rune|int32)\)": "fmt.Formatter",
    r"Error func\(\) (?:string|\(\w+ string\))": "error",
    r"Unwrap func\(\) (?:\[\])?error": "errors.Unwrap",
    rf"Is func\({_P}error\) bool": "errors.Is",
    rf"As func\({_P}{_ANY}\) bool": "errors.As",
    rf"MarshalJSON func\(\) {_BYTES_OR_ERROR}": "json.Marshaler",
    rf"UnmarshalJSON func\({_P}\[\]byte\) {_ONE_ERROR}": "json.Unmarshaler",
    rf"MarshalText func\(\) {_BYTES_OR_ERROR}": "encoding.TextMarshaler",
    rf"UnmarshalText func\({_P}\[\]byte\) {_ONE_ERROR}": "encoding.TextUnmarshaler",
    rf"MarshalBinary func\(\) {_BYTES_OR_ERROR}": "encoding.BinaryMarshaler",
    rf"UnmarshalBinary func\({_P}\[\]byte\) {_ONE_ERROR}": "encoding.BinaryUnmarshaler",
    rf"GobEncode func\(\) {_BYTES_OR_ERROR}": "gob.GobEncoder",
    rf"GobDecode func\({_P}\[\]byte\) {_ONE_ERROR}": "gob.GobDecoder",
    r"MarshalXML(?:Attr)? func\(.*xml\..*\) .*error\)?": "xml.Marshaler",
    rf"UnmarshalXML(?:Attr)? func\(.*xml\..*\) {_ONE_ERROR}": "xml.Unmarshaler",
    rf"MarshalYAML func\(\) \({_P}(?:{_ANY}|\[\]byte), {_P}error\)": "yaml.Marshaler",
    rf"UnmarshalYAML func\(.+\) {_ONE_ERROR}": "yaml.Unmarshaler",
    r"IsZero func\(\) bool": "encoders that omit zero values",
    r"LogValue func\(\) slog\.Value": "slog.LogValuer",
    rf"Scan func\({_P}{_ANY}\) {_ONE_ERROR}": "sql.Scanner",
    rf"Value func\(\) \({_P}driver\.Value, {_P}error\)": "driver.Valuer",
    rf"ServeHTTP func\({_P}http\.ResponseWriter, {_P}\*http\.Request\)": "http.Handler",
}

# Of gin, echo, fiber, resty, render.
_FRAMEWORKS = ("JSON", "JSONP", "IndentedJSON", "PureJSON", "JSONPretty", "BindJSON", "ShouldBindJSON", "BodyParser")
_BY_FRAMEWORKS = rf"\.(?:{'|'.join(_FRAMEWORKS)})\("
_ENCODERS = {
    **{
        name: Encoder(
            rf"\b{name}\.(?:\w*Marshal\w*|\w*Unmarshal\w*|Encode|Decode|NewEncoder|NewDecoder)\(",
            rf"\b{name}\.(?!New)\w*(?:[Mm]arshal|Encode|Decode)\w*\(|\.(?:Encode|Decode)\w*\(",
            tag_pattern=rf'\b{name}:\\?"[^",\\]',
        )
        for name in ("xml", "yaml", "toml", "bson", "msgpack", "cbor")
    },
    "json": Encoder(
        r"\bjson\.(?:\w*Marshal\w*|\w*Unmarshal\w*|Encode|Decode|NewEncoder|NewDecoder)\(|" + _BY_FRAMEWORKS,
        r"\bjson\.(?!New)\w*(?:[Mm]arshal|Encode|Decode)\w*\(|\.(?:Encode|Decode)\w*\(|" + _BY_FRAMEWORKS,
        words=("json", *_FRAMEWORKS),
        tag_pattern=r'\bjson:\\?"[^",\\]',
    ),
    "gob": Encoder(
        r"\bgob\.(?:NewEncoder|NewDecoder|Register)\(",
        r"\bgob\.Register\w*\(|\.(?:Encode|Decode)(?:Value)?\(",
    ),
    "mapstructure": Encoder(
        r"\bmapstructure\.\w*Decode\w*\(",
        r"\bmapstructure\.\w*Decode\w*\(|\.Decode\(",
        tag_pattern=r'\bmapstructure:"[^",]',
    ),
    "db": Encoder(
        r"\.(?:StructScan|NamedExec|NamedQuery)\(",
        r"\.(?:StructScan|NamedExec|NamedQuery)\(",
        words=("StructScan", "NamedExec", "NamedQuery"),
        tag_pattern=r'\bdb:"[^",]',
    ),
}

RENAMING = Renaming(
    program_start="main",
    line_directive=r"^//line[ \t]+(?P<file>[^:\n]+):(?P<line>\d+)",
    names_no_files=True,
    # In the build of a file that has no other use of the type than by that field.
    embedded_refusal="an embedded field must be renamed at its declaration",
    # It refuses to break an interface of the workspace, and says nothing of those of Go's library.
    known_by_name=_KNOWN_BY_NAME,
    # `x.(interface{ Do() string })`; what a declared interface asks for, gopls relates to what implements it.
    literal_type_pattern=r"(?:[^\w\s\]]|\bcase|\bvar[ \t]+\w+)\s*interface[ \t]*\{(?:[^{}]|\{\})*\Z",
    look_up_pattern=r"\b(?:MethodByName|FieldByName)\(\s*[\"`]\Z|\{\{(?:[^{}]*[^\w{}])?\.(?:\w+\.)*\Z",
    encoders=_ENCODERS,
    reading_pattern=r"(?i)unmarshal|decode|bind|parse",
    harmless_pattern=r"(?i)^(?:len|cap|append|delete|clear)$|marshal|encod|json|print|log",
    coding_pattern=r"(?:En|De)code\w*",
    followers=(
        # gopls 0.24 leaves examples behind, and `go test`, which checks that they belong to something, fails.
        Follower(
            query="'Example{name}",
            pattern=r"Example(?![a-z_])(?P<name>{name})(?:_\w+)?",
        ),
        # `ExampleT_M` is about M of T, which may be a member of a type that T embeds.
        Follower(
            query="'Example '_{name}",
            pattern=r"Example(?P<owner>[^\W_]+)_(?![a-z_])(?P<name>{name})(?:_[a-z]\w*)?",
        ),
    ),
    # gopls 0.24 has no workspace/willRenameFiles. It moves a package when that is renamed to another path of its
    # module.
    packages=Packages(
        clause_pattern=r"^package\s+(?P<name>\w+)",
        module_file="go.mod",
        module_pattern=r'^module\s+"?(?P<path>[^\s"]+)',
        data_folder="testdata",
        clause="package {name}",
        import_clause="import {spec}",
        qualified="{package}.{name}",
        standard_module="std",
        interface="type {name} interface {{\n{methods}\n}}",
        path_pattern=r"(?m)^//go:linkname[ \t]+\w+[ \t]+(?P<path>{path})\.[^\s/]+$",
        path_word="linkname",
    ),
)

REFACTORINGS = Refactorings(
    invented={
        "refactor.extract.function": r"newFunction\d*",
        "refactor.extract.method": r"newMethod\d*",
        "refactor.extract.variable": r"newVar\d*",
        "refactor.extract.variable-all": r"newVar\d*",
        "refactor.extract.constant": r"newConst\d*",
        "refactor.extract.constant-all": r"newConst\d*",
    },
    built=(
        # gopls 0.24 offers these to clients that show forms; the commands take the answers from anybody. Of a client
        # that shows none it asks a question without a name.
        BuiltAction(
            title="Move declaration to a file",
            kind="refactor.move.moveDeclaration",
            command="gopls.move_declaration",
            arguments=({"Location": "{location}"},),
            answers={"file": "{file}", "": "{file}"},
            files=("file",),
            needs=r"^(func|type|var|const)\b",
        ),
        BuiltAction(
            title="Implement an interface",
            kind="refactor.rewrite.implementInterface",
            command="gopls.implement_interface",
            arguments=({"Location": "{location}"},),
            answers={"interface": "{interface}", "": "{interface}"},
            symbols=("interface",),
            needs=r"^type\b",
        ),
    ),
)

# Which of its answers were seen to lack something, in gopls 0.24.
WORD_CHECK = WordCheck(
    # Of a package with an open file it keeps the types, and answers for its other files in a millisecond.
    by_folder=True,
    # `type Pair[K comparable, V any]`; what braces or parentheses that are still open declare is not a parameter.
    own_parameter_pattern=r"\[(?:[^{}();]|\{[^{}]*\}|\([^()]*\))*",
    # gopls 0.24 knows what the second name of a linkname means, but not the first.
    directive_pattern=r"(?m)^//(?:go:linkname|export)[ \t]+\Z",
    # Of T.M those of every interface method that it implements, and of an interface method those of what implements it.
    grouped=True,
    # Of 144 random symbols none lacked a use in a file that it had read, but for members of generic types (see
    # [symbols]).
    exact=True,
)
