"""Indices from an operand, which are checked at run time.

They are checked in a separate compute. So each index is checked once, regardless of the number of elements that it
selects, and also if a later operator of the kernel drops elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.topi.build import Body, IndexLike, is_unsigned, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import IndexCastOp, IndexCastUIOp
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


def index_tuples(build: TopiBuilder, indices: SSAValue, sizes: Sequence[Dim]) -> list[SSAValue]:
    """Returns the components of the index tuples, each checked against the extent of its axis."""
    (count,) = build.known_extents(shape_of(indices)[:1], "the tuples of indices")
    return [checked_indices(build, indices, size, part=part) for part, size in enumerate(sizes[:count])]


def as_index(b: Body, value: SSAValue) -> SSAValue:
    """Casts an integer to index; unsigned integers are zero-extended."""
    return b.add((IndexCastUIOp if is_unsigned(value.type) else IndexCastOp)(value, INDEX))
