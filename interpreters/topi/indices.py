"""Index expressions and reads over a whole box of index values at once.

Every variable of a box has an axis of its own; the values of an expression are an array with one axis per variable,
of size 1 where the expression does not depend on the variable, so that arrays broadcast against each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.errors import InterpreterError
from xrelay.index_algebra.affine_bounds import linear_form

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Box:
    """The part of an index space that is evaluated at once: for each variable its half-open range of values."""

    ranges: Mapping[SSAValue, tuple[int, int]]

    @property
    def rank(self) -> int:
        """The number of variables, and of axes of every array."""
        return len(self.ranges)

    def axis(self, variable: SSAValue) -> int:
        """The axis of a variable."""
        return list(self.ranges).index(variable)

    def values(self, variable: SSAValue) -> Array:
        """The values of one variable along its axis."""
        start, stop = self.ranges[variable]
        shape = [1] * self.rank
        shape[self.axis(variable)] = stop - start
        return np.arange(start, stop, dtype=np.int64).reshape(shape)

    def shape(self) -> tuple[int, ...]:
        """The number of values of each variable."""
        return tuple(stop - start for start, stop in self.ranges.values())


def evaluate_index(expr: AffineExpr, operands: Sequence[Array]) -> Array:
    """The values of an index expression whose dimensions stand for `operands`."""
    match expr:
        case AffineConstantExpr(value=value):
            return np.asarray(value, np.int64)
        case AffineDimExpr(position=position):
            return operands[position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = evaluate_index(lhs, operands), evaluate_index(rhs, operands)
            match kind:
                case AffineBinaryOpKind.Add:
                    return left + right
                case AffineBinaryOpKind.Mul:
                    return left * right
                case AffineBinaryOpKind.FloorDiv:
                    return left // right
                case AffineBinaryOpKind.CeilDiv:
                    return -(-left // right)
                case AffineBinaryOpKind.Mod:
                    return left % right
        case _:
            raise InterpreterError(f"index expression {expr} is not affine")


def read(
    tensor: Array,
    exprs: Sequence[AffineExpr],
    operands: Sequence[SSAValue],
    values: Sequence[Array],
    box: Box,
    mask: Array | None,
) -> Array:
    """The elements of `tensor` at `exprs` over `operands`, whose values are `values`, for every point of the box.

    Where `mask` is false nothing is read and the elements are arbitrary. Raises `InterpreterError` where an index
    leaves the tensor and the mask is true or absent.
    """
    if mask is None and (view := _strided_view(tensor, exprs, operands, box)) is not None:
        return view
    indices = [evaluate_index(expr, values) for expr in exprs]
    for axis, (index, size) in enumerate(zip(indices, tensor.shape, strict=True)):
        indices[axis] = _checked(index, size, axis, tensor, mask)
    if tensor.size == 0:
        return np.zeros(np.broadcast_shapes((1,) * box.rank, *(index.shape for index in indices)), tensor.dtype)
    result = tensor[tuple(indices)]
    return result.reshape((1,) * (box.rank - result.ndim) + result.shape)


def _checked(index: Array, size: int, axis: int, tensor: Array, mask: Array | None) -> Array:
    outside = (index < 0) | (index >= size)
    if not outside.any():
        return index
    wrong = outside if mask is None else outside & mask
    if wrong.any():
        worst = np.broadcast_to(index, wrong.shape)[wrong].flat[0]
        raise InterpreterError(
            f"read at index {worst} of axis {axis} of a tensor of shape {list(tensor.shape)}",
            help="surround the read with topi.guard",
        )
    return np.clip(index, 0, max(size - 1, 0))


def _strided_view(tensor: Array, exprs: Sequence[AffineExpr], operands: Sequence[SSAValue], box: Box) -> Array | None:
    """The read as a view, where every expression is `factor * variable + offset` of another variable or a constant."""
    slices: list[slice] = []
    axes: list[int | None] = []
    for expr, size in zip(exprs, tensor.shape, strict=True):
        form = linear_form(expr)
        if not form.terms:
            start, stop, step, axis = form.constant, form.constant + 1, 1, None
        else:
            (atom, step), *more = form.terms
            if more or step < 1 or not isinstance(atom, AffineDimExpr) or operands[atom.position] not in box.ranges:
                return None
            first, end = box.ranges[operands[atom.position]]
            axis = box.axis(operands[atom.position])
            start, stop = first * step + form.constant, (end - 1) * step + form.constant + 1
        if start < 0 or stop > size or stop <= start or (axis is not None and axis in axes):
            return None
        slices.append(slice(start, stop, step))
        axes.append(axis)
    view = tensor[tuple(slices)]
    kept = [axis for axis in axes if axis is not None]
    view = view.reshape([n for n, axis in zip(view.shape, axes, strict=True) if axis is not None])
    order = sorted(range(len(kept)), key=lambda i: kept[i])
    shape = [1] * box.rank
    for i in order:
        shape[kept[i]] = view.shape[i]
    return view.transpose(order).reshape(shape)
