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
from xrelay.dialects.shared.locations import sources_or_location
from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import Dim, Symbol, single_atom, symbol
from xrelay.index_algebra.requirement import Requirement


class ExtentOrigin(NamedTuple):
    """The description of an extent, and the location of the op that introduces it."""

    description: str
    location: str | None

    def seen_from(self, location: str | None) -> str:
        """Returns the description, followed by the location if it differs from `location`."""
        return self.description if self.location in (None, location) else f"{self.description} at {self.location}"


def extent_origins(function: FuncOp) -> dict[str, ExtentOrigin]:
    """Returns the origins of the extents that ops and regions of `function` introduce, by name."""
    found: dict[str, ExtentOrigin] = {}
    for op in _ops_in(function):
        names, location = [extent.name for extent in made_extents(op)], first_location(sources_or_location(op))
        if isinstance(op, LoopOp):
            for name, axis in _axes(argument.type for argument in op.body.block.args):
                found.setdefault(name, ExtentOrigin(f"extent {axis} of a carried value of {op.name}", location))
        axes = dict(_axes(result.type for result in op.results)) if names else {}
        for number, name in enumerate(names):
            found[name] = ExtentOrigin(_description(op, number, axes.get(name)), location)
    return found


def extent_origins_around(op: Operation) -> dict[str, ExtentOrigin]:
    """Returns `extent_origins` of the function that contains `op`."""
    current: Operation | None = op
    while current is not None and not isinstance(current, FuncOp):
        current = current.parent_op()
    return {} if current is None else extent_origins(current)


def describe_requirement(
    requirement: Requirement, origins: Mapping[str, ExtentOrigin], location: str | None
) -> Requirement:
    """Returns a requirement of an op at `location` with generated names replaced by descriptions."""
    descriptions = {name: origins[name].seen_from(location) for name in requirement.names if name in origins}

    def described(dim: Dim) -> Dim:
        name = _name(dim)
        return symbol(
            descriptions[name] if name in descriptions else _with_descriptions(str(dim), descriptions, "({})")
        )

    if not descriptions:
        return requirement
    about = _with_descriptions(requirement.about, descriptions, "{}")
    return replace(requirement, lhs=described(requirement.lhs), rhs=described(requirement.rhs), about=about)


def _with_descriptions(text: str, descriptions: Mapping[str, str], form: str) -> str:
    def described(match: re.Match[str]) -> str:
        return form.format(descriptions[match[0]]) if match[0] in descriptions else match[0]

    return re.sub(r"[A-Za-z_]\w*", described, text)


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


def first_location(sources: Attribute | None) -> str | None:
    """Returns the first source location of a check, or None."""
    first = sources.data[0] if isinstance(sources, ArrayAttr) and sources.data else None
    return first.data if isinstance(first, StringAttr) else None


def _description(op: Operation, number: int, axis: int | None) -> str:
    if isinstance(op, ExtentsOp):
        return op.description(number).subject
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
