"""Folds over attributes that visit each shared part once.

A small attribute that shares parts can print as millions of parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Generic, TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, ParametrizedAttribute

T = TypeVar("T")


class AttributeFold(Generic[T]):
    """A fold over attributes: `combine` maps an attribute and the results of its parts to its result.

    The result of each attribute object is cached. The fold is iterative.
    """

    def __init__(self, combine: Callable[[Attribute, Sequence[T]], T]):
        self._combine = combine
        self._known: dict[int, tuple[Attribute, T]] = {}
        """Results by `id`. The attribute is kept alive, so that no other object gets its id."""

    def of(self, attribute: Attribute) -> T:
        """Returns the result for `attribute`."""
        pending = [attribute]
        while pending:
            current = pending[-1]
            parts = parts_of(current)
            missing = [part for part in parts if id(part) not in self._known]
            if missing:
                pending += missing
                continue
            pending.pop()
            if id(current) not in self._known:
                made = self._combine(current, [self._known[id(part)][1] for part in parts])
                self._known[id(current)] = current, made
        return self._known[id(attribute)][1]


def parts_of(attribute: Attribute) -> Sequence[Attribute]:
    """Returns the attributes that an attribute directly contains, in order."""
    if isinstance(attribute, ArrayAttr):
        return attribute.data
    if isinstance(attribute, DictionaryAttr):
        return [attribute.data[key] for key in sorted(attribute.data)]
    return attribute.parameters if isinstance(attribute, ParametrizedAttribute) else ()


def digest(attribute: Attribute, parts: Sequence[bytes]) -> bytes:
    """Returns a digest of an attribute from the digests of its parts. It is equal in every process."""
    keys = sorted(attribute.data) if isinstance(attribute, DictionaryAttr) else ()
    own = str(attribute) if not parts and not isinstance(attribute, ArrayAttr) else ""
    made = blake2b(digest_size=16)
    for part in (attribute.name.encode(), own.encode(), *(key.encode() for key in keys), *parts):
        made.update(f"{len(part)}:".encode() + part)
    return made.digest()


def count(attribute: Attribute, parts: Sequence[int]) -> int:
    """Returns the number of parts in the printed form of an attribute, at least 1, from the numbers of its parts."""
    return 1 + sum(parts)
