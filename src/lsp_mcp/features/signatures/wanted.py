"""What a caller wants a function's parameters to become: `options_of`, and `arranged` for one function. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from lsp_mcp.errors import CallerError
from lsp_mcp.prose import count
from lsp_mcp.visible import quoted

OLD_ARGUMENT = "{}"  # in an argument: the one of the call


class Added(Struct, frozen=True, forbid_unknown_fields=True):
    """A parameter to add at the place `at`, from 0, of the new list; None: at its end.

    `argument` is what existing callers pass; None: nothing. With `caller_parameter` they pass their own parameter of
    the same type, which is added to callers without one, up to `depth` callers away.
    """

    name: str
    type: str
    at: int | None = None
    argument: str | None = None
    default: str = ""
    caller_parameter: bool = False
    depth: int = 1


class SignatureOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """A change of parameters, which are named by their names or their places, from 0.

    `types` are new types, `arguments` what callers pass then, with {} for what they pass now. `order` has all names of
    the result. `result` replaces what the function returns. `alone`: no other method of the same interface changes.
    """

    add: list[Added] = []
    remove: list[str | int] = []
    rename: dict[str, str] = {}
    types: dict[str, str] = {}
    arguments: dict[str, str] = {}
    order: list[str] = []
    result: str | None = None
    alone: bool = False


class NewParameter(Struct, frozen=True):
    """A parameter of the result: the old one at `index`, or `added`.

    `name`, `type`, `argument`: the new ones, if they change.
    """

    index: int | None = None
    added: Added | None = None
    name: str = ""
    type: str = ""
    argument: str = ""


class Wanted(Struct, frozen=True):
    """What the parameters of a function with `before` parameters become; `names` are the old ones."""

    before: int
    names: tuple[str, ...]
    parameters: tuple[NewParameter, ...]
    result: str | None = None

    @property
    def removed(self) -> list[int]:
        """The old parameters that are gone."""
        kept = {one.index for one in self.parameters}
        return [index for index in range(self.before) if index not in kept]

    @property
    def added(self) -> list[Added]:
        """The new parameters."""
        return [one.added for one in self.parameters if one.added]

    @property
    def renamed(self) -> dict[int, str]:
        """The new names of old parameters."""
        return {one.index: one.name for one in self.parameters if one.index is not None and one.name}

    @property
    def is_compatible(self) -> bool:
        """Whether only names change, so that every use stays as it is."""
        order = [one.index for one in self.parameters]
        same_types = not any(one.type for one in self.parameters)
        return order == list(range(self.before)) and same_types and self.result is None

    @property
    def keeps_calls(self) -> bool:
        """Whether calls stay right as they are: there are only new parameters behind the others, with defaults."""
        kept, new = self.parameters[: self.before], self.parameters[self.before :]
        same = [one.index for one in kept] == list(range(self.before)) and not any(one.type for one in kept)
        return same and self.result is None and all(one.added and one.added.default for one in new)

    @property
    def keeps_number(self) -> bool:
        """Whether a call with all arguments, or without those that have defaults, may have the right number still."""
        return len(self.parameters) == self.before or any(one.default for one in self.added)


def options_of(options: Mapping[str, Any]) -> SignatureOptions:
    """The options of a call. Raises `CallerError`: one is unknown or has another form, or there are none."""
    try:
        found = msgspec.convert(dict(options), SignatureOptions)
    except msgspec.ValidationError as error:
        known = ", ".join(SignatureOptions.__struct_fields__)
        raise CallerError(f"options: {error}. change_signature takes {known}.") from None
    if found == SignatureOptions(alone=found.alone):
        raise CallerError(
            'change_signature needs options, such as {"add": [{"name": "ctx", "type": "context.Context", "at": 0, '
            '"argument": "context.Background()"}], "remove": ["old"], "rename": {"a": "b"}, "types": {"n": "int64"}, '
            '"order": ["b", "a"]}.'
        )
    for one in found.add:
        if not one.name.isidentifier() or not one.type.strip():
            raise CallerError(f"options: {quoted(one.name)} cannot be added; pass an identifier as name, and a type.")
    for new in found.rename.values():
        if not new.isidentifier():
            raise CallerError(f"options: {quoted(new)} is not a name for a parameter.")
    return found


def arranged(options: SignatureOptions, names: Sequence[str], rest: int | None) -> Wanted:
    """The result for a function whose parameters have these `names`, empty for none; `rest` takes any number.

    Raises:
        CallerError: a parameter is not there, or would be there twice.
    """
    shown = ", ".join(name or str(number) for number, name in enumerate(names)) or "none"

    def index(name: str | int) -> int:
        if isinstance(name, str) and name in names:
            return names.index(name)
        if str(name).isdecimal() and int(name) < len(names):
            return int(name)
        raise CallerError(f"unknown parameter {quoted(str(name))}; available: {shown}")

    gone = {index(one) for one in options.remove}
    new_names = {index(old): new for old, new in options.rename.items()}
    types = {index(old): new for old, new in options.types.items()}
    arguments = {index(old): new for old, new in options.arguments.items()}
    for number in {*new_names, *types, *arguments} & gone:
        raise CallerError(f"the parameter {names[number] or number} cannot be removed and changed.")
    kept = [
        NewParameter(number, None, new_names.get(number, ""), types.get(number, ""), arguments.get(number, ""))
        for number in range(len(names))
        if number not in gone
    ]
    result = [*kept]
    for one in sorted(options.add, key=lambda one: (one.at is None, one.at or 0)):
        new = NewParameter(None, one)
        if one.at is not None:
            result.insert(one.at, new)
        elif rest is not None and rest not in gone:
            result.insert(len(result) - 1, new)
        else:
            result.append(new)
    called = [one.added.name if one.added else one.name or names[one.index or 0] for one in result]
    if options.order:
        result = _ordered(options.order, result, called, names)
        called = [one.added.name if one.added else one.name or names[one.index or 0] for one in result]
    for name in {one for one in called if one and called.count(one) > 1 and one != "_"}:
        raise CallerError(f"there would be {count(called.count(name), 'parameter')} with the name {name}.")
    return Wanted(len(names), tuple(names), tuple(result), options.result)


def _ordered(
    order: Sequence[str], parameters: Sequence[NewParameter], called: Sequence[str], names: Sequence[str]
) -> list[NewParameter]:
    """`parameters`, with these names, in an order of their new or old names, or of old places."""
    by_name: dict[str, NewParameter] = {}
    for one in parameters:
        if one.index is not None:
            by_name |= {str(one.index): one, names[one.index]: one}
    by_name |= {name: one for one, name in zip(parameters, called, strict=True) if name}
    unknown = [name for name in order if name not in by_name]
    chosen = [by_name[name] for name in order if name in by_name]
    left = [name or str(one.index) for one, name in zip(parameters, called, strict=True) if one not in chosen]
    if unknown or left or len(chosen) != len(parameters):
        shown = ", ".join(name or str(one.index) for one, name in zip(parameters, called, strict=True))
        raise CallerError(f"options.order must have each of these once: {shown}.")
    return chosen
