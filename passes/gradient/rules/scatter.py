"""Operators that update elements of a tensor: gradients of the remaining elements and of the updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.gradients.numbered_elements import collected, no_numbers, numbered
from xrelay.dialects.relay.ops.tensor_places import MatrixSetDiagOp
from xrelay.dialects.relay.ops.tensor_scatter import ScatterElementsOp, ScatterNDOp
from xrelay.passes.gradient.rule_table import differentiates

_Write: TypeAlias = Callable[[SSAValue, SSAValue, str], SSAValue]


@dataclass(frozen=True)
class _Scatter:
    """A scatter of `updates` into `data`, with functions that read, and write in a given mode, at its indices."""

    data: SSAValue
    updates: SSAValue
    result: SSAValue
    read: Callable[[SSAValue], SSAValue]
    write: _Write

    def gradients(self, mode: str, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
        """Returns the gradients of data, indices and updates."""
        if mode == "add":
            return [gradient, None, self.read(gradient)]
        if mode == "update":
            return self._of_update(gradient, emit)
        return self._of_product(gradient, emit) if mode == "mul" else self._of_extremum(gradient, emit)

    def _of_update(self, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
        """Returns the gradient for the last update of each element, which is found by scattering numbers."""
        numbers, zeros = numbered(self.updates, emit), emit.zeros_like(self.updates)
        stays = emit.op("equal", self.read(self.write(no_numbers(self.data, emit), numbers, "update")), numbers)
        return [self.write(gradient, zeros, "update"), None, emit.op("where", stays, self.read(gradient), zeros)]

    def _of_product(self, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
        """The derivative is the product of the other factors, which is exact if factors are 0."""
        factors = (self.data, self.updates)
        are_zero = [emit.op("equal", each, 0) for each in factors]
        rest = [emit.op("where", at, emit.ones_like(each), each) for at, each in zip(are_zero, factors, strict=True)]
        zeros = [emit.cast_like(each, gradient) for each in are_zero]
        product, count = self.write(rest[0], rest[1], "mul"), self.write(zeros[0], zeros[1], "add")

        def others(number: int, product: SSAValue, count: SSAValue, gradient: SSAValue) -> SSAValue:
            without = emit.op("divide", product, rest[number])
            nothing = emit.op("greater", emit.op("subtract", count, zeros[number]), 0)
            return emit.op("multiply", gradient, emit.op("where", nothing, emit.zeros_like(without), without))

        of_updates = others(1, *(self.read(each) for each in (product, count, gradient)))
        return [others(0, product, count, gradient), None, of_updates]

    def _of_extremum(self, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
        """Distributes the gradient equally among data and updates that are equal to the result."""
        of_data = emit.cast_like(emit.op("equal", self.data, self.result), gradient)
        of_updates = emit.cast_like(emit.op("equal", self.updates, self.read(self.result)), gradient)
        share = emit.op("divide", gradient, self.write(of_data, of_updates, "add"))
        return [emit.op("multiply", of_data, share), None, emit.op("multiply", of_updates, self.read(share))]


@differentiates(ScatterElementsOp)
def scatter_elements(op: ScatterElementsOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradients of a scatter along the axis; None for the indices."""
    axis = op.axis.value.data

    def read(value: SSAValue) -> SSAValue:
        return emit.op("gather", value, op.indices, axis=axis)

    def write(value: SSAValue, updates: SSAValue, mode: str) -> SSAValue:
        return emit.op("scatter_elements", value, op.indices, updates, axis=axis, reduction=mode)

    return _Scatter(op.data, op.updates, op.result, read, write).gradients(op.reduction.data, gradient, emit)


@differentiates(ScatterNDOp)
def scatter_nd(op: ScatterNDOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradients of a scatter at index tuples; None for these."""

    def read(value: SSAValue) -> SSAValue:
        return emit.op("gather_nd", value, op.indices)

    def write(value: SSAValue, updates: SSAValue, mode: str) -> SSAValue:
        return emit.op("scatter_nd", value, op.indices, updates, mode=mode)

    return _Scatter(op.data, op.updates, op.result, read, write).gradients(op.mode.data, gradient, emit)


@differentiates(MatrixSetDiagOp)
def matrix_set_diag(op: MatrixSetDiagOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns zero on the replaced diagonals, and the gradient of the diagonals for `diagonal`."""
    data = emit.op("matrix_set_diag", gradient, emit.zeros_like(op.diagonal), **op.properties)
    numbers = emit.op("matrix_set_diag", no_numbers(op.data, emit), numbered(op.diagonal, emit), **op.properties)
    return [data, collected(numbers, gradient, op.diagonal, emit)]
