"""A bounded cache whose values are valid as long as their source is unchanged: `Remembered`."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sized
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

Key = TypeVar("Key")
Stamp = TypeVar("Stamp")
Value = TypeVar("Value")
Owner = TypeVar("Owner")
Collected = TypeVar("Collected", bound=Sized)


class Remembered(Generic[Key, Stamp, Value]):
    """One value per key, valid for one stamp; bounded by weight, the least recently used values are dropped."""

    def __init__(self, most: int) -> None:
        """`most` is the weight of all values together."""
        self._most = most
        self._weight = 0
        self._values: OrderedDict[Key, tuple[Stamp, Value, int]] = OrderedDict()

    def get(self, key: Key, stamp: Stamp) -> Value | None:
        """The value of `key`; None if there is none for `stamp`."""
        known = self._values.get(key)
        if known is None or known[0] != stamp:
            return None
        self._values.move_to_end(key)
        return known[1]

    def put(self, key: Key, stamp: Stamp, value: Value, weight: int) -> None:
        """Store `value` for `key`, replacing an earlier one."""
        self.forget(key)
        self._values[key] = stamp, value, weight
        self._weight += weight
        while self._weight > self._most:
            _, (_, _, freed) = self._values.popitem(last=False)
            self._weight -= freed

    def forget(self, key: Key) -> None:
        """Drop the value of `key`."""
        if known := self._values.pop(key, None):
            self._weight -= known[2]


async def kept_in_thread(
    kept: Remembered[Key, Stamp, Collected], key: Key, stamp: Stamp, work: Callable[[], Collected]
) -> Collected:
    """The value of `key` in `kept`; unless there is one for `stamp`, `work` makes it in a thread."""
    if (found := kept.get(key, stamp)) is None:
        found = await asyncio.to_thread(work)
        kept.put(key, stamp, found, len(found) + 1)
    return found


class RememberedOf(Generic[Owner, Key, Stamp, Value]):
    """A `Remembered` for each owner, for as long as that lives."""

    def __init__(self, most: int) -> None:
        """`most` is the weight of all values of one owner together."""
        self._most = most
        self._all: WeakKeyDictionary[Owner, Remembered[Key, Stamp, Value]] = WeakKeyDictionary()

    def for_owner(self, owner: Owner) -> Remembered[Key, Stamp, Value]:
        """That of `owner`."""
        if (found := self._all.get(owner)) is None:
            found = self._all[owner] = Remembered(self._most)
        return found
