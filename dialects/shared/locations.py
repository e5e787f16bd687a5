"""Source locations as text, which precedes `error:` in a message, and fused locations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from xrelay.dialects.shared.op_making import UNKNOWN

_NONE: Final = NoneAttr()


def format_location(location: Attribute) -> str | None:
    """`file:line:col` if the location contains one, else the name of a source node, else None.

    Uses the first known part of a fused location, and the callee of a call site.
    """
    if isinstance(location, UnknownLoc):
        # A shortcut, since most ops that passes make have no location.
        return None
    name: str | None = None
    pending: list[Attribute] = [location]
    while pending:
        match pending.pop():
            case FileLineColLoc() as location:
                return f"{location.filename.data}:{location.line.data}:{location.column.data}"
            case NameLoc() as named:
                name = name if name is not None else named.desc.data
                pending.append(named.location)
            case CallSiteLoc() as site:
                pending += (site.caller, site.callee)
            case FusedLoc() as fused if isinstance(fused.locations, ArrayAttr):
                pending += reversed(fused.locations.data)
            case _:
                pass
    return name


def location_of(op: Operation) -> str | None:
    """The location of `op`, or of the closest enclosing op with a known location."""
    current: Operation | None = op
    while current is not None:
        if (location := format_location(current.location)) is not None:
            return location
        current = current.parent_op()
    return None


def fuse_locations(locations: Iterable[LocationAttr]) -> LocationAttr:
    """Returns the location of an op that replaces ops with all of `locations`.

    Fused locations are flattened, unknown and repeated locations are dropped. A single remaining location is returned
    as it is, no location is the unknown location, and several become `loc(fused[…])` in order of first appearance.
    """
    pending = list[Attribute](reversed(tuple(locations)))
    found: dict[LocationAttr, None] = {}
    while pending:
        location = pending.pop()
        if isinstance(location, UnknownLoc):
            continue
        if isinstance(location, FusedLoc) and isinstance(location.locations, ArrayAttr):
            pending.extend(reversed(location.locations.data))
        elif isinstance(location, FileLineColLoc | NameLoc | CallSiteLoc | FusedLoc):
            found[location] = None
    if len(found) > 1:
        return FusedLoc(tuple(found), _NONE)
    return next(iter(found), UNKNOWN)


def locate(ops: Iterable[Operation], location: LocationAttr) -> None:
    """Sets `location` on the ops that have none."""
    for op in ops:
        if type(op.location) is UnknownLoc:
            op.location = location


def source_names(location: Attribute) -> list[str]:
    """The source node names in a location, in order: for `loc(fused["conv1", "relu1"])` both."""
    names: list[str] = []
    pending: list[Attribute] = [location]
    while pending:
        match pending.pop():
            case NameLoc() as named:
                names.append(named.desc.data)
            case FusedLoc() as fused if isinstance(fused.locations, ArrayAttr):
                pending += reversed(fused.locations.data)
            case _:
                pass
    return names


def sources_of(op: Operation) -> ArrayAttr[StringAttr] | None:
    """The names of the model's nodes that `op` was made from, or `None`."""
    return _strings(tuple(source_names(op.location)))


def sources_or_location(op: Operation) -> ArrayAttr[StringAttr] | None:
    """The names of the model's nodes that `op` was made from, else its source location, else `None`."""
    names = source_names(op.location)
    if not names and (location := location_of(op)) is not None:
        names = [location]
    return _strings(tuple(names))


@lru_cache(maxsize=4096)
def _strings(texts: tuple[str, ...]) -> ArrayAttr[StringAttr] | None:
    return ArrayAttr([StringAttr(text) for text in texts]) if texts else None


def describe_location(op: Operation) -> str | None:
    """Returns the location of `op` for an error message: its source location, else the function around it, or None."""
    if (location := location_of(op)) is not None:
        return location
    around: Operation | None = op
    while around is not None:
        name = around.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            return f"@{name.data}"
        around = around.parent_op()
    return None
