"""A tool independent of any protocol: `Tool` is a method with a checked argument model.

The MCP server and the command line offer the same tools through it.
"""

from __future__ import annotations

import asyncio
import difflib
import inspect
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import cache, partial
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Protocol, TypeVar, get_type_hints

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema

from lsp_mcp import budget
from lsp_mcp.backend import Report, no_report
from lsp_mcp.errors import ArgumentsError, LspMcpError, UnavailableError
from lsp_mcp.sessions.standing_in import by_syntax
from lsp_mcp.text import Base
from lsp_mcp.usage import Answered, Outcome
from lsp_mcp.visible import ECHO, quoted, short_echo, shortened, visible_lines, without_long_echoes
from lsp_mcp.waiting import bounded, phase


class _Unlisted:
    """See `UNLISTED`."""


UNLISTED = _Unlisted()
"""Marks a parameter, `Annotated[int, UNLISTED]`, that is accepted but not in the schema that models read.

For rarely used ones: a listed parameter costs every reader of the list of tools about 20 tokens.
"""

Format = Literal["json", "compact"]
FormatChoice = Annotated[Format | None, Field(description="Form of the answer; default: the server's"), UNLISTED]

Wait = Annotated[bool, Field(description="Wait until all of the answer is proven"), UNLISTED]
AnswerWithin = Annotated[
    float | None, Field(ge=0, description="Longest wait, in seconds, for the proof of the answer"), UNLISTED
]
Syntactic = Annotated[
    bool, Field(description="Answer by syntax alone where the language server has not loaded, or failed"), UNLISTED
]
_WAITING = 600.0  # seconds that a call with `wait` may take

_BY_SYNTAX = "For an answer by syntax alone, which proves nothing, call again with syntactic=true."
_LIMITS = ("additionalProperties", "minimum", "maximum", "maxItems", "minItems", "minLength", "maxLength")
_MOST = 8  # problems reported per call
# Tools name the same thing differently, and models mix that up. A tool takes each of these for the only one it has.
_SAME = (
    frozenset({"symbol", "symbols", "symbol_anchor", "symbol_name", "anchor", "target", "query", "name"}),
    frozenset({"path", "file_path", "file", "filename"}),
    frozenset({"code", "text", "content", "body", "new_text", "new_code", "new_body"}),
    frozenset({"expect", "hash", "expected", "expected_hash"}),
)
_PLACE = frozenset({"line", "column", "character", "col", "line_number", "position"})  # parts of one argument here
_OUTCOMES: dict[bool | None, Outcome] = {None: "answered", True: "complete", False: "incomplete"}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MARK = "__lsp_mcp_tool__"
Method = TypeVar("Method", bound=Callable[..., Awaitable[str]])


class Client(Struct, frozen=True):
    """The caller: the program's name, and a key that is the same for all calls of one connection."""

    name: str = "shell"
    key: str = ""


class Call(Struct):
    """One call of a tool: the caller's arguments, and a function that reports progress."""

    format: Format = "json"
    report: Report = no_report
    arguments: dict[str, Any] = field(default_factory=dict)  # as given, for the echo
    client: Client = field(default_factory=Client)
    idempotency: Any = None  # identifies a repeated call; the toolset's own
    remarks: list[str] = field(default_factory=list)  # for the reader, in addition to the answer
    is_unfinished: bool = False  # set by a tool that could not do all of what was asked
    found_errors: bool = False  # set by a tool that was asked whether there are any
    is_complete: bool | None = None  # what the status of the answer says, if it has one
    files: set[Path] = field(default_factory=set)  # those whose code the answer shows

    def remark(self, text: str) -> None:
        """Add a remark next to the answer, whose form is fixed."""
        self.remarks.append(visible_lines(text))


Later = Callable[[object, Callable[[], Awaitable[object]]], None]
"""Called with a question and the call that asks it; see `evidence.background`."""


class _Mark(NamedTuple):
    """The description of `tool`."""

    title: str
    read_only: bool
    destructive: bool
    passes: bool
    listed: bool
    proven: bool
    parses: bool


class Tool(Struct, frozen=True):
    """One tool of one vocabulary."""

    name: str
    title: str
    read_only: bool
    destructive: bool
    docstring: str  # of its method, each paragraph on one line
    modelled: Callable[[], type[BaseModel]]  # makes the model of its arguments, when it is first needed
    method: Callable[..., Awaitable[str]]
    listed: Callable[[], bool] = lambda: True  # whether it is listed now; unlisted ones can still be called
    timeout: float | None = None  # seconds that a call may wait for servers, without `--ready-timeout`; None: no limit
    proven: bool = False  # whether its answers are compared with the code; its callers decide about the time for it
    answer_within: float | None = None  # seconds for the proof of an answer that only reads; None: see `budget`
    parses: bool = False  # whether a syntax tree can answer it; its callers decide whether that may replace a server
    passes: bool = False  # whether it sends what the caller names: its effect depends on what the user allows
    base: Base = 1
    toolset: str = ""  # the name of its toolset
    use: Callable[[], AbstractContextManager[None]] = nullcontext  # entered for the time of a call
    take_news: Callable[[], Iterable[str]] = tuple  # remarks that the next answer has, whatever it is about
    later: Later | None = None  # gets what finishes an answer that was cut short
    turn: Callable[[Call], asyncio.Lock] | None = None  # held during a call: this one runs after earlier ones
    count: Callable[[Answered], None] = lambda _: None  # called after each call that was not cancelled

    @property
    def model(self) -> type[BaseModel]:
        """The model of its arguments. It takes milliseconds to create: once, for all clients."""
        return self.modelled()

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, without details that models don't need: it is read in every conversation.

        Invalid arguments are refused with a message that says what is allowed; unknown ones must pass a client's own
        check, since some arguments are not listed.
        """
        return _listed_schema(self.model, self.base)

    @property
    def whole_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments with the accepted but unlisted parameters."""
        return _whole_schema(self.model, self.base)

    @property
    def description(self) -> str:
        """Its description, for a model."""
        return _counted(self.docstring, self.base)

    async def call(self, call: Call, arguments: dict[str, Any]) -> str:
        """The answer's text.

        Raises:
            ArgumentsError: invalid arguments; the message names each and says what fits.
            SilentError: a server took longer than the tool's timeout.
            LspMcpError: the tool's own errors.
        """
        began = time.monotonic()
        try:
            answer = await self._answer(call, arguments)
        except Exception:
            self.count(Answered(self.name, "failed", time.monotonic() - began, reader=call.client.key))
            raise
        seconds, size = time.monotonic() - began, len(answer.encode(errors="replace"))
        self.count(Answered(self.name, _OUTCOMES[call.is_complete], seconds, size, call.files, call.client.key))
        return answer

    async def _answer(self, call: Call, arguments: dict[str, Any]) -> str:
        checked = self._check(arguments)
        call.arguments = short_echo(checked.model_dump(exclude_unset=True))
        values = {_parameter(name): getattr(checked, name) for name in type(checked).model_fields}
        call.format = values.pop("format", None) or call.format
        waits, seconds = (values.pop("wait"), values.pop("answer_within")) if self.proven else (False, None)
        is_parsed = self.parses and values.pop("syntactic")
        timeout = max(_WAITING, self.timeout) if waits and self.timeout else self.timeout
        is_proven = waits or not self.read_only
        proving = budget.thorough() if is_proven else budget.reading(self.answer_within if seconds is None else seconds)
        try:
            with self.use():
                async with bounded(timeout, self.name, call.report) as call.report, self._turn(call):
                    with by_syntax(is_parsed), proving as present:
                        answer = await self.method(call, **values)
            for text in self.take_news():
                call.remark(text)
            if present.is_cut and self.read_only and self.later:
                own = Call(call.format, arguments=call.arguments, client=Client("background", "background"))
                self.later((self.name, repr(values)), partial(self.method, own, **values))
            return answer
        except LspMcpError as error:
            if self.parses and isinstance(error, UnavailableError) and not is_parsed:
                error.args = (f"{str(error).rstrip('.')}. {_BY_SYNTAX}",)
            # Whatever the source of the message (a server, for example), it must not repeat all of the caller's input.
            error.args = (without_long_echoes(str(error), arguments),)
            raise

    @asynccontextmanager
    async def _turn(self, call: Call) -> AsyncIterator[None]:
        if self.turn is None:
            yield
            return
        turn = self.turn(call)
        with phase(lambda: "an earlier call is being carried out"):
            await turn.acquire()
        try:
            yield
        finally:
            turn.release()

    def _check(self, arguments: dict[str, Any]) -> BaseModel:
        known = list(self.model.model_fields)
        arguments = {_meant(name, known, arguments): value for name, value in arguments.items()}
        if unknown := [name for name in arguments if name not in known]:
            problems = [
                *(_unknown(name, known, self.base) for name in unknown[:_MOST]),
                *_more(len(unknown) - _MOST),
            ]
            raise ArgumentsError(f"{'; '.join(problems)}. {self.name} takes: {', '.join(known)}.")
        try:
            return self.model.model_validate(arguments)
        except ValidationError as error:
            found = error.errors(include_url=False)
            problems = [
                *(_problem(one, self.input_schema["properties"]) for one in found[:_MOST]),
                *_more(len(found) - _MOST),
            ]
            raise ArgumentsError(f"{self.name}: {'; '.join(problems)}.") from None


def tool(
    *,
    title: str,
    read_only: bool,
    destructive: bool = False,
    passes: bool = False,
    listed: bool = True,
    proven: bool = False,
    parses: bool = False,
) -> Callable[[Method], Method]:
    """Mark a method as a tool: its name, signature and docstring are the published ones.

    Its first parameter is the `Call`; a parameter `format` is removed and decides the form of the answer. A tool that
    is not `listed` can still be called, for instance by an old name. Answers of a `proven` one are compared with the
    code; its callers may allow more or less time for that. Those of one that `parses` may be by syntax alone.
    """

    def mark(method: Method) -> Method:
        setattr(method, _MARK, _Mark(title, read_only, destructive, passes, listed, proven, parses))
        return method

    return mark


def declared_tools(toolset: type) -> tuple[Tool, ...]:
    """The tools declared in a toolset's class, in source order; not bound to an instance."""
    return _declared(toolset)


@cache
def _declared(toolset: type) -> tuple[Tool, ...]:
    return tuple(
        Tool(
            name=name,
            title=mark.title,
            read_only=mark.read_only,
            destructive=mark.destructive,
            docstring=_docstring(function),
            modelled=partial(_model, name, function, proven=mark.proven, parses=mark.parses),
            method=function,
            listed=partial(bool, mark.listed),
            passes=mark.passes,
            proven=mark.proven,
            parses=mark.parses,
        )
        for name, function in vars(toolset).items()
        if isinstance(mark := getattr(function, _MARK, None), _Mark)
    )


class Lists(Protocol):
    """The part of a toolset that a list of tools needs."""

    def lists(self, name: str) -> bool:
        """Whether the tool called `name` is listed now."""


def tools_of(toolset: Lists, base: Base = 1) -> list[Tool]:
    """The tools of a toolset, ready to be called; lines and characters count from `base`."""
    return [
        replace(tool, method=getattr(toolset, tool.name), listed=partial(_lists, toolset, tool), base=base)
        for tool in declared_tools(type(toolset))
    ]


def _lists(toolset: Lists, tool: Tool) -> bool:
    return tool.listed() and toolset.lists(tool.name)


def _docstring(function: Callable[..., Any]) -> str:
    """Its docstring, each paragraph on one line."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(function.__doc__ or ""))


@cache
def _model(name: str, function: Callable[..., Any], *, proven: bool, parses: bool) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())[2:]  # without self and the call
    fields: dict[str, Any] = {
        parameter.name.rstrip("_"): (
            hints[parameter.name],
            ... if parameter.default is inspect.Parameter.empty else parameter.default,
        )
        for parameter in parameters
    }
    if proven:
        fields |= {"wait": (Wait, False), "answer_within": (AnswerWithin, None)}
    if parses:
        fields |= {"syntactic": (Syntactic, False)}
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _parameter(argument: str) -> str:
    """The parameter of a method for a tool's argument: `in_` for `in`, which is a word of Python's own."""
    return f"{argument}_" if iskeyword(argument) else argument


# Each client asks for the list, and a schema takes milliseconds to make; who gets one must not change it.
@cache
def _listed_schema(model: type[BaseModel], base: Base) -> dict[str, Any]:
    whole = _whole_schema(model, base)
    unlisted = {name for name, one in model.model_fields.items() if any(isinstance(m, _Unlisted) for m in one.metadata)}
    listed = {name: prop for name, prop in whole["properties"].items() if name not in unlisted}
    return dict(_short({**whole, "properties": listed}))


@cache
def _whole_schema(model: type[BaseModel], base: Base) -> dict[str, Any]:
    schema = model.model_json_schema(schema_generator=_SmallSchema)
    for prop in schema["properties"].values():
        if "description" in prop:
            prop["description"] = _counted(prop["description"], base)
    return schema


def _counted(text: str, base: Base) -> str:
    """`text`, which names the base of lines and characters, for the actual `base`."""
    return re.sub(r"\b([Ff]rom) 1\b", rf"\1 {base}", text)


class _SmallSchema(GenerateJsonSchema):
    """Removes titles and the null that only marks optional arguments: they cost a model tokens."""

    def generate(self, schema: Any, mode: Any = "validation") -> dict[str, Any]:
        out = super().generate(schema, mode)
        out.pop("title", None)
        definitions = out.pop("$defs", {})
        return {**out, "properties": _inlined(_small(out), definitions)}


def _small(schema: dict[str, Any]) -> dict[str, Any]:
    """The properties of an object's schema, without titles and without the null of optional ones."""
    small = {}
    for name, prop in schema.get("properties", {}).items():
        bare = {key: value for key, value in prop.items() if key not in ("title", "anyOf")}
        if options := prop.get("anyOf"):
            bare.update(next(option for option in options if option.get("type") != "null"))
            bare.pop("default", None)
        small[name] = bare
    return small


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """`schema` with each reference replaced by its target: some clients cannot follow references."""
    if isinstance(schema, list):
        return [_inlined(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        referred = definitions[reference.removeprefix("#/$defs/")]
        bare = {key: value for key, value in referred.items() if key not in ("title", "description")}
        bare["properties"] = _small(referred)
        schema = {**bare, **{key: value for key, value in schema.items() if key != "$ref"}}
    return {key: _inlined(value, definitions) for key, value in schema.items()}


def _short(schema: Any) -> Any:
    """`schema` without limits and without `additionalProperties`."""
    if isinstance(schema, list):
        return [_short(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: value if key == "default" else _short(value) for key, value in schema.items() if key not in _LIMITS}


def _meant(name: str, known: Collection[str], given: Collection[str]) -> str:
    """The parameter that `name` means: itself, or the only one of `known` that is the same, unless it is `given`."""
    if name in known:
        return name
    snake = _CAMEL.sub("_", name).lower()  # `newName`: as most MCP servers write it
    if snake in known and snake not in given:
        return snake
    same = next((names for names in _SAME if name in names), frozenset[str]())
    meant = [one for one in known if one in same]
    is_clear = len(meant) == 1 and len(same.intersection(given)) == 1
    return meant[0] if is_clear else name


def _unknown(name: str, known: list[str], base: Base) -> str:
    if name in _PLACE and (symbol := next((one for one in known if one in _SAME[0]), "")):
        return f"unknown argument {quoted(name)} (pass {symbol}=FILE:LINE:COLUMN, counted from {base})"
    same = next((names for names in _SAME if name in names), frozenset[str]())
    close = [one for one in known if one in same] or difflib.get_close_matches(name[:ECHO], known, n=1, cutoff=0.5)
    return f"unknown argument {quoted(name)}" + (f" (did you mean {close[0]!r}?)" if close else "")


def _more(number: int) -> list[str]:
    return [f"and {number:,} more"] if number > 0 else []


def _problem(error: Any, properties: dict[str, Any]) -> str:
    where = shortened(".".join(str(part) for part in error["loc"])) or "arguments"
    if error["type"] == "missing":
        choices = properties.get(where, {}).get("enum")
        return f"{where} is required" + (f" (one of {', '.join(choices)})" if choices else "")
    message = error["msg"][0].lower() + error["msg"][1:]
    if error["type"] in ("model_type", "dict_type"):  # pydantic's message names a Python class
        message = "input should be an object"
    return f"{where}: {message} (got {quoted(error['input'], 80)})"
