"""Evaluation of scalar bodies on boxes of index values, with one array for each SSA value."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.shared.extents import integers
from xrelay.dialects.topi import CheckedIndexOp, GuardOp, InBoundsOp, IndexOp, ReadOp, YieldOp
from xrelay.errors import InterpreterError
from xrelay.interpreters.arith import DIVISIONS
from xrelay.interpreters.scalar import compile_scalar
from xrelay.interpreters.scalar_meaning import signless_view
from xrelay.interpreters.topi.indices import Array, Box, evaluate_index, read


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
