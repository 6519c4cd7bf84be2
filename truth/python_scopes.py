"""What the names of a Python module mean, by `ast` and the language's rules of scopes: `Module`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

At = tuple[int, int]  # line from 1, column from 0, in bytes

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ANNOTATION = re.compile(r"[\w.\[\], |]+")


@dataclass
class Import:
    """What an import binds a name to: `name` of `module`, or `module` itself if that is ""."""

    module: str
    name: str


@dataclass
class Scope:
    """One scope, with the names that it binds."""

    kind: str  # module, class, function, types
    line: int
    name: str
    above: Scope | None
    first: str = ""  # the first parameter of a method
    bound: dict[str, list[tuple[At, str]]] = field(default_factory=lambda: defaultdict(list))  # name → places and kinds
    imports: dict[str, list[Import]] = field(default_factory=lambda: defaultdict(list))
    passed_on: dict[str, str] = field(default_factory=dict)  # name → "global" or "nonlocal"
    parameters: dict[str, At] = field(default_factory=dict)

    def owner(self, name: str) -> Scope | None:
        """The scope that a `name` used here belongs to; None for a builtin."""
        if self.passed_on.get(name) == "global":
            return self.module
        here: Scope | None = self
        if self.passed_on.get(name) == "nonlocal":
            here = self.above
        is_first = here is self
        while here:
            if name in here.bound and (is_first or here.kind != "class"):
                if here.passed_on.get(name) == "global":
                    return here.module
                if here.passed_on.get(name) != "nonlocal":
                    return here
            is_first = here.kind == "types" and is_first
            here = here.above
        return None

    @property
    def module(self) -> Scope:
        """The outermost."""
        return self.above.module if self.above else self


@dataclass
class Use:
    """A name at a place: `scope` owns it."""

    at: At
    name: str
    scope: Scope
    is_call: bool = False
    optional: bool = False


@dataclass
class Attribute:
    """An attribute at a place; `end` is the end of its expression. `self_of` is the class if it is one of `self`."""

    at: At
    end: At
    name: str
    self_of: Scope | None
    stored: bool
    is_call: bool
    whole: ast.Attribute
    scope: Scope


@dataclass
class Keyword:
    """A keyword of a call; `callee` is the end of the called expression."""

    at: At
    name: str
    callee: At


class Module:
    """One parsed module."""

    def __init__(self, text: str) -> None:
        self.scope = Scope("module", 0, "", None)
        self.scopes: list[Scope] = [self.scope]
        self.uses: list[Use] = []
        self.attributes: list[Attribute] = []
        self.keywords: list[Keyword] = []
        self.imported: list[tuple[At, Import]] = []  # names in import statements
        self.unknown: list[tuple[At, str]] = []
        self.fixtures: set[str] = set()  # functions whose names pytest fills parameters by
        self.filled: list[tuple[At, str]] = []  # such parameters
        self.classes: dict[int, Scope] = {}
        self.functions: dict[int, Scope] = {}
        self.kinds: dict[int, str] = {}  # of a class scope's members …
        self._lines = text.split("\n")
        self._names = _name_tokens(text)
        self._callees: set[int] = set()
        self._later: list[tuple[Scope, ast.AST, bool]] = []
        tree = ast.parse(text)
        self._bind(tree.body, self.scope)
        for scope, node, in_annotation in self._later:
            self._used(node, scope, in_annotation)

    # --- binding: first all scopes and what they bind, then the uses

    def _bind(self, body: Iterable[ast.AST], scope: Scope) -> None:
        for node in body:
            self._statement(node, scope)

    def _add(self, scope: Scope, name: str, at: At, kind: str) -> None:
        scope.bound[name].append((at, kind))

    def _statement(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                at = self._after(node, node.name)
                self._add(scope, node.name, at, "method" if scope.kind == "class" else "function")
                self.uses.append(Use(at, node.name, scope))
                for one in node.decorator_list:
                    self._expression(one, scope)
                inner = self._type_parameters(node, scope)
                self._function(node, inner, scope)
            case ast.ClassDef():
                at = self._after(node, node.name)
                self._add(scope, node.name, at, "class")
                self.uses.append(Use(at, node.name, scope))
                for one in node.decorator_list:
                    self._expression(one, scope)
                inner = self._type_parameters(node, scope)
                for one in (*node.bases, *(keyword.value for keyword in node.keywords)):
                    self._expression(one, inner)
                made = self._scope("class", node.lineno, node.name, inner)
                self.classes[node.lineno] = made
                self._bind(node.body, made)
            case ast.Global() | ast.Nonlocal():
                kind = "global" if isinstance(node, ast.Global) else "nonlocal"
                for name, at in self._named(node):
                    if name in node.names:
                        scope.passed_on[name] = kind
                        if kind == "global":
                            self._add(scope.module, name, at, "passed")
                        scope.bound.setdefault(name, [])
                        self.uses.append(Use(at, name, scope))
            case ast.Import():
                for alias in node.names:
                    if alias.asname:
                        self._imported(scope, alias.asname, self._end(alias, alias.asname), Import(alias.name, ""))
                    else:
                        top = alias.name.split(".")[0]
                        self._imported(scope, top, (alias.lineno, alias.col_offset), Import(top, ""))
            case ast.ImportFrom():
                module = "." * node.level + (node.module or "")
                for alias in node.names:
                    at = (alias.lineno, alias.col_offset)
                    if alias.name == "*":
                        scope.imports["*"].append(Import(module, "*"))
                        continue
                    self.imported.append((at, Import(module, alias.name)))
                    name = alias.asname or alias.name
                    to = self._end(alias, name) if alias.asname else at
                    self._imported(scope, name, to, Import(module, alias.name), is_listed=bool(alias.asname))
            case ast.ExceptHandler():
                if node.type:
                    self._expression(node.type, scope)
                if node.name:
                    end = node.type.end_lineno, node.type.end_col_offset  # type: ignore[union-attr]
                    at = next(at for name, at in self._names if at >= end and name == node.name)
                    self._add(scope, node.name, at, "var")
                    self.uses.append(Use(at, node.name, scope))
                self._bind(node.body, scope)
            case ast.Assign() | ast.AugAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                self._listed(targets, node.value, scope)
                for child in ast.iter_child_nodes(node):
                    self._expression(child, scope)
            case ast.AnnAssign():
                self._listed([node.target], node.value, scope)
                self._expression(node.target, scope)
                self._expression(node.annotation, scope, in_annotation=True)
                if node.value:
                    self._expression(node.value, scope)
            case ast.match_case():
                self._pattern(node.pattern, scope)
                if node.guard:
                    self._expression(node.guard, scope)
                self._bind(node.body, scope)
            case ast.expr():
                self._expression(node, scope)
            case _:
                for child in ast.iter_child_nodes(node):
                    self._statement(child, scope)

    def _listed(self, targets: Sequence[ast.expr], value: ast.expr | None, scope: Scope) -> None:
        """The names in the strings of `__all__`, which are uses, and of `__slots__`, which declare attributes."""
        kinds = {"__all__": "module", "__slots__": "class"}
        named = {one.id for one in targets if isinstance(one, ast.Name) and kinds.get(one.id) == scope.kind}
        if not named or value is None:
            return
        for one in ast.walk(value):
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.isidentifier():
                at = one.lineno, one.col_offset + 1
                if "__slots__" in named:
                    self._add(scope, one.value, at, "var")
                self.uses.append(Use(at, one.value, scope))

    def _imported(self, scope: Scope, name: str, at: At, what: Import, *, is_listed: bool = True) -> None:
        self._add(scope, name, at, "import")
        scope.imports[name].append(what)
        if is_listed:
            self.uses.append(Use(at, name, scope))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, above: Scope, around: Scope) -> None:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [one for one in (arguments.vararg, arguments.kwarg) if one]
        for default in (*arguments.defaults, *(one for one in arguments.kw_defaults if one)):
            self._expression(default, around)
        scope = self._scope("function", node.lineno, getattr(node, "name", "lambda"), above)
        if not isinstance(node, ast.Lambda):
            self.functions[node.lineno] = scope
            is_static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in node.decorator_list)
            positional = [*arguments.posonlyargs, *arguments.args]
            if around.kind == "class" and positional and not is_static:
                scope.first = positional[0].arg
            if node.returns:
                self._expression(node.returns, above, in_annotation=True)
        is_fixture = any("fixture" in ast.unparse(one) for one in getattr(node, "decorator_list", ()))
        if is_fixture:
            self.fixtures.add(scope.name)
        for one in every:
            at = (one.lineno, one.col_offset)
            if is_fixture or scope.name.startswith("test"):
                self.filled.append((at, one.arg))
            self._add(scope, one.arg, at, "param")
            scope.parameters[one.arg] = at
            self.uses.append(Use(at, one.arg, scope))
            if one.annotation:
                self._expression(one.annotation, above, in_annotation=True)
        if isinstance(node, ast.Lambda):
            self._expression(node.body, scope)
        else:
            self._bind(node.body, scope)

    def _type_parameters(self, node: ast.AST, scope: Scope) -> Scope:
        parameters = getattr(node, "type_params", [])
        if not parameters:
            return scope
        made = self._scope("types", 0, "", scope)
        for one in parameters:
            stars = {"TypeVar": 0, "TypeVarTuple": 1, "ParamSpec": 2}[type(one).__name__]
            at = (one.lineno, one.col_offset + stars)
            self._add(made, one.name, at, "typeparam")
            self.uses.append(Use(at, one.name, made))
            if bound := getattr(one, "bound", None):
                self._later.append((made, bound, True))
        return made

    def _pattern(self, node: ast.AST, scope: Scope) -> None:
        for child in ast.walk(node):
            name = getattr(child, "name", None) or getattr(child, "rest", None)
            if isinstance(child, (ast.MatchAs, ast.MatchStar, ast.MatchMapping)) and name:
                at = max(at for word, at in self._names if word == name and _start(child) <= at < _end(child))
                self._add(scope, name, at, "var")
                self.uses.append(Use(at, name, scope))
            elif isinstance(child, ast.MatchClass):
                self._expression(child.cls, scope)
                words = [(word, at) for word, at in self._names if _start(child) <= at < _end(child)]
                self.unknown += [(at, word) for word, at in words if word in child.kwd_attrs]
            elif isinstance(child, ast.MatchValue):
                self._expression(child.value, scope)

    def _expression(self, node: ast.AST, scope: Scope, *, in_annotation: bool = False) -> None:
        """Bind what the expression binds; its uses are looked at when all bindings are known."""
        if isinstance(node, ast.Lambda):
            self._function(node, scope, scope)
            return
        if isinstance(node, _COMPREHENSIONS):
            first, *others = node.generators
            self._expression(first.iter, scope)
            made = self._scope("function", node.lineno, "comprehension", scope)
            for one in node.generators:
                self._expression(one.target, made)
                for test in one.ifs:
                    self._expression(test, made)
            for one in others:
                self._expression(one.iter, made)
            for part in ("elt", "key", "value"):
                if child := getattr(node, part, None):
                    self._expression(child, made)
            return
        if isinstance(node, ast.NamedExpr):
            holder = scope
            while holder.name == "comprehension" and holder.above:
                holder = holder.above
            self._add(holder, node.target.id, _start(node.target), "var")
            self._later.append((holder, node.target, False))
            self._expression(node.value, scope)
            return
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                self._add(scope, node.id, _start(node), "var")
            self._later.append((scope, node, False))
            return
        if isinstance(node, ast.Constant):
            if in_annotation and isinstance(node.value, str):
                self._later.append((scope, node, True))
            return
        if isinstance(node, (ast.Attribute, ast.Call)):
            self._later.append((scope, node, False))
        if (isinstance(node, ast.Subscript) and not in_annotation) or _is_of_types(node):
            self._quoted(node)
        if isinstance(node, ast.Subscript) and in_annotation:
            is_literal = ast.unparse(node.value).endswith(("Literal", "Annotated"))
            self._expression(node.value, scope, in_annotation=True)
            self._expression(node.slice, scope, in_annotation=not is_literal)
            return
        for child in ast.iter_child_nodes(node):
            self._expression(child, scope, in_annotation=in_annotation)

    def _quoted(self, node: ast.AST) -> None:
        """What a string in `node` names may be a type, and may be none."""
        for one in ast.walk(node):
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.lineno == one.end_lineno:
                line = self._lines[one.lineno - 1].encode()
                written = line[one.col_offset : one.end_col_offset].decode(errors="replace")
                for word in re.finditer(r"[^\W\d]\w*", written):
                    at = one.lineno, one.col_offset + len(written[: word.start()].encode())
                    self.unknown.append((at, word[0]))

    # --- uses

    def _used(self, node: ast.AST, scope: Scope, in_annotation: bool) -> None:
        if isinstance(node, ast.Name):
            self._use(node.id, _start(node), scope, node)
        elif isinstance(node, ast.Attribute):
            assert node.end_lineno and node.end_col_offset is not None
            at = node.end_lineno, node.end_col_offset - len(node.attr.encode())
            value = node.value
            own = None
            if isinstance(value, ast.Name):
                holder = scope.owner(value.id)
                if holder and holder.first == value.id and len(holder.bound[value.id]) == 1:
                    own = holder.above
                    while own and own.kind == "types":
                        own = own.above
            stored = isinstance(node.ctx, ast.Store)
            self.attributes.append(
                Attribute(at, _end(node), node.attr, own, stored, id(node) in self._callees, node, scope)
            )
        elif isinstance(node, ast.Call):
            self._callees.add(id(node.func))
            for one in node.keywords:
                if one.arg:
                    self.keywords.append(Keyword((one.lineno, one.col_offset), one.arg, _end(node.func)))
        elif isinstance(node, ast.Constant):
            self._in_string(node, scope)
        elif in_annotation:
            for child in ast.walk(node):
                if isinstance(child, (ast.Name, ast.Attribute, ast.Constant)):
                    self._used(child, scope, True)

    def _use(self, name: str, at: At, scope: Scope, node: ast.AST | None = None, *, optional: bool = False) -> None:
        owner = scope.owner(name)
        if owner:
            self.uses.append(Use(at, name, owner, id(node) in self._callees, optional))
        else:
            self.unknown.append((at, name))

    def _in_string(self, node: ast.Constant, scope: Scope) -> None:
        """A type that is quoted."""
        text = str(node.value)
        line = self._lines[node.lineno - 1].encode()
        start = node.col_offset + 1
        if node.lineno != node.end_lineno or not _ANNOTATION.fullmatch(text):
            return
        if line[start : start + len(text)].decode(errors="replace") != text:
            return
        try:
            parsed = ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            return
        start += len(text) - len(text.lstrip())
        for child in ast.walk(parsed):
            if isinstance(child, ast.Name):
                self._use(child.id, (node.lineno, start + child.col_offset), scope)
            elif isinstance(child, ast.Attribute):
                self.unknown.append(((node.lineno, start + (child.end_col_offset or 0) - len(child.attr)), child.attr))

    # --- places

    def _scope(self, kind: str, line: int, name: str, above: Scope) -> Scope:
        made = Scope(kind, line, name, above)
        self.scopes.append(made)
        return made

    def _named(self, node: ast.stmt) -> Iterator[tuple[str, At]]:
        return ((name, at) for name, at in self._names if _start(node) <= at < _end(node))

    def _after(self, node: ast.stmt, name: str) -> At:
        return next(at for word, at in self._named(node) if word == name and at > _start(node))

    def _end(self, alias: ast.alias, name: str) -> At:
        assert alias.end_lineno and alias.end_col_offset
        return alias.end_lineno, alias.end_col_offset - len(name.encode())


def _is_of_types(node: ast.AST) -> bool:
    """Whether types may be quoted in the arguments of a call."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("cast", "TypeVar", "NewType", "NamedTuple"))


def _start(node: ast.AST) -> At:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _end(node: ast.AST) -> At:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def _name_tokens(text: str) -> list[tuple[str, At]]:
    lines = text.split("\n")
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            line, character = token.start
            found.append((token.string, (line, len(lines[line - 1][:character].encode()))))
    return found
