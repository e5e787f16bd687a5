"""Operators that read at indices: the gradient of an element is the sum over all its reads."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.ops.tensor_gather import GatherNDOp, GatherOp, OneHotOp, TakeOp
from xrelay.dialects.relay.ops.tensor_select import WhereOp
from xrelay.dialects.shared.types import element_type_of
from xrelay.index_algebra.dims import Dim
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(WhereOp)
def where(op: WhereOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient for the selected elements, None for the condition."""
    zeros = emit.zeros_like(gradient)
    x, y = emit.op("where", op.condition, gradient, zeros), emit.op("where", op.condition, zeros, gradient)
    return [None, emit.sum_like(x, op.x), emit.sum_like(y, op.y)]


@differentiates(TakeOp)
def take(op: TakeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns a scatter-add along the axis, which is moved to the front; None for the indices."""
    rank, places = len(emit.shape(op.data)), len(emit.shape(op.indices))
    axis, batch = op.axis_and_batch(rank, places)
    if batch:
        raise not_differentiable(op, f"batch_dims is {batch}")
    flat = op.data if axis is not None else emit.op("reshape", op.data, newshape=[-1])
    axis = 0 if axis is None else axis
    others = len(emit.shape(flat)) - 1
    front = [axis, *range(axis), *range(axis + 1, others + 1)]
    updates = [*range(axis, axis + places), *range(axis), *range(axis + places, others + places)]
    zeros = emit.zeros_like(_transposed(flat, front, emit))
    indices = emit.op("expand_dims", _inside(op, emit.shape(flat)[axis], emit), axis=0)
    total = emit.op("scatter_nd", zeros, indices, _transposed(gradient, updates, emit), mode="add")
    back = sorted(range(len(front)), key=front.__getitem__)
    return [emit.reshape_like(_transposed(total, back, emit), op.data), None]


def _inside(op: TakeOp, extent: Dim, emit: GradientBuilder) -> SSAValue:
    """Returns the indices at which `op` reads, according to its mode; those of mode "raise" are in range."""
    if op.mode.data == "raise":
        return op.indices
    if not isinstance(extent, int):
        raise not_differentiable(op, "the extent of its axis is known when it runs only")
    indices = emit.wide_enough(op.indices, extent)
    if op.mode.data == "wrap":
        return emit.op("floor_mod", indices, extent)
    return emit.op("minimum", emit.op("maximum", indices, 0), extent - 1)


def _transposed(value: SSAValue, axes: list[int], emit: GradientBuilder) -> SSAValue:
    return value if axes == sorted(axes) else emit.op("transpose", value, axes=axes)


@differentiates(GatherNDOp)
def gather_nd(op: GatherNDOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns a scatter-add at the index tuples; None for these."""
    if op.batch_dims.value.data:
        raise not_differentiable(op, f"batch_dims is {op.batch_dims.value.data}")
    return [emit.op("scatter_nd", emit.zeros_like(op.data), op.indices, gradient, mode="add"), None]


@differentiates(GatherOp)
def gather(op: GatherOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns a scatter-add along the axis; None for the indices."""
    zeros, axis = emit.zeros_like(op.data), op.axis.value.data
    return [emit.op("scatter_elements", zeros, op.indices, gradient, axis=axis, reduction="add"), None]


@differentiates(OneHotOp)
def one_hot(op: OneHotOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sums of the gradient over on and off elements; None for the indices."""
    on, off = emit.scalar(1, gradient), emit.scalar(0, gradient)
    places = {"depth": op.depth.value.data, "axis": op.axis.value.data, "dtype": element_type_of(gradient.type)}
    is_on = emit.op("one_hot", op.indices, on, off, **places)
    total = emit.op("sum", emit.op("multiply", gradient, is_on))
    rest = emit.op("sum", emit.op("multiply", gradient, emit.op("subtract", 1, is_on)))
    return [None, total, rest]
