"""One translation unit through libclang: `read` makes a `Unit` of it, plain data that can be sent between processes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ctypes import POINTER, byref, c_uint
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clang.cindex import (
    Cursor,
    CursorKind,
    Diagnostic,
    File,
    Index,
    LinkageKind,
    SourceLocation,
    TranslationUnit,
    Type,
    TypeKind,
    c_object_p,
    conf,
)  # fmt: skip
from graph import Place

_KINDS = {
    CursorKind.FUNCTION_DECL: "function", CursorKind.CXX_METHOD: "method", CursorKind.FUNCTION_TEMPLATE: "function",
    CursorKind.STRUCT_DECL: "class", CursorKind.CLASS_DECL: "class", CursorKind.UNION_DECL: "class",
    CursorKind.CLASS_TEMPLATE: "class", CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION: "class",
    CursorKind.ENUM_DECL: "enum", CursorKind.ENUM_CONSTANT_DECL: "enumerator", CursorKind.FIELD_DECL: "field",
    CursorKind.VAR_DECL: "var", CursorKind.PARM_DECL: "local", CursorKind.TYPEDEF_DECL: "alias",
    CursorKind.TYPE_ALIAS_DECL: "alias", CursorKind.TYPE_ALIAS_TEMPLATE_DECL: "alias", CursorKind.LABEL_STMT: "label",
    CursorKind.NAMESPACE: "namespace", CursorKind.TEMPLATE_TYPE_PARAMETER: "typeparam",
    CursorKind.TEMPLATE_NON_TYPE_PARAMETER: "typeparam", CursorKind.TEMPLATE_TEMPLATE_PARAMETER: "typeparam",
    CursorKind.CONSTRUCTOR: "constructor", CursorKind.DESTRUCTOR: "destructor",
}  # fmt: skip
_USES = {
    CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF,
    CursorKind.NAMESPACE_REF, CursorKind.MEMBER_REF, CursorKind.LABEL_REF, CursorKind.VARIABLE_REF,
    CursorKind.OVERLOADED_DECL_REF,
}  # fmt: skip
_CALLED = (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR)
# Functions of libclang that its Python package does not declare.
conf.lib.clang_getSpellingLocation.argtypes = [
    SourceLocation, POINTER(c_object_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint),
]  # fmt: skip
conf.lib.clang_getOverriddenCursors.argtypes = [Cursor, POINTER(POINTER(Cursor)), POINTER(c_uint)]
conf.lib.clang_getNumOverloadedDecls.argtypes = [Cursor]
conf.lib.clang_getOverloadedDecl.argtypes = [Cursor, c_uint]
conf.lib.clang_getOverloadedDecl.restype = Cursor


@dataclass(frozen=True)
class Declaration:
    """A declared name; `family` are places of what it overrides, `made` is the class that it constructs or destroys,
    `member_of` the class that has it.

    `canonical` is its first declaration in the unit. If it `is_linked`, other units can mean it.
    """

    place: Place
    name: str
    kind: str
    usr: str
    is_definition: bool
    is_linked: bool
    canonical: Place | None
    owner: str
    family: tuple[Place, ...]
    made: Place | None
    member_of: Place | None
    scope: str | None
    """Namespaces and classes around it, None if it has no qualified name."""


@dataclass(frozen=True)
class Use:
    """A name whose meaning is declared at `target`; `optional`: by a macro's body, or one of several."""

    place: Place
    target: Place
    is_call: bool
    optional: bool


@dataclass
class Unit:
    """clang's knowledge of one translation unit; files are relative to the tree."""

    file: str
    declarations: set[Declaration] = field(default_factory=set)
    uses: set[Use] = field(default_factory=set)
    bases: set[tuple[Place, Place]] = field(default_factory=set)
    unnamed: set[tuple[Place, str]] = field(default_factory=set)
    """Classes of objects that code uses without naming a member: as a "part", by "value", an "object", as a "range"."""
    errors: list[str] = field(default_factory=list)
    includes: set[str] = field(default_factory=set)


_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(?)", re.MULTILINE)
_SEEN: dict[tuple[str, str, int, int, int, str], Unit] = {}  # in each process; a run is short


def read(folder: Path, file: str, options: list[str], language: str, headers: str) -> Unit:
    """Parse `file` of the tree in `folder`; `headers` stands for the contents of all headers there."""
    there = [f"-I{folder / one[2:]}" if one.startswith("-I") else one for one in options]
    unit = Index.create().parse(str(folder / file), ["-x", language, *there])
    return _Reader(unit, folder, file, f"{headers} {options}").unit


class _Reader:
    """Walks the part of the tree that is below the folder."""

    def __init__(self, parsed: TranslationUnit, folder: Path, file: str, read_as: str) -> None:
        self._read_as = read_as  # what the content of a declaration in a header depends on
        self._folder = f"{folder}/"
        self._lines: dict[str, list[bytes]] = {}
        self._files: dict[str, str | None] = {}
        self._defines: dict[str, set[int]] = {}
        self.unit = Unit(file)
        for diagnostic in parsed.diagnostics:
            if diagnostic.severity >= Diagnostic.Error:
                self.unit.errors.append(f"{file}: {diagnostic.spelling}")
        for include in parsed.get_includes():
            if one := self._relative(include.include.name):
                self.unit.includes.add(one)
        self._macros: dict[bytes, bytes] = {}  # whether they have parameters: `(`
        for path in (folder / file, *(folder / one for one in self.unit.includes)):
            self._macros.update(_DEFINE.findall(b"\n".join(self._text(str(path)))))
        for child in parsed.cursor.get_children():
            location = child.location.file
            if location and self._relative(location.name):
                self._take(child, location.name)

    def _take(self, cursor: Cursor, path: str) -> None:
        """The content of a top-level declaration, the same in each unit with these flags until a header changes."""
        start, end, content = cursor.extent.start.offset, cursor.extent.end.offset, b"\n".join(self._text(path))
        # A friend is declared there, or used, depending on what the unit has declared before.
        only = self.unit.file if b"friend" in content[start:end] else ""
        key = (self._read_as, str(self._relative(path)), hash(content), start, end, only)
        if key not in _SEEN:
            every = self.unit
            self.unit = Unit(every.file)
            self._visit(cursor)
            _SEEN[key], self.unit = self.unit, every
        seen = _SEEN[key]
        self.unit.declarations |= seen.declarations
        self.unit.uses |= seen.uses
        self.unit.bases |= seen.bases
        self.unit.unnamed |= seen.unnamed

    def _visit(self, cursor: Cursor) -> None:
        """Walk below `cursor`; with an explicit stack, since expressions nest deeply."""
        waiting: list[tuple[Cursor, set[int]]] = [(cursor, set())]
        specializations: set[tuple[int, int]] = set()
        while waiting:
            one, called = waiting.pop()
            kind = one.kind
            if kind == CursorKind.ENUM_DECL and one.type.kind == TypeKind.INVALID:
                pass  # `using enum name;`, of which libclang 18 does not tell what it names
            elif kind in _KINDS:
                self._declared(one, _KINDS[kind])
            elif kind in _USES:
                self._used(one, one.hash in called, optional=(one.hash, one.location.offset) in specializations)
            elif kind == CursorKind.CALL_EXPR and one.referenced and one.referenced.kind == CursorKind.CONSTRUCTOR:
                self._used(
                    one, False, optional=True
                )  # where the name of a variable stands, of which it makes the value
            children = list(one.get_children())
            self._unnamed(one, children)
            marks: set[int] = called
            if kind == CursorKind.CALL_EXPR:
                callee = _callee(children[0]) if children else None
                marks = {callee.hash} if callee is not None else set()
                self._forwarded(one, callee)
            if kind in (CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.CLASS_TEMPLATE):
                self._bases(one, children)
            if kind in _FUNCTIONS:
                specializations |= _qualifiers(one, children)
            waiting += [(child, marks) for child in children]

    def _unnamed(self, cursor: Cursor, children: list[Cursor]) -> None:
        """Note the classes of which `cursor` uses objects without naming a member."""
        kind = cursor.kind
        if kind in _OBJECTS:
            self._uses_objects(cursor.type, _OBJECTS[kind])
        elif kind in (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.FUNCTION_TEMPLATE):
            self._uses_objects(cursor.result_type, "value")
        elif kind == CursorKind.CXX_FOR_RANGE_STMT and len(children) > 1:
            self._uses_objects(children[1].type.get_canonical(), "range", is_referred=True)
        elif kind in (CursorKind.CXX_NEW_EXPR, CursorKind.CXX_DELETE_EXPR):
            type_ = cursor.type if kind == CursorKind.CXX_NEW_EXPR else children[0].type if children else cursor.type
            self._uses_objects(type_.get_canonical().get_pointee(), "object")

    def _uses_objects(self, type_: Type, how: str, *, is_referred: bool = False) -> None:
        type_ = type_.get_canonical()
        while type_.kind in (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY):
            type_ = type_.element_type
        if is_referred and type_.get_pointee().kind != TypeKind.INVALID:
            type_ = type_.get_pointee()
        declared = type_.get_declaration()
        if declared.kind in _CLASSES and declared.spelling and (at := self._target(declared)):
            self.unit.unnamed.add((at, how))
        for number in range(type_.get_num_template_arguments()):
            argument = type_.get_template_argument_type(number)
            if argument.kind != TypeKind.INVALID:
                self._uses_objects(argument, "part")

    def _declared(self, cursor: Cursor, kind: str) -> None:
        name = cursor.spelling
        if not name or "(" in name or " " in name:
            return  # anonymous
        if kind in ("constructor", "destructor"):
            name = name.partition("<")[0]
        places = self._places(cursor.location, name)
        if not places or places[1]:
            return
        above = cursor.semantic_parent
        if kind == "var" and above is not None and above.kind in _FUNCTIONS:
            kind = "local"
        owner = above.spelling if above is not None and above.kind in _CLASSES and "(" not in above.spelling else ""
        family = tuple(self._overridden(cursor)) if kind in ("method", "destructor") else ()
        made = self._target(above) if kind in ("constructor", "destructor") and above is not None else None
        member_of = self._target(above) if owner and above is not None else None
        usr = "" if kind in ("local", "label") else cursor.get_usr()
        self.unit.declarations.add(
            Declaration(
                places[0], name, kind, usr, cursor.is_definition(), bool(usr) and _is_linked(cursor),
                self._target(cursor.canonical), owner, family, made, member_of, _scope(cursor),
            )
        )  # fmt: skip

    def _overridden(self, cursor: Cursor) -> Iterator[Place]:
        """The nearest declarations that a method overrides: there may be destructors between that nobody wrote."""
        overridden, count = POINTER(Cursor)(), c_uint()
        conf.lib.clang_getOverriddenCursors(cursor, byref(overridden), byref(count))
        for number in range(count.value):
            one = overridden[number]
            one._tu = cursor._tu
            if at := self._target(one):
                yield at
            else:
                yield from self._overridden(one)
        # The array is not freed: `one.location` and others need it, and this process ends soon.

    def _bases(self, cursor: Cursor, children: list[Cursor]) -> None:
        derived = self._target(cursor)
        for child in children:
            if child.kind == CursorKind.CXX_BASE_SPECIFIER and derived:
                # Of `Outer::Base` the last type is meant, of `Base<Argument>` the template.
                named = [one for one in child.walk_preorder() if one.referenced is not None]
                templates = [one for one in named if one.kind == CursorKind.TEMPLATE_REF]
                types = [one for one in named if one.kind == CursorKind.TYPE_REF]
                meant = templates[0] if templates else types[-1] if types else None
                if meant and not _is_qualifier(child, meant) and (base := self._target(meant.referenced)):
                    self.unit.bases.add((base, derived))

    def _used(self, cursor: Cursor, is_call: bool, *, optional: bool = False) -> None:
        targets = [cursor.referenced]
        if cursor.kind == CursorKind.OVERLOADED_DECL_REF:
            targets = [_overloaded(cursor, number) for number in range(conf.lib.clang_getNumOverloadedDecls(cursor))]
        for target in targets:
            if target is not None:
                self._means(cursor, target, is_call, optional=optional, only=len(targets) == 1)

    def _forwarded(self, call: Cursor, callee: Cursor | None) -> None:
        """Constructors that an instance of a template may pass the arguments of `call` to: of its type arguments."""
        types = [call.type.get_template_argument_type(at) for at in range(call.type.get_num_template_arguments())]
        if (function := call.referenced) is not None:
            given = range(function.get_num_template_arguments())
            types += [function.get_template_argument_type(at) for at in given]
        for type_ in types:
            for made in type_.get_declaration().get_children():
                if made.kind == CursorKind.CONSTRUCTOR:
                    for cursor in (call, callee):
                        if cursor is not None:
                            self._means(cursor, made, is_call=False, optional=True)

    def _means(self, cursor: Cursor, target: Cursor, is_call: bool, *, optional: bool, only: bool = True) -> None:
        at = self._target(target)
        if not at:
            return
        name = target.spelling.partition("<")[0]
        places = self._spelled(cursor.location) if optional else self._places(cursor.location, name)
        if places:
            place, in_macro = places
            self.unit.uses.add(Use(place, at, is_call, optional or in_macro or not only))

    def _target(self, cursor: Cursor) -> Place | None:
        """The declaration that a cursor refers to; members of instances are declared in their template."""
        places = self._places(cursor.location, cursor.spelling.partition("<")[0])
        return places[0] if places and not places[1] else None

    def _places(self, location: SourceLocation, name: str) -> tuple[Place, bool] | None:
        """The place of `name`, and whether that is only in a macro; None outside the tree.

        An argument of a macro is at its own place. Text from a macro's body is at the place where the macro is used.
        """
        used = self._at(location.file, location.line, location.column)
        if used and self._spells(used, name):
            return self._place(*used), self._uses_macro(used, name)
        spelled = self._at(*_in_file(location))
        if spelled and self._spells(spelled, name) and not self._in_define(spelled[0], spelled[1]):
            return self._place(*spelled), False
        return (self._place(*used), True) if used else None

    def _spelled(self, location: SourceLocation) -> tuple[Place, bool] | None:
        """Where the code at `location` is spelled, whatever its name; in an argument of a macro, there."""
        spelled = self._at(*_in_file(location))
        if spelled and not self._in_define(spelled[0], spelled[1]):
            return self._place(*spelled), False
        used = self._at(location.file, location.line, location.column)
        return (self._place(*used), True) if used else None

    def _at(self, file: Any, line: int, column: int) -> tuple[str, int, int] | None:
        return (file.name, line, column) if file and self._relative(file.name) else None

    def _relative(self, path: str) -> str | None:
        if path not in self._files:
            real = str(Path(path).resolve())
            self._files[path] = real.removeprefix(self._folder) if real.startswith(self._folder) else None
        return self._files[path]

    def _text(self, path: str) -> list[bytes]:
        if path not in self._lines:
            self._lines[path] = Path(path).read_bytes().split(b"\n")
        return self._lines[path]

    def _spells(self, at: tuple[str, int, int], name: str) -> bool:
        path, line, column = at
        if not self._relative(path):
            return False
        text = self._text(path)[line - 1][column - 1 :]
        spelled = name.encode()
        return text.startswith(spelled) and not re.match(rb"\w", text[len(spelled) :])

    def _uses_macro(self, at: tuple[str, int, int], name: str) -> bool:
        """Whether the `name` there is that of a macro, in whose body the symbol is called the same."""
        path, line, column = at
        behind = self._text(path)[line - 1][column - 1 + len(name.encode()) :]
        parameters = self._macros.get(name.encode())
        return parameters is not None and behind.lstrip().startswith(parameters)

    def _in_define(self, path: str, line: int) -> bool:
        if path not in self._defines:
            found = set()
            inside = False
            for number, text in enumerate(self._text(path), 1):
                inside = inside or (text.lstrip().startswith(b"#") and b"define" in text)
                if inside:
                    found.add(number)
                inside = inside and text.rstrip(b"\r").endswith(b"\\")
            self._defines[path] = found
        return line in self._defines[path]

    def _place(self, path: str, line: int, column: int) -> Place:
        before = self._text(path)[line - 1][: column - 1]
        return Place(self._relative(path) or path, line, len(before.decode("utf-8", "replace")) + 1)


def _qualifiers(function: Cursor, children: list[Cursor]) -> set[tuple[int, int]]:
    """What qualifies a member of a partial specialization, and means that: libclang says that it is the template."""
    above = function.semantic_parent
    if above is None or above.kind != CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION:
        return set()
    named = [one for one in children if one.kind == CursorKind.TEMPLATE_REF and one.spelling == above.spelling]
    return {(one.hash, one.location.offset) for one in named}


def _is_qualifier(base: Cursor, meant: Cursor) -> bool:
    """Whether a base is a member of what it names, `Template<T>::Type`, of which libclang does not say what it is."""
    words = [token.spelling for token in base.get_tokens()]
    while "<" in words:  # arguments, from the inside out
        start = max(at for at, word in enumerate(words) if word == "<")
        ends = [at for at, word in enumerate(words) if at > start and word.startswith(">")]
        if not ends:
            return False
        closed = words[ends[0]][1:]
        words[start : ends[0] + 1] = [closed] if closed else []
    return "::" in words and words[-1].isidentifier() and words[-1] != meant.referenced.spelling


def _in_file(location: SourceLocation) -> tuple[Any, int, int]:
    """Where the token is in a file: an argument of a macro where it is spelled."""
    file, line, column, offset = c_object_p(), c_uint(), c_uint(), c_uint()
    conf.lib.clang_getSpellingLocation(location, byref(file), byref(line), byref(column), byref(offset))
    return (File(file) if file else None), line.value, column.value


def _overloaded(cursor: Cursor, number: int) -> Cursor | None:
    one: Cursor = conf.lib.clang_getOverloadedDecl(cursor, number)
    one._tu = cursor._tu
    return one


def _callee(cursor: Cursor) -> Cursor | None:
    """The name that is called, below conversions and parentheses."""
    while cursor.kind not in _CALLED:
        children = list(cursor.get_children())
        if len(children) != 1:
            return None
        cursor = children[0]
    return cursor


def _is_linked(cursor: Cursor) -> bool:
    """Whether other units can mean it: not what is static or in an unnamed namespace. Macros and types of C may be."""
    above: Cursor | None = cursor
    while above is not None and above.kind != CursorKind.TRANSLATION_UNIT:
        if above.kind == CursorKind.NAMESPACE and (not above.spelling or "(" in above.spelling):
            return False
        above = above.semantic_parent
    return bool(cursor.linkage != LinkageKind.INTERNAL)


def _scope(cursor: Cursor) -> str | None:
    names: list[str] = []
    above = cursor.semantic_parent
    while above is not None and above.kind != CursorKind.TRANSLATION_UNIT:
        if above.kind == CursorKind.LINKAGE_SPEC:
            pass
        elif above.kind not in (CursorKind.NAMESPACE, *_CLASSES) or not above.spelling or "(" in above.spelling:
            return None
        else:
            names.insert(0, above.spelling)
        above = above.semantic_parent
    return "::".join(names)


_FUNCTIONS = (
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.FUNCTION_TEMPLATE, CursorKind.CONSTRUCTOR,
    CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION, CursorKind.LAMBDA_EXPR,
)  # fmt: skip
_OBJECTS = {
    CursorKind.FIELD_DECL: "part", CursorKind.CXX_BASE_SPECIFIER: "part", CursorKind.PARM_DECL: "value",
    CursorKind.VAR_DECL: "object", CursorKind.CALL_EXPR: "object",
}  # fmt: skip
_CLASSES = (CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.CLASS_TEMPLATE, CursorKind.UNION_DECL)
