"""What schedules expect of extents that only a run tells: the one place where a size is guessed.

A guess decides what pays (how large a tile is, whether threads are worth waking), never what is legal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from xrelay.dialects.loop.block_op import DYNAMIC, Extent
from xrelay.dialects.loop.extents import expression_of, extents_of
from xrelay.dialects.shared.attribute_names import SIZE
from xrelay.dialects.shared.is_attribute import is_attribute

USUAL_EXTENT = 256
"""The expected size of an extent of which nothing is known: a few tiles of any kernel."""

_NOTHING = (-1, -1, -1)


def expected(extent: Extent | None) -> int:
    """How large an extent is expected to be: a number is itself, what is computed from others follows from theirs.

    An argument of which `loop.size` says what is usual is that.
    """
    if extent is None or extent == DYNAMIC:
        return USUAL_EXTENT
    return _with_arguments(extent, _usual)


def least(extent: Extent) -> int:
    """An extent where every argument is the least that is known of it, but 1 at least."""
    return _with_arguments(extent, lambda argument: max(1, _said(argument)[0]))


def expected_product(extents: Iterable[Extent | None]) -> int:
    """The expected number of points of a space."""
    return prod(map(expected, extents))


def expected_shape(buffer: SSAValue) -> list[int]:
    """The expected sizes of a buffer."""
    return [expected(extent) for extent in extents_of(buffer)]


def _with_arguments(extent: Extent, size_of: Callable[[SSAValue], int]) -> int:
    if isinstance(extent, int):
        return extent
    expression = expression_of(extent)
    return expression.exprs[0].eval([size_of(operand) for operand in expression.operands], [])


def _usual(argument: SSAValue) -> int:
    usual = _said(argument)[2]
    return USUAL_EXTENT if usual < 0 else max(1, usual)


def _said(argument: SSAValue) -> tuple[int, ...]:
    """The least, the greatest and the usual value of an argument; -1 for what nobody says."""
    if not isinstance(argument, BlockArgument):
        return _NOTHING
    function = argument.block.parent_op()
    attributes = function.arg_attrs if isinstance(function, FuncOp) else None
    size = None if attributes is None else attributes.data[argument.index].data.get(SIZE)
    return tuple(size.get_values()) if is_attribute(size, DenseArrayBase[IntegerType]) else _NOTHING
