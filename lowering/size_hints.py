"""The known and expected values of the extents that a kernel has as arguments, from their attribute `loop.size`.

An expected value affects performance (the size of a tile, the use of threads), never legality.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from xrelay.dialects.relay.core.size_hints import USUAL_EXTENT
from xrelay.dialects.shared.attribute_names import SIZE
from xrelay.dialects.shared.is_attribute import is_attribute

_NOTHING: Final = (-1, -1, -1)


def size_hint(argument: SSAValue) -> tuple[int, ...]:
    """Returns the minimum, maximum and typical value of an argument; -1 for each that is unknown."""
    if not isinstance(argument, BlockArgument):
        return _NOTHING
    function = argument.block.parent_op()
    attributes = function.arg_attrs if isinstance(function, FuncOp) else None
    size = None if attributes is None else attributes.data[argument.index].data.get(SIZE)
    return tuple(size.get_values()) if is_attribute(size, DenseArrayBase[IntegerType]) else _NOTHING


def expected_size(argument: SSAValue) -> int:
    """Returns the typical value of an argument, or `USUAL_EXTENT` if it is unknown."""
    typical = size_hint(argument)[2]
    return USUAL_EXTENT if typical < 0 else max(1, typical)
