"""Evaluation of scalar bodies on boxes of index values, with one array for each SSA value.

Each variable of a box has an axis. The values of an expression are an array with one axis for each variable, of extent
1 if the expression does not depend on the variable, so arrays broadcast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.shared.extents import integers
from xrelay.dialects.topi import CheckedIndexOp, GuardOp, InBoundsOp, IndexOp, ReadOp, YieldOp
from xrelay.errors import InterpreterError
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.interpreters.scalar import DIVISIONS, compile_scalar, signless_view

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Box:
    """The part of an index space that is evaluated at once: a half-open range for each variable."""

    ranges: Mapping[SSAValue, tuple[int, int]]

    @property
    def rank(self) -> int:
        """The number of variables, which is the rank of all arrays."""
        return len(self.ranges)

    def axis(self, variable: SSAValue) -> int:
        """Returns the axis of a variable."""
        return list(self.ranges).index(variable)

    def values(self, variable: SSAValue) -> Array:
        """Returns the values of a variable along its axis."""
        start, stop = self.ranges[variable]
        shape = [1] * self.rank
        shape[self.axis(variable)] = stop - start
        return np.arange(start, stop, dtype=np.int64).reshape(shape)

    def shape(self) -> tuple[int, ...]:
        """Returns the number of values of each variable."""
        return tuple(stop - start for start, stop in self.ranges.values())


def evaluate_index(expr: AffineExpr, operands: Sequence[Array]) -> Array:
    """Returns the values of an index expression with dimensions `operands`."""
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
    """Returns the elements of `tensor` at `exprs` over `operands` with values `values`, for all points of the box.

    Elements are arbitrary where `mask` is false. Raises `InterpreterError` if an index is out of range and the mask is
    true or absent.
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
    """Returns the read as a view if each index is constant or `factor * variable + offset` of its own variable."""
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


class BodyEvaluator:
    """Evaluates the ops of a body over a box.

    `tensors` holds the arrays of captured values; `values` those of the body that are already computed.
    """

    def __init__(self, box: Box, tensors: dict[SSAValue, Array]):
        self.box = box
        self.tensors = tensors
        self.values: dict[SSAValue, Array] = {variable: box.values(variable) for variable in box.ranges}

    def value(self, operand: SSAValue) -> Array:
        """Returns the array of a scalar value. Raises `InterpreterError` if it is undefined."""
        found = self.values.get(operand)
        if found is None:
            found = self.tensors.get(operand)
        if found is None:
            raise InterpreterError(f"a value of type {operand.type} is used before it is computed")
        return found

    def run(self, ops: Iterable[Operation], mask: Array | None = None) -> None:
        """Evaluates `ops` in order; reads only at points where `mask` is true."""
        for op in ops:
            if not isinstance(op, YieldOp):
                self.values[op.results[0]] = self._evaluate(op, mask)

    def _evaluate(self, op: Operation, mask: Array | None) -> Array:
        match op:
            case ReadOp():
                values = [self.value(index) for index in op.indices]
                return read(signless_view(self.value(op.tensor)), op.exprs, op.indices, values, self.box, mask)
            case IndexOp():
                return evaluate_index(op.exprs[0], [self.value(index) for index in op.indices])
            case InBoundsOp():
                return self._in_bounds(op)
            case GuardOp():
                return self._guard(op, mask)
            case _:
                return self._scalar(op, mask)

    def _scalar(self, op: Operation, mask: Array | None) -> Array:
        operands = [self.value(operand) for operand in op.operands]
        if mask is not None and op.name in DIVISIONS:
            # Divisors are replaced where the mask is false, because a zero there is not an error.
            operands[1] = np.where(mask, operands[1], operands[1].dtype.type(1))
        if mask is not None and isinstance(op, CheckedIndexOp):
            # Indices are replaced by a checked one where the mask is false, because they are not used there.
            if not mask.any():
                return np.zeros_like(operands[0])
            index, on = np.broadcast_arrays(operands[0], mask)
            operands[0] = np.where(on, index, index[on][0])
        with np.errstate(all="ignore"):
            return np.asarray(compile_scalar(op)(*operands))

    def _in_bounds(self, op: InBoundsOp) -> Array:
        values = [self.value(index) for index in op.indices]
        inside: Array = np.ones((1,) * self.box.rank, np.bool_)
        for expr, size in zip(op.exprs, integers(op.limits), strict=True):
            index = evaluate_index(expr, values)
            inside = inside & (index >= 0) & (index < size)
        return inside

    def _guard(self, op: GuardOp, mask: Array | None) -> Array:
        condition = self.value(op.condition)
        branches: list[Array] = []
        for region, taken in ((op.then_region, condition), (op.else_region, ~condition)):
            self.run(region.block.ops, taken if mask is None else taken & mask)
            last = region.block.last_op
            if not isinstance(last, YieldOp):
                raise InterpreterError("a region of topi.guard does not end in topi.yield")
            branches.append(self.value(last.values[0]))
        return np.where(condition, *branches)
