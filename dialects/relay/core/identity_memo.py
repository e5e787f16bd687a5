"""A memo of results that follow from attributes, looked up by the identity of the objects.

xDSL hashes and compares attributes field by field: to look a tensor type up by its value takes as long as to work with
it. But programs have few types and properties and share them, so that being the same object is nearly as telling.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

LIMIT = 4096
"""How many entries a memo holds; with one more it forgets all, as a program of many types would fill the memory."""

ValueT = TypeVar("ValueT")


class IdentityMemo(Generic[ValueT]):
    """Values by keys made of `id`s. Every object named so is given to `add` as well.

    An entry keeps these objects, so that no other can have the same `id` as long as it stands.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._known: dict[Hashable, tuple[ValueT, object]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Hashable) -> ValueT | None:
        """The value remembered for `key`, if there is one."""
        found = self._known.get(key)
        return None if found is None else found[0]

    def add(self, key: Hashable, value: ValueT, *objects: object) -> ValueT:
        """Remember `value`, and keep the `objects` whose `id`s are in `key`; gives `value`."""
        if len(self._known) >= self._limit:
            self._known.clear()
        self._known[key] = (value, objects)
        return value
