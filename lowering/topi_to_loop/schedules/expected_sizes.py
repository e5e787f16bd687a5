"""Expected values of dynamic extents, for schedules. All guesses of sizes are made here.

A guess affects performance only (the size of a tile, the use of threads), never legality.
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
"""The expected size of an unknown extent: a few tiles of any kernel."""

_NOTHING = (-1, -1, -1)


def expected(extent: Extent | None) -> int:
    """Returns the expected value of an extent; static extents are exact, computed ones are evaluated.

    An argument has the usual value of its `loop.size`, if there is one.
    """
    if extent is None or extent == DYNAMIC:
        return USUAL_EXTENT
    return _with_arguments(extent, _usual)


def least(extent: Extent) -> int:
    """Returns an extent with every argument at its known minimum, or at 1 if that is less or unknown."""
    return _with_arguments(extent, lambda argument: max(1, _size_hint(argument)[0]))


def expected_product(extents: Iterable[Extent | None]) -> int:
    """Returns the expected number of points of an index space."""
    return prod(map(expected, extents))


def expected_shape(buffer: SSAValue) -> list[int]:
    """Returns the expected sizes of a buffer."""
    return [expected(extent) for extent in extents_of(buffer)]


def _with_arguments(extent: Extent, size_of: Callable[[SSAValue], int]) -> int:
    if isinstance(extent, int):
        return extent
    expression = expression_of(extent)
    return expression.exprs[0].eval([size_of(operand) for operand in expression.operands], [])


def _usual(argument: SSAValue) -> int:
    usual = _size_hint(argument)[2]
    return USUAL_EXTENT if usual < 0 else max(1, usual)


def _size_hint(argument: SSAValue) -> tuple[int, ...]:
    """Returns the minimum, maximum and usual value of an argument; -1 for each that is unknown."""
    if not isinstance(argument, BlockArgument):
        return _NOTHING
    function = argument.block.parent_op()
    attributes = function.arg_attrs if isinstance(function, FuncOp) else None
    size = None if attributes is None else attributes.data[argument.index].data.get(SIZE)
    return tuple(size.get_values()) if is_attribute(size, DenseArrayBase[IntegerType]) else _NOTHING
