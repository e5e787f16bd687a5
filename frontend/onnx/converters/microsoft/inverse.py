"""Inverse: the inverses of square matrices, by Gauss-Jordan elimination with partial pivoting."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    Iteration,
    NodeView,
    Numbers,
    converts,
    emit_loop,
    extent_value,
    rounded_once,
    shape_of,
)
from xrelay.frontend.onnx.converters.tensor.determinant import row_at, square_stack, with_row


@converts("Inverse", domain=MICROSOFT)
@rounded_once
def convert_inverse(node: NodeView, x: SSAValue) -> SSAValue:
    """The unit matrix after the row operations that reduce `x` to it; infinite or NaN for a singular matrix."""
    rank, stack = len(shape_of(x.type)), square_stack(node, x)
    if shape_of(x.type)[-1] == 0:
        return x
    batch = len(shape_of(stack.type)) - 2
    size = extent_value(node, x, rank - 1)
    rows = Numbers(node).arange(0, size)
    diagonal = node.emit("equal", node.emit("expand_dims", rows, axis=1), rows)
    ones = node.emit("where", diagonal, node.emit("ones_like", stack), node.scalar(0.0, stack))

    def eliminate(inner: NodeView, step: SSAValue, carried: Sequence[SSAValue]) -> Iteration:
        return Iteration(None, _eliminated(inner, step, rows, batch, carried), [])

    _, found = emit_loop(node, size, None, [stack, ones], eliminate)
    return found if rank > 2 else node.emit("squeeze", found, axis=(0,))


def _eliminated(
    node: NodeView, step: SSAValue, rows: SSAValue, batch: int, carried: Sequence[SSAValue]
) -> list[SSAValue]:
    """Both matrices after step `step`: its row is the pivot's divided by the pivot, and its column is cleared."""
    column = node.emit("take", carried[0], step, axis=batch + 1, mode="fast")
    ahead = node.emit("less", rows, step)
    sizes = node.emit("where", ahead, node.scalar(-1.0, column), node.emit("abs", column))
    chosen = node.emit("cast", node.emit("argmax", sizes, axis=(batch,), keepdims=True), dtype="int64")
    is_chosen, is_step = node.emit("equal", rows, chosen), node.emit("equal", rows, step)
    pivot = node.emit("take", row_at(node, carried[0], is_chosen, batch), step, axis=batch, mode="fast")
    pivot = node.emit("expand_dims", pivot, axis=batch)
    swapped = [_swapped(node, matrices, step, is_chosen, batch) for matrices in carried]
    column = node.emit("take", swapped[0], step, axis=batch + 1, mode="fast")
    factor = node.emit("where", is_step, node.scalar(0.0, column), column)
    factor = node.emit("expand_dims", factor, axis=batch + 1)
    found: list[SSAValue] = []
    for before, after in zip(carried, swapped, strict=True):
        row = node.emit("divide", row_at(node, before, is_chosen, batch), pivot)
        less = node.emit("multiply", factor, node.emit("expand_dims", row, axis=batch))
        found.append(node.emit("subtract", with_row(node, after, is_step, row, batch), less))
    return found


def _swapped(node: NodeView, matrices: SSAValue, step: SSAValue, is_chosen: SSAValue, batch: int) -> SSAValue:
    """The matrices with row `step` written over the pivot's row."""
    row = node.emit("take", matrices, step, axis=batch, mode="fast")
    return with_row(node, matrices, is_chosen, row, batch)
