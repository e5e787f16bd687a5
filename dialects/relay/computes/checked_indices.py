"""Indices from an operand, which are checked at run time."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim

INDEX = IndexType()


def checked_indices(
    build: TopiBuilder, indices: SSAValue, size: Dim, *, part: int | None = None, from_end: bool = True
) -> SSAValue:
    """Returns a tensor of the indices in [0, size), checked at run time.

    With `from_end`, negative indices count from the end. `part` selects an index along the first axis, which is
    removed.
    """
    first: tuple[IndexLike, ...] = () if part is None else (part,)
    shape = shape_of(indices)[len(first) :]

    def fill(b: Body) -> SSAValue:
        return b.checked_index(b.read(indices, *first, *b.spatial), size, from_end=from_end)

    return build.compute("indices", variables("k", shape), INDEX, fill)
