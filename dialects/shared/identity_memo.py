"""A cache of results that depend on attributes, keyed by the identity of the objects.

xDSL hashes and compares attributes field by field, so a lookup by value is as expensive as the computation. But
programs have few types and properties and share them, so lookup by identity is nearly as effective.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

LIMIT = 4096
"""The maximum number of entries. A full cache is cleared, to bound its memory."""

ValueT = TypeVar("ValueT")


class IdentityMemo(Generic[ValueT]):
    """Values by keys made of `id`s. All objects identified in a key have to be passed to `add`.

    An entry keeps these objects alive, so that no other object can have the same `id`.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._known: dict[Hashable, tuple[ValueT, object]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Hashable) -> ValueT | None:
        """Returns the value for `key`, or None."""
        found = self._known.get(key)
        return None if found is None else found[0]

    def add(self, key: Hashable, value: ValueT, *objects: object) -> ValueT:
        """Stores `value`, with the `objects` whose `id`s are in `key`; returns `value`."""
        if len(self._known) >= self._limit:
            self._known.clear()
        self._known[key] = (value, objects)
        return value
