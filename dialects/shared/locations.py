"""Source locations: as text, which stands before `error:` in a message, and fused."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

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


def format_location(location: Attribute) -> str | None:
    """`file:line:col` where the location leads to one, else the name of a source node, else None.

    Of a fused location the first part that says anything is taken; of a call site the callee.
    """
    if isinstance(location, UnknownLoc):
        # Most ops of a program made by passes: told before each of the patterns below is tried.
        return None
    name: str | None = None
    pending: list[Attribute] = [location]
    while pending:
        match pending.pop():
            case FileLineColLoc() as place:
                return f"{place.filename.data}:{place.line.data}:{place.column.data}"
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
    """Where `op` comes from: its own location, or that of the closest op around it that has one."""
    current: Operation | None = op
    while current is not None:
        if (place := format_location(current.location)) is not None:
            return place
        current = current.parent_op()
    return None


def fuse_locations(locations: Iterable[LocationAttr]) -> LocationAttr:
    """Returns the location of something that came from all of `locations`.

    Fused locations among them are flattened, unknown ones and repetitions dropped; one that is left stands for
    itself, none gives the unknown location, several give `loc(fused[…])` in order of first appearance.
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
        return FusedLoc(tuple(found), NoneAttr())
    return next(iter(found), UnknownLoc())


def source_names(location: Attribute) -> list[str]:
    """The names that source nodes gave a location, in order: of `loc(fused["conv1", "relu1"])` both."""
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
    """The names of the nodes of the model that `op` is from; `None` where it is from none."""
    return _strings(tuple(source_names(op.location)))


def sources_or_place(op: Operation) -> ArrayAttr[StringAttr] | None:
    """The names of the nodes of the model that `op` is from, else its place; `None` where nothing is known of that."""
    names = source_names(op.location)
    if not names and (place := location_of(op)) is not None:
        names = [place]
    return _strings(tuple(names))


@lru_cache(maxsize=4096)
def _strings(texts: tuple[str, ...]) -> ArrayAttr[StringAttr] | None:
    return ArrayAttr([StringAttr(text) for text in texts]) if texts else None


def describe_place(op: Operation) -> str | None:
    """Returns the location of `op` for an error message: its source location, else the function around it, or None."""
    if (place := location_of(op)) is not None:
        return place
    around: Operation | None = op
    while around is not None:
        name = around.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            return f"@{name.data}"
        around = around.parent_op()
    return None
