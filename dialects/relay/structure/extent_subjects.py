"""Descriptions of named extents for messages, because the generated names are meaningless to users."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, StringAttr, TensorType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.structure.extents import CutOp, ExtentsOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.shared.locations import sources_or_place
from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import Dim, Symbol, single_atom, symbol
from xrelay.index_algebra.requirement import Requirement


class Subject(NamedTuple):
    """The description of an extent, and the location of the op that introduces it."""

    words: str
    place: str | None

    def seen_from(self, place: str | None) -> str:
        """Returns the description, followed by the location if it differs from `place`."""
        return self.words if self.place in (None, place) else f"{self.words} at {self.place}"


def extent_subjects(function: FuncOp) -> dict[str, Subject]:
    """Returns the subjects of the extents that ops and regions of `function` introduce, by name."""
    found: dict[str, Subject] = {}
    for op in _ops_in(function):
        names, place = [extent.name for extent in made_extents(op)], place_of(sources_or_place(op))
        if isinstance(op, LoopOp):
            for name, axis in _axes(argument.type for argument in op.body.block.args):
                found.setdefault(name, Subject(f"extent {axis} of a carried value of {op.name}", place))
        axes = dict(_axes(result.type for result in op.results)) if names else {}
        for number, name in enumerate(names):
            found[name] = Subject(_words(op, number, axes.get(name)), place)
    return found


def extent_subjects_around(op: Operation) -> dict[str, Subject]:
    """Returns `extent_subjects` of the function that contains `op`."""
    current: Operation | None = op
    while current is not None and not isinstance(current, FuncOp):
        current = current.parent_op()
    return {} if current is None else extent_subjects(current)


def in_words(requirement: Requirement, subjects: Mapping[str, Subject], place: str | None) -> Requirement:
    """Returns a requirement of an op at `place` with generated names replaced by descriptions."""
    words = {name: subjects[name].seen_from(place) for name in requirement.names if name in subjects}

    def told(dim: Dim) -> Dim:
        name = _name(dim)
        return symbol(words[name] if name in words else _with_words(str(dim), words, "({})"))

    if not words:
        return requirement
    about = _with_words(requirement.about, words, "{}")
    return replace(requirement, lhs=told(requirement.lhs), rhs=told(requirement.rhs), about=about)


def _with_words(text: str, words: Mapping[str, str], form: str) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda match: form.format(words[match[0]]) if match[0] in words else match[0], text)


def _name(dim: Dim) -> str | None:
    """Returns the name of a dimension that consists of a single name, else None."""
    atom = single_atom(dim)
    return atom.name if isinstance(atom, Symbol) else None


def _ops_in(function: FuncOp) -> Iterator[Operation]:
    """Yields `function` and all ops in it, outer ones first, without recursion."""
    holders: list[Operation] = [function]
    yield function
    for holder in holders:
        for op in (op for region in holder.regions for block in region.blocks for op in block.ops):
            yield op
            if op.regions:
                holders.append(op)


def place_of(sources: Attribute | None) -> str | None:
    """Returns the first source location of a check, or None."""
    first = sources.data[0] if isinstance(sources, ArrayAttr) and sources.data else None
    return first.data if isinstance(first, StringAttr) else None


def _words(op: Operation, number: int, axis: int | None) -> str:
    if isinstance(op, ExtentsOp):
        return op.words(number).subject
    if isinstance(op, CutOp):
        return "the length of a result"
    return f"a size of {op.name}" if axis is None else f"extent {axis} of {op.name}"


def _axes(types: Iterator[Attribute]) -> Iterator[tuple[str, int]]:
    """Yields the names that are extents in some types, including fields of tuples, with their axes."""
    pending, seen = list(types)[::-1], set[int]()
    while pending:
        current = pending.pop()
        if isinstance(current, TensorType):
            for axis, dim in enumerate(shape_of(current)):
                if (name := _name(dim)) is not None:
                    yield name, axis
        elif isinstance(current, TupleType) and id(current) not in seen:
            seen.add(id(current))
            pending += reversed(current.types.data)
