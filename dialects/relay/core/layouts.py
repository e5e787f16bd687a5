"""Layouts in an op's properties. A layout that does not fit violates a constraint of the op."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xrelay.dialects.relay.core.facts import ConstraintSource, Facts
from xrelay.dialects.relay.layout.layout import Layout, LayoutError
from xrelay.index_algebra.dims import Dim, Shape

FoundT = TypeVar("FoundT")


def parse_layout(op: ConstraintSource, text: str, axes: str, constraint: str) -> Layout:
    """Returns the layout for `text`; requires that it consists of `axes` in any order."""
    layout = _fitting(op, lambda: Layout.parse(text), constraint)
    op.require(sorted(layout.primal) == sorted(axes), constraint, f"layout {text} must have the axes {', '.join(axes)}")
    return layout


def extents_in(op: ConstraintSource, layout: Layout, shape: Shape, constraint: str) -> dict[str, Dim]:
    """Returns the extents of the primal axes of `shape` in `layout`."""
    return _fitting(op, lambda: layout.primal_extents(shape), constraint)


def require_blocks(facts: Facts, layout: Layout, shape: Shape, constraint: str) -> None:
    """Requires that symbolic inner extents of `shape` equal the factors of the layout, on which kernels rely."""
    for axis, extent in zip(layout.axes, shape, strict=True):
        if axis.factor is not None:
            facts.require_equal(extent, axis.factor, constraint, f"extent of axis {axis} of layout {layout}:")


def _fitting(op: ConstraintSource, find: Callable[[], FoundT], constraint: str) -> FoundT:
    try:
        return find()
    except LayoutError as error:
        op.require(False, constraint, error.message, help=error.help)
        raise
