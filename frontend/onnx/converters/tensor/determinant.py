"""Det: determinants of square matrices, by Gaussian elimination with partial pivoting."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    AnyDim,
    Iteration,
    NodeView,
    Numbers,
    certainly_differ,
    converts,
    emit_loop,
    extent_value,
    rounded_once,
    shape_of,
)


@converts("Det", since=11)
@rounded_once
def convert_det(node: NodeView, x: SSAValue) -> SSAValue:
    """The product of the pivots, negated for each exchange of rows; 1 for a matrix without rows."""
    rank, stack = len(shape_of(x.type)), square_stack(node, x)
    if shape_of(x.type)[-1] == 0:
        return node.emit("prod", x, axis=(rank - 2, rank - 1))
    batch = len(shape_of(stack.type)) - 2
    rows = Numbers(node).arange(0, extent_value(node, x, rank - 1))

    def eliminate(inner: NodeView, step: SSAValue, carried: Sequence[SSAValue]) -> Iteration:
        return Iteration(None, _eliminated(inner, step, rows, batch, carried), [])

    ones = node.emit("ones_like", node.emit("sum", stack, axis=(batch, batch + 1)))
    _, found = emit_loop(node, extent_value(node, x, rank - 1), None, [stack, ones], eliminate)
    return found if rank > 2 else node.emit("squeeze", found, axis=(0,))


def square_stack(node: NodeView, x: SSAValue) -> SSAValue:
    """Returns `x`, which must be square matrices, with a batch axis added for a single matrix.

    Unless the extents are known to be equal, this is checked at run time.
    """
    shape = shape_of(x.type)
    if len(shape) < 2 or certainly_differ(shape[-2], shape[-1]):
        raise node.error(f"square matrices are expected, found {x.type}")
    if isinstance(shape[-1], AnyDim) or shape[-2] != shape[-1]:
        last = len(shape) - 1
        x = node.emit("reshape_like", x, x, lhs_begin=last - 1, lhs_end=last, rhs_begin=last, rhs_end=last + 1)
    return x if len(shape) > 2 else node.emit("expand_dims", x, axis=0)


def _eliminated(
    node: NodeView, step: SSAValue, rows: SSAValue, batch: int, carried: Sequence[SSAValue]
) -> list[SSAValue]:
    """The matrices with zeros below the diagonal in column `step`, and the determinants so far."""
    matrices, product = carried
    column = node.emit("take", matrices, step, axis=batch + 1, mode="fast")
    ahead = node.emit("less", rows, step)
    sizes = node.emit("where", ahead, node.scalar(-1.0, column), node.emit("abs", column))
    chosen = node.emit("cast", node.emit("argmax", sizes, axis=(batch,), keepdims=True), dtype="int64")
    is_chosen, is_step = node.emit("equal", rows, chosen), node.emit("equal", rows, step)
    pivot_row = row_at(node, matrices, is_chosen, batch)
    step_row = node.emit("take", matrices, step, axis=batch, mode="fast")
    pivot = node.emit("take", pivot_row, step, axis=batch, mode="fast")
    stays = node.emit("squeeze", node.emit("equal", chosen, step), axis=(batch,))
    sign = node.emit("where", stays, node.scalar(1.0, pivot), node.scalar(-1.0, pivot))
    product = node.emit("multiply", product, node.emit("multiply", sign, pivot))
    swapped = with_row(node, matrices, is_chosen, step_row, batch)
    swapped = with_row(node, swapped, is_step, pivot_row, batch)
    return [_subtracted(node, swapped, step, rows, pivot_row, pivot, batch), product]


def row_at(node: NodeView, matrices: SSAValue, is_chosen: SSAValue, batch: int) -> SSAValue:
    """Returns the row of each matrix for which `is_chosen` is true."""
    mask = node.emit("expand_dims", is_chosen, axis=batch + 1)
    return node.emit("sum", node.emit("where", mask, matrices, node.scalar(0.0, matrices)), axis=(batch,))


def with_row(node: NodeView, matrices: SSAValue, places: SSAValue, row: SSAValue, batch: int) -> SSAValue:
    """Returns the matrices with `row` in the rows for which `places` is true."""
    mask = node.emit("expand_dims", places, axis=len(shape_of(places.type)))
    return node.emit("where", mask, node.emit("expand_dims", row, axis=batch), matrices)


def _subtracted(
    node: NodeView, matrices: SSAValue, step: SSAValue, rows: SSAValue, row: SSAValue, pivot: SSAValue, batch: int
) -> SSAValue:
    """The matrices minus multiples of the pivot's row, with zeros below the pivot in its column.

    If the pivot is zero, so are all elements below it, and nothing is subtracted.
    """
    column = node.emit("take", matrices, step, axis=batch + 1, mode="fast")
    pivot = node.emit("expand_dims", pivot, axis=batch)
    changes = node.emit(
        "logical_and", node.emit("greater", rows, step), node.emit("not_equal", pivot, node.scalar(0.0, pivot))
    )
    divisor = node.emit("where", changes, pivot, node.scalar(1.0, pivot))
    factor = node.emit("where", changes, node.emit("divide", column, divisor), node.scalar(0.0, column))
    factor, row = node.emit("expand_dims", factor, axis=batch + 1), node.emit("expand_dims", row, axis=batch)
    return node.emit("subtract", matrices, node.emit("multiply", factor, row))
