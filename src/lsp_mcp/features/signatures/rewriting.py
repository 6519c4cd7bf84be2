"""Declarations and calls with other parameters, in one text: `Rewriting`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from lsp_mcp.edits.listing import Listing, Slot
from lsp_mcp.features.signatures.wanted import OLD_ARGUMENT, NewParameter, Wanted
from lsp_mcp.prose import count
from lsp_mcp.syntax.signatures import Function, Parameter, Signatures

_Made = Callable[["Rewriting"], str]


class CannotError(Exception):
    """Why a place cannot be changed: `it` …"""


class Rewriting:
    """Collects changes of one text; `text` has them all. Those inside of others are made first."""

    def __init__(self, signatures: Signatures) -> None:
        self.signatures = signatures
        self._content = signatures.text.content
        self._edits: dict[tuple[int, int], _Made] = {}  # of lists
        self._words: dict[tuple[int, int], str] = {}

    @property
    def text(self) -> str:
        """The text with all changes."""
        return self._between(0, len(self._content))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to change."""
        return not (self._edits or self._words)

    def word(self, start: int, end: int, new: str) -> None:
        """Put `new` in place of what is there."""
        self._words[start, end] = new

    def declaration(self, function: Function, wanted: Wanted, *, with_defaults: bool) -> None:
        """Give `function` other parameters. Raises `CannotError`."""
        found = function.listing
        if wanted.result is not None and function.result is None and self.signatures.must_return:
            raise CannotError("has no result, or one that is not understood, as with macros or brackets around it")
        if wanted.result is not None and self.signatures.must_return and not wanted.result.strip():
            raise CannotError("must have a result; pass void for none")
        if found is None:
            raise CannotError("has parameters that are not understood, as with macros or conditions between them")
        if len(function.parameters) != wanted.before:
            raise CannotError(f"has {count(len(function.parameters), 'parameter')}, not {wanted.before}")
        self._edits[found.start, found.end] = lambda own: (
            found.inner(
                [
                    Slot(own._parameter(function, wanted, number, with_defaults=with_defaults), one.index)
                    for number, one in enumerate(wanted.parameters)
                ]
            )
            or self.signatures.empty
        )
        if wanted.result is not None:
            result = wanted.result.strip()
            if function.result and function.leads:
                self.word(*function.result, result if re.search(r"\s[*&]+$", result) else f"{result} ")
            elif function.result:
                start, end = function.result
                # The white space before it goes with it.
                before = self._content[:start].rstrip() if not result else self._content[:start]
                self.word(len(before), end, result)
            elif result:
                self.word(found.end + len(")"), found.end + len(")"), f" {result}")

    def call(self, offset: int, wanted: Wanted, rest: int | None, given: Mapping[str, str], has_defaults: bool) -> None:
        """Pass other arguments in the call of what is named at `offset`: `given` by the names of new parameters.

        Raises:
            CannotError: the arguments do not say which parameters they are for, or one is missing.
        """
        called = self.signatures.calls[offset]
        if called.listing is None:
            raise CannotError("has arguments that are not understood, as with macros or conditions between them")
        found, number = called.listing, len(called.listing.items)
        changes_order = [one.index for one in wanted.parameters] != list(range(wanted.before))
        if not changes_order and not any(one.argument for one in wanted.parameters):
            return
        if called.only_call and number != wanted.before:
            raise CannotError("passes the results of another call as arguments; assign these to variables first")
        if number > wanted.before and rest is None:
            raise CannotError(f"passes {count(number, 'argument')} for {count(wanted.before, 'parameter')}")
        if number < wanted.before - (rest is not None) and not has_defaults:
            raise CannotError(f"passes {count(number, 'argument')} for {count(wanted.before, 'parameter')}")
        passed: list[tuple[int | None, str]] = []
        omitted = ""
        for one in wanted.parameters:
            new = _passed(one, rest, number, given)
            if not new and not (one.index is not None and one.index == rest):
                omitted = omitted or (one.added.name if one.added else wanted.names[one.index or 0] or str(one.index))
            elif new and omitted:
                raise CannotError(
                    f"omits the argument for {omitted}, which comes before an argument that must be passed"
                )
            passed += new
        self._edits[found.start, found.end] = lambda own: found.inner(
            [Slot(own._argument(found, index, text), index) for index, text in passed]
        )

    # --- inside ------------------------------------------------------------------------------------

    def _argument(self, found: Listing, index: int | None, text: str) -> str:
        """The old argument `index` inside of `text`, if that is not empty; `text` without one."""
        if index is None:
            return text
        item = found.items[index]
        old = self._between(item.start, item.end, (found.start, found.end))
        return text.replace(OLD_ARGUMENT, old) if text else old

    def _parameter(self, function: Function, wanted: Wanted, number: int, *, with_defaults: bool) -> str:
        """The text of the parameter `number` of the new list."""
        one = wanted.parameters[number]
        kept = [function.parameters[other.index] for other in wanted.parameters if other.index is not None]
        no_names = bool(kept) and all(other.name is None for other in kept) and bool(self.signatures.unnamed)
        passed_on = bool(function.body) and any(added.caller_parameter for added in wanted.added)
        if one.added:
            if no_names and not passed_on:
                return one.added.type
            default = f" = {one.added.default}" if one.added.default and with_defaults else ""
            return self._formed(one.added.type, one.added.name) + default
        assert one.index is not None and function.listing
        old, item = function.parameters[one.index], function.listing.items[one.index]
        text = self._old_parameter(function, wanted, number, old)
        if no_names and passed_on:
            text = f"{self.signatures.unnamed} {text}"
        return self._content[item.start : old.span[0]] + text + self._content[old.span[1] : item.end]

    def _old_parameter(self, function: Function, wanted: Wanted, number: int, old: Parameter) -> str:
        one = wanted.parameters[number]
        assert one.index is not None
        name = self.signatures.slice(old.name) if old.name else ""
        if one.name and name == wanted.names[one.index]:
            name = one.name
        if one.type:
            default = self.signatures.slice((old.default[0], old.span[1])) if old.default else ""
            return (self._formed(one.type, name) if name else one.type) + (f" = {default}" if default else "")
        if old.group:
            # All but the last of a group have no type of their own.
            following = wanted.parameters[number + 1] if number + 1 < len(wanted.parameters) else None
            next_ = function.parameters[following.index] if following and following.index is not None else None
            if following and next_ and next_.group == old.group and not following.type:
                return name
            return self._formed(self.signatures.slice(old.type or (0, 0)), name)
        if old.name and name != self.signatures.slice(old.name):
            start, end = old.span
            return self._content[start : old.name[0]] + name + self._content[old.name[1] : end]
        assert function.listing
        return self._between(*old.span, (function.listing.start, function.listing.end))

    def _formed(self, type_: str, name: str) -> str:
        if "{}" in type_:
            return type_.replace("{}", name)
        joined = re.search(r"\s[*&]+$", type_)  # `char *name`, but `char* name`
        form = self.signatures.form.replace("{type} {name}", "{type}{name}") if joined else self.signatures.form
        return form.replace("{type}", type_).replace("{name}", name)

    def _between(self, start: int, end: int, of: tuple[int, int] | None = None) -> str:
        """The text from `start` to `end`, an item of the list `of`, with the changes in it."""
        whole = end - start == len(self._content)
        lists: list[tuple[int, int, int, _Made | str]] = [
            (*span, 0, made) for span, made in self._edits.items() if span != of
        ]
        words: list[tuple[int, int, int, _Made | str]] = [(*span, 1, new) for span, new in self._words.items()]
        pieces, at = [], start
        for first, last, _, made in sorted([*lists, *words], key=lambda one: (one[0], -one[1], one[2])):
            at_edge = first == last and first in (start, end) and not whole
            if first < at or last > end or at_edge:
                continue
            pieces += [self._content[at:first], made if isinstance(made, str) else made(self)]
            at = last
        return "".join([*pieces, self._content[at:end]])


def _passed(one: NewParameter, rest: int | None, number: int, given: Mapping[str, str]) -> list[tuple[int | None, str]]:
    """What a call with `number` arguments passes for a parameter, as in `Rewriting._argument`; nothing if left out."""
    if one.added:
        text = given.get(one.added.name, one.added.argument)
        return [] if text is None else [(None, text)]
    assert one.index is not None
    until = number if one.index == rest else min(number, one.index + 1)
    return [(index, one.argument) for index in range(one.index, until)]
