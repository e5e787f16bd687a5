"""Axis numbers: negative ones count from the end."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.dialects.relay.core.facts import Demands
from xrelay.dialects.relay.layout.layout import Layout


def axis_index(axis: int, rank: int) -> int:
    """`axis` counted from the front."""
    return axis + rank if axis < 0 else axis


def require_axis(op: Demands, axis: int, rank: int, constraint: str) -> int:
    """`axis` counted from the front, required to be one of `rank` axes."""
    op.require(-rank <= axis < rank, constraint, f"axis {axis} is out of range for rank {rank}")
    return axis_index(axis, rank)


def require_axes(op: Demands, axes: Sequence[int], rank: int, constraint: str) -> tuple[int, ...]:
    """`axes` counted from the front, required to be distinct axes of `rank`."""
    found = tuple(require_axis(op, axis, rank, constraint) for axis in axes)
    op.require(len(set(found)) == len(found), constraint, f"axes {list(axes)} name an axis twice")
    return found


def letter_of_axis(layout: Layout, axis: int) -> str:
    """The letter of the text's axis number `axis`: a layout's primal letters are the text's axes in order."""
    return layout.primal[axis_index(axis, len(layout.primal))]
