"""`relay.squeeze` and `relay.expand_dims` with axes as expressions: reshapes to a computed shape.

%y = relay.squeeze(%x) {axis = %axis}     is     %y = relay.dyn.reshape(%x, %shape)

where the elements of `%shape` are the extents of `%x` that remain. If the axes are invalid, the shape contains an
invalid extent, for which the reshape fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.ops.algorithm.sort import ArgsortOp
from xrelay.dialects.relay.ops.dyn.shapes import DynReshapeOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import EqualOp, LessEqualOp, LessOp, WhereOp
from xrelay.dialects.relay.ops.tensor.gather import TakeOp
from xrelay.dialects.relay.ops.tensor.logic import AnyOp, LogicalAndOp
from xrelay.dialects.relay.ops.tensor.movement import StridedSliceOp
from xrelay.dialects.relay.ops.tensor.reduce import SumOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp, ReshapeOp, ShapeOfOp, SqueezeOp
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import ConstraintError
from xrelay.relay.expr import Expr, ExprLike, as_value, call, const

NO_EXTENT: Final = -2
"""An element that is neither an extent nor a code of a reshape."""


def squeeze_axes(operands: tuple[ExprLike, ...], attributes: Mapping[str, AttributeValue | Expr]) -> Expr:
    """Removes the axes that a vector names, each of extent 1. The length of the vector determines the rank."""
    data, axes = as_value(operands[0]), call(CastOp, cast("Expr", attributes["axis"]), dtype="int64")
    rank, named = len(shape_of(data.type)), shape_of(axes.type)
    count = 1 if not named else named[0]
    if len(named) > 1 or not isinstance(count, int) or count > rank:
        raise ConstraintError(
            SqueezeOp.name, "C1", f"axes are a tensor of type {axes.type} for data of type {data.type}"
        )
    extents = call(ShapeOfOp, data, dtype="int64")
    positions = const([[position] for position in range(rank)], "int64")
    is_named = call(
        AnyOp, call(EqualOp, positions, call(ReshapeOp, _wrapped(axes, rank), newshape=[1, count])), axis=[1]
    )
    is_removed = call(CastOp, call(LogicalAndOp, is_named, call(EqualOp, extents, const(1, "int64"))), dtype="int64")
    # The sort is stable, so the remaining axes come first, in their order.
    order = call(StridedSliceOp, call(ArgsortOp, is_removed, dtype="int64"), begin=[0], end=[rank - count], strides=[1])
    fits = call(EqualOp, call(SumOp, is_removed), const(count, "int64"))
    return _in_shape(data, call(TakeOp, extents, order), fits)


def expand_dims_at(operands: tuple[ExprLike, ...], attributes: Mapping[str, AttributeValue | Expr]) -> Expr:
    """Inserts `num_newaxis` axes of extent 1 at a position given by an expression."""
    data, count = as_value(operands[0]), attributes.get("num_newaxis", 1)
    rank = len(shape_of(data.type))
    if not isinstance(count, int) or count < 0:
        raise ConstraintError(ExpandDimsOp.name, "C2", f"num_newaxis must be a number from 0, found {count!r}")
    axis_value = call(CastOp, cast("Expr", attributes["axis"]), dtype="int64")
    axis = _wrapped(call(ReshapeOp, axis_value, newshape=()), rank + 1)
    positions = range(rank + count)
    is_before = call(LessOp, const(list(positions), "int64"), axis)
    is_new = call(LessOp, const([position - count for position in positions], "int64"), axis)
    before = _extents_at(data, [min(position, rank - 1) for position in positions])
    after = _extents_at(data, [max(position - count, 0) for position in positions])
    shape = call(WhereOp, is_before, before, call(WhereOp, is_new, const(1, "int64"), after))
    in_range = [call(LessEqualOp, const(0, "int64"), axis), call(LessEqualOp, axis, const(rank, "int64"))]
    return _in_shape(data, shape, call(LogicalAndOp, *in_range))


def _wrapped(axes: ExprLike, rank: int) -> Expr:
    """Returns axes with negative ones counted from the front."""
    return call(WhereOp, call(LessOp, axes, const(0, "int64")), call(AddOp, axes, const(rank, "int64")), axes)


def _extents_at(data: ExprLike, positions: list[int]) -> Expr:
    """Returns the data's extents at some axes, or ones for a scalar."""
    if not shape_of(as_value(data).type):
        return const([1] * len(positions), "int64")
    return call(TakeOp, call(ShapeOfOp, data, dtype="int64"), const(positions, "int64"))


def _in_shape(data: ExprLike, shape: Expr, fits: Expr) -> Expr:
    """Reshapes the data to `shape`, or to an invalid shape if `fits` is false."""
    shape_or_error = call(WhereOp, fits, shape, const(NO_EXTENT, "int64"))
    return call(DynReshapeOp, data, shape_or_error, allowzero=True)
