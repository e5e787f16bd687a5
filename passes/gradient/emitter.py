"""What a gradient rule makes ops with."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.core.types import element_type_of, shape_of
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.index_algebra.dims import Shape

OpT = TypeVar("OpT", bound=Operation)


class GradientEmitter:
    """Puts the ops of the backward pass at the end of `block`, at the location of `source`, an op of the forward pass.

    What is to stand behind is put there when all gradients are known: the block has no terminator meanwhile.
    """

    def __init__(self, block: Block, source: Operation):
        self._block, self._source = block, source

    @property
    def last_op(self) -> Operation:
        """The op behind which ops come; `ValueError` where there is none."""
        op = self._block.last_op
        if op is None:
            raise ValueError("the block has no op yet")
        return op

    # --- ops -------------------------------------------------------------------------------------------------------

    def insert(self, op: OpT) -> OpT:
        """Put `op` behind all others."""
        op.location = self._source.location
        self._block.add_op(op)
        return op

    def op(self, name: str, *operands: SSAValue | float, **attributes: AttributeValue) -> SSAValue:
        """The result of the operator of Relay's name `name`: `emit.op("multiply", gradient, 0.5)`.

        A number among its operands is a scalar of the first tensor's element type.
        """
        tensors = [operand for operand in operands if isinstance(operand, SSAValue)]
        values = [
            operand if isinstance(operand, SSAValue) else self.scalar(operand, tensors[0]) for operand in operands
        ]
        return self.insert(get_relay_op(name).call(*values, **attributes)).results[0]

    def scalar(self, value: float, like: SSAValue) -> SSAValue:
        """A constant of rank 0 with the element type of the tensor `like`."""
        return self.insert(ConstantOp.of(np.array(value, numpy_dtype(element_type_of(like.type))))).result

    def tuple(self, *fields: SSAValue) -> SSAValue:
        """A tuple of `fields`."""
        return self.insert(TupleOp.call(*fields)).result

    def item(self, data: SSAValue, index: int) -> SSAValue:
        """Field `index` of the tuple `data`; the field itself where the tuple was made of it."""
        made = data.owner
        if isinstance(made, TupleOp):
            return made.operands[index]
        return self.insert(TupleGetItemOp.call(data, index=index)).result

    # --- shapes ----------------------------------------------------------------------------------------------------

    def shape(self, value: SSAValue) -> Shape:
        """The shape of a tensor; its extents are numbers or expressions of names."""
        return shape_of(value.type)

    def zeros_like(self, value: SSAValue) -> SSAValue:
        """Zeros of the type of `value`."""
        return self.op("zeros_like", value)

    def ones_like(self, value: SSAValue) -> SSAValue:
        """Ones of the type of `value`."""
        return self.op("ones_like", value)

    def sum_like(self, gradient: SSAValue, value: SSAValue) -> SSAValue:
        """`gradient` in the shape of `value`: summed along the axes along which broadcasting repeated `value`."""
        if self.shape(gradient) == self.shape(value):
            return gradient
        return self.op("collapse_sum_like", gradient, value)

    def broadcast_like(self, gradient: SSAValue, value: SSAValue) -> SSAValue:
        """`gradient` repeated to the shape of `value`."""
        if self.shape(gradient) == self.shape(value):
            return gradient
        return self.op("broadcast_to_like", gradient, value)

    def reshape_like(self, gradient: SSAValue, value: SSAValue) -> SSAValue:
        """The elements of `gradient` in the shape of `value`."""
        if self.shape(gradient) == self.shape(value):
            return gradient
        return self.op("reshape_like", gradient, value)

    def cast_like(self, gradient: SSAValue, value: SSAValue) -> SSAValue:
        """`gradient` in the element type of `value`."""
        if element_type_of(gradient.type) == element_type_of(value.type):
            return gradient
        return self.op("cast", gradient, dtype=element_type_of(value.type))
