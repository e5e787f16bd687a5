"""What schedules expect of extents that only a run tells: the one place where a size is guessed.

A guess decides what pays (how large a tile is, whether threads are worth waking), never what is legal.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from xdsl.ir import SSAValue

from xrelay.dialects.loop.block_op import DYNAMIC, Extent
from xrelay.dialects.loop.extents import expression_of, extents_of

USUAL_EXTENT = 256
"""The expected size of an extent of which nothing is known: a few tiles of any kernel."""


def expected(extent: Extent | None) -> int:
    """How large an extent is expected to be: a number is itself, what is computed from others follows from theirs."""
    if extent is None or extent == DYNAMIC:
        return USUAL_EXTENT
    return at_extents(extent, USUAL_EXTENT)


def at_extents(extent: Extent, size: int) -> int:
    """An extent where every other that only a run tells is `size`."""
    if isinstance(extent, int):
        return extent
    expression = expression_of(extent)
    return expression.exprs[0].eval([size] * len(expression.operands), [])


def expected_product(extents: Iterable[Extent | None]) -> int:
    """The expected number of points of a space."""
    return prod(map(expected, extents))


def expected_shape(buffer: SSAValue) -> list[int]:
    """The expected sizes of a buffer."""
    return [expected(extent) for extent in extents_of(buffer)]
