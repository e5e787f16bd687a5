"""Index spaces whose elements are each read at one index of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.shapes import shape_of

Place = Callable[[Body, int, AffineExpr], IndexLike]
"""Maps an axis of the data and the result's index along it to the index of the data."""


def moved(build: TopiBuilder, label: str, place: Place) -> Sequence[SSAValue]:
    """Builds a compute that reads at an index for each axis of the data; leading axes of the result are ignored."""
    data, target = build.operand(0), build.result_shape
    rank = len(shape_of(data))

    def read(b: Body) -> SSAValue:
        own = b.spatial[len(target) - rank :]
        return b.read(data, *(place(b, axis, index) for axis, index in enumerate(own)))

    return [build.compute(label, variables("i", target), element_of(data), read)]


def tiled(build: TopiBuilder) -> Sequence[SSAValue]:
    """Builds a compute that repeats the data along each axis: it reads at the remainder of the index."""
    shape, target = shape_of(build.operand(0)), build.result_shape
    own = target[len(target) - len(shape) :]
    return moved(build, "tile", lambda b, axis, i: i if own[axis] == shape[axis] else b.remainder(i, shape[axis]))
