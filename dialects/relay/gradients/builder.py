"""The builder of ops for gradient rules."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, TypeAlias, TypeVar

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.errors import PassError
from xrelay.index_algebra.dims import MAX_EXTENT, Shape

OpT = TypeVar("OpT", bound=Operation)

Gradients: TypeAlias = Sequence[SSAValue | None]
"""The gradient of each operand; None if the result does not depend on it."""

END: Final = 2**31 - 1
"""An end of slices that is after every axis."""


class GradientBuilder:
    """Adds ops of the backward pass at the end of `block`, with the location of `source`, an op of the forward pass.

    The block has no terminator until all gradients are known.
    """

    def __init__(self, block: Block, source: Operation):
        self._block, self._source = block, source

    @property
    def last_op(self) -> Operation:
        """The op after which ops are added. Raises `ValueError` for an empty block."""
        op = self._block.last_op
        if op is None:
            raise ValueError("the block has no op yet")
        return op

    # --- ops -------------------------------------------------------------------------------------------------------

    def insert(self, op: OpT) -> OpT:
        """Adds `op` at the end of the block."""
        op.location = self._source.location
        self._block.add_op(op)
        return op

    def op(self, name: str, *operands: SSAValue | float, **attributes: AttributeValue) -> SSAValue:
        """Adds an operator by Relay's name: `emit.op("multiply", gradient, 0.5)`; returns its result.

        Numbers become scalars of the first tensor's element type.
        """
        tensors = [operand for operand in operands if isinstance(operand, SSAValue)]
        values = [
            operand if isinstance(operand, SSAValue) else self.scalar(operand, tensors[0]) for operand in operands
        ]
        return self.insert(get_relay_op(name).call(*values, **attributes)).results[0]

    def constant(self, array: Array, like: SSAValue | None = None) -> SSAValue:
        """Returns a constant with the element type of the tensor `like`, by default with that of the array."""
        array = array if like is None else array.astype(numpy_dtype(element_type_of(like.type)))
        return self.insert(ConstantOp.of(array)).result

    def scalar(self, value: float, like: SSAValue) -> SSAValue:
        """Returns a constant of rank 0 with the element type of the tensor `like`.

        For integer types the number is truncated. Raises `PassError` if it is out of range.
        """
        element = element_type_of(like.type)
        dtype = numpy_dtype(element)
        if not _holds(dtype, value):
            message = f"{self._source.name} cannot be differentiated: its rule needs {value}, which no {element} is"
            raise PassError(message, location=describe_location(self._source))
        whole = int(value) if dtype.kind in "iub" else value
        with np.errstate(over="ignore"):  # numbers beyond f16 become infinite
            return self.constant(np.array(whole, dtype))

    def nearest_scalar(self, value: float, like: SSAValue) -> SSAValue:
        """Returns a constant as `scalar` does, clamped to the range of an integer type."""
        dtype = numpy_dtype(element_type_of(like.type))
        if _holds(dtype, value):
            return self.scalar(value, like)
        least, most = _limits(dtype)
        return self.scalar(least if value < least else most, like)

    def tuple(self, *fields: SSAValue) -> SSAValue:
        """Returns a tuple of `fields`."""
        return self.insert(TupleOp.call(*fields)).result

    def item(self, data: SSAValue, index: int) -> SSAValue:
        """Returns field `index` of the tuple `data`, or the operand if `data` is built by a `relay.tuple`."""
        made = data.owner
        if isinstance(made, TupleOp):
            return made.operands[index]
        return self.insert(TupleGetItemOp.call(data, index=index)).result

    # --- shapes ----------------------------------------------------------------------------------------------------

    def shape(self, value: SSAValue) -> Shape:
        """Returns the shape of a tensor, whose extents are numbers or expressions of names."""
        return shape_of(value.type)

    def zeros_like(self, value: SSAValue) -> SSAValue:
        """Returns zeros of the type of `value`."""
        return self.op("zeros_like", value)

    def ones_like(self, value: SSAValue) -> SSAValue:
        """Returns ones of the type of `value`."""
        return self.op("ones_like", value)

    def sum_like(self, gradient: SSAValue, value: SSAValue) -> SSAValue:
        """Sums `gradient` to the shape of `value`, along the axes along which `value` was broadcast."""
        if self.shape(gradient) == self.shape(value):
            return gradient
        return self.op("collapse_sum_like", gradient, value)

    def broadcast_like(self, gradient: SSAValue, value: SSAValue) -> SSAValue:
        """Broadcasts `gradient` to the shape of `value`."""
        if self.shape(gradient) == self.shape(value):
            return gradient
        return self.op("broadcast_to_like", gradient, value)

    def reshape_like(self, gradient: SSAValue, value: SSAValue) -> SSAValue:
        """Reshapes `gradient` to the shape of `value`."""
        if self.shape(gradient) == self.shape(value):
            return gradient
        return self.op("reshape_like", gradient, value)

    def transposed(self, value: SSAValue, axes: Sequence[int]) -> SSAValue:
        """Permutes the axes of a tensor unless they are in order."""
        return value if list(axes) == sorted(axes) else self.op("transpose", value, axes=list(axes))

    def as_matrix(self, value: SSAValue) -> SSAValue:
        """Merges all axes except the last."""
        rank = len(self.shape(value))
        if rank == 1:
            return self.op("expand_dims", value, axis=0)
        for kept in range(rank - 2, 0, -1):
            # -3 merges two axes and 0 keeps an axis, so no extent has to be known.
            value = self.op("reshape", value, newshape=(-3, *[0] * kept))
        return value

    def multiply_axis(self, value: SSAValue, axis: int, matrix: SSAValue) -> SSAValue:
        """Multiplies `value` along `axis` by `matrix`, which has as many rows as the axis has elements."""
        rank = len(self.shape(value))
        order = [*(other for other in range(rank) if other != axis), axis]
        product = self.op("nn.matmul", self.transposed(value, order), matrix)
        return self.transposed(product, [order.index(other) for other in range(rank)])

    def in_layout(self, value: SSAValue, source: Layout, target: Layout) -> SSAValue:
        """Returns `value` in layout `target`, converted if `source` differs."""
        if source == target:
            return value
        return self.op("layout_transform", value, src_layout=str(source), dst_layout=str(target))

    def cast_like(self, gradient: SSAValue, value: SSAValue) -> SSAValue:
        """Casts `gradient` to the element type of `value`."""
        if element_type_of(gradient.type) == element_type_of(value.type):
            return gradient
        return self.op("cast", gradient, dtype=element_type_of(value.type))

    def divided_by_count(self, gradient: SSAValue, data: SSAValue, axes: Sequence[int], *, less: int = 0) -> SSAValue:
        """Divides `gradient` by the number of elements of `data` along `axes`, minus `less`.

        Divides in a wider type if the element type may not represent the number of elements.
        """
        number = self.count(data, axes)
        wide = self.wide_enough(gradient, number)
        if number is not None:
            count = self.scalar(number - less, wide)
        else:
            count = self.op("sum", self.cast_like(self.ones_like(data), wide), axis=axes, keepdims=True)
            count = self.op("subtract", count, less) if less else count
        return self.cast_like(self.divided(wide, count), gradient)

    def count(self, data: SSAValue, axes: Sequence[int]) -> int | None:
        """Returns the number of elements of `data` along `axes`; None if an extent is dynamic."""
        extents = [self.shape(data)[axis] for axis in axes]
        known = [extent for extent in extents if isinstance(extent, int)]
        return prod(known) if len(known) == len(extents) else None

    def divided(self, value: SSAValue, count: SSAValue) -> SSAValue:
        """Divides `value` by a number of elements. For integers a count of 0 becomes 1, to avoid division by 0."""
        if numpy_dtype(element_type_of(count.type)).kind in "iu":
            count = self.op("maximum", count, 1)
        return self.op("divide", value, count)

    def wide_enough(self, value: SSAValue, number: int | None) -> SSAValue:
        """Casts `value` to a type that represents `number`, or if it is None all numbers of elements."""
        dtype, greatest = numpy_dtype(element_type_of(value.type)), MAX_EXTENT if number is None else number
        if dtype == np.float16:
            return value if greatest <= float(np.finfo(dtype).max) else self.op("cast", value, dtype="float32")
        return value if _holds(dtype, greatest) else self.op("cast", value, dtype="int64")


def _holds(dtype: np.dtype, value: float) -> bool:
    """Returns whether an integer type represents the integral part of `value`. Floats always do, by rounding."""
    if dtype.kind not in "iub":
        return True
    least, most = _limits(dtype)
    return least <= value <= most


def _limits(dtype: np.dtype) -> tuple[int, int]:
    """Returns the least and the greatest integer of a type; for booleans 0 and 1."""
    return (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def no_gradients(op: RelayOp, of: SSAValue, build: GradientBuilder) -> Gradients:
    """Returns None for each operand: small changes of their elements do not change the result almost everywhere."""
    return [None] * len(op.operands)


def not_differentiable(op: Operation, reason: str) -> PassError:
    """Returns the error for an op that has no gradient, for the given `reason`."""
    name = op.relay_name() if isinstance(op, RelayOp) else op.name
    return PassError(f"{name} cannot be differentiated: {reason}", location=describe_location(op))
