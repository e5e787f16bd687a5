"""Attributes by their parts, each looked at once: a few that share parts may stand for millions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Generic, TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, ParametrizedAttribute

T = TypeVar("T")


class AttributeFold(Generic[T]):
    """What `combine` makes of an attribute and of what came out of its parts; kept for each attribute; iterative."""

    def __init__(self, combine: Callable[[Attribute, Sequence[T]], T]):
        self._combine = combine
        self._known: dict[int, tuple[Attribute, T]] = {}
        """By `id`; the attribute is kept, so that no other can have the same."""

    def of(self, attribute: Attribute) -> T:
        """What comes out of `attribute`."""
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
    """The attributes that an attribute consists of, in order."""
    if isinstance(attribute, ArrayAttr):
        return attribute.data
    if isinstance(attribute, DictionaryAttr):
        return [attribute.data[key] for key in sorted(attribute.data)]
    return attribute.parameters if isinstance(attribute, ParametrizedAttribute) else ()


def digest(attribute: Attribute, parts: Sequence[bytes]) -> bytes:
    """A digest of an attribute, from those of its parts; the same in every process."""
    keys = sorted(attribute.data) if isinstance(attribute, DictionaryAttr) else ()
    own = str(attribute) if not parts and not isinstance(attribute, ArrayAttr) else ""
    made = blake2b(digest_size=16)
    for part in (attribute.name.encode(), own.encode(), *(key.encode() for key in keys), *parts):
        made.update(f"{len(part)}:".encode() + part)
    return made.digest()


def count(attribute: Attribute, parts: Sequence[int]) -> int:
    """How many parts an attribute has when it is written out, from those of its parts; at least 1."""
    return 1 + sum(parts)
