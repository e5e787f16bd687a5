"""Matrix products along one axis, for gradients of operators that are linear along each axis."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of


def matrix_of(weights: Array, like: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns a constant with the element type of the tensor `like`."""
    return emit.insert(ConstantOp.of(weights.astype(numpy_dtype(element_type_of(like.type))))).result


def multiplied(value: SSAValue, axis: int, matrix: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns the product of `value` along `axis` with `matrix`, which has as many rows as the axis has elements."""
    rank = len(emit.shape(value))
    order = [*(other for other in range(rank) if other != axis), axis]
    product = emit.op("nn.matmul", _transposed(value, order, emit), matrix)
    return _transposed(product, [order.index(other) for other in range(rank)], emit)


def _transposed(value: SSAValue, axes: list[int], emit: GradientBuilder) -> SSAValue:
    return value if axes == sorted(axes) else emit.op("transpose", value, axes=axes)
