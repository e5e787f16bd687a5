"""Axis numbers, where negative ones count from the end."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.dialects.relay.core.facts import ConstraintSource
from xrelay.dialects.relay.layout.layout import Layout


def axis_index(axis: int, rank: int) -> int:
    """Returns `axis` counted from the front."""
    return axis + rank if axis < 0 else axis


def require_axis(op: ConstraintSource, axis: int, rank: int, constraint: str) -> int:
    """Returns `axis` counted from the front; requires that it is one of `rank` axes."""
    op.require(-rank <= axis < rank, constraint, f"axis {axis} is out of range for rank {rank}")
    return axis_index(axis, rank)


def require_axes(op: ConstraintSource, axes: Sequence[int], rank: int, constraint: str) -> tuple[int, ...]:
    """Returns `axes` counted from the front; requires that they are distinct axes of `rank`."""
    found = tuple(require_axis(op, axis, rank, constraint) for axis in axes)
    op.require(len(set(found)) == len(found), constraint, f"axes {list(axes)} name an axis twice")
    return found


def letter_of_axis(layout: Layout, axis: int) -> str:
    """Returns the letter of axis number `axis` of the original layout, whose axes are the primal letters in order."""
    return layout.primal[axis_index(axis, len(layout.primal))]
