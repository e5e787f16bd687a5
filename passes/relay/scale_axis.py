"""Multiplying and dividing operands by a factor along the channels, for `relay-fold-scale-axis`."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.core.types import shape_of
from xrelay.dialects.relay.ops.nn_conv import ConvOp
from xrelay.dialects.relay.ops.nn_dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.ops.tensor_elementwise import AddOp, DivideOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor_shape import ExpandDimsOp, SqueezeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import Array, WeightAttr
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of

LEAST = 2.0**-64
"""A number divided by less than this may leave what f32 holds."""


class Scaling:
    """A factor on its way: `vector` is `factor` along the channels, which are `axis` of the values between.

    A constant is scaled here and now. In front of `anchor`, behind which all else stands, the factor is put for values
    that only the run tells; an op scales them.

    Before:

        %c = relay.nn.conv2d(%x, %w)

    After, where %w is no constant and %s, of shape 64 × 1 × 1, moves into its out-channels:

        %q = relay.squeeze(%s) {axis = [1, 2]}
        %e = relay.expand_dims(%q) {axis = 1, num_newaxis = 3}
        %v = relay.multiply(%w, %e)
        %c = relay.nn.conv2d(%x, %v)
    """

    def __init__(self, rewriter: PatternRewriter, anchor: Operation, factor: Array, vector: Array, axis: int | None):
        self._rewriter, self._anchor = rewriter, anchor
        self._factor, self._vector, self._axis = factor, vector, axis
        self._squeezed: SSAValue | None = None
        self.into = "a constant"
        """What the factor was moved into, for remarks."""

    def weight(self, op: ConvOp | DenseOp, letter: str) -> None:
        """Multiply the weight of `op` along its axis O (out-channels) or I (in-channels)."""
        axis = op.layouts[1].index(letter) if isinstance(op, ConvOp) else "OI".index(letter)
        self._scale(op, 1, len(shape_of(op.weight.type)) - 1 - axis)

    def added(self, op: AddOp | SubtractOp | MultiplyOp, index: int, *, divide: bool = False) -> None:
        """Multiply or divide operand `index`, which broadcasts with the result."""
        if self._axis is not None:
            self._scale(op, index, len(shape_of(op.result.type)) - 1 - self._axis, divide=divide)
        elif constant_of(op.operands[index]) is not None:
            self._scale_constant(op, index, self._factor, divide=divide)
        else:
            self._scale_value(op, index, Emitter(self._rewriter, op).insert(ConstantOp.of(self._factor)).result, divide)

    def bias(self, op: BiasAddOp, *, divide: bool = False) -> None:
        """Multiply or divide the bias."""
        self._scale(op, 1, 0, divide=divide)

    def _scale(self, op: Operation, index: int, behind: int, *, divide: bool = False) -> None:
        """Multiply or divide an operand by the vector, with as many axes behind it."""
        if constant_of(op.operands[index]) is not None:
            along = self._vector.reshape(-1, *[1] * behind) if self._vector.size > 1 else self._vector.reshape(())
            self._scale_constant(op, index, along, divide=divide)
            return
        self._scale_value(op, index, self._along(Emitter(self._rewriter, op), behind), divide)

    def _scale_value(self, op: Operation, index: int, factor: SSAValue, divide: bool) -> None:
        self.into = "an operand"
        kind = DivideOp if divide else MultiplyOp
        op.operands[index] = Emitter(self._rewriter, op).call(kind, op.operands[index], factor)
        self._rewriter.notify_op_modified(op)

    def _along(self, emit: Emitter, behind: int) -> SSAValue:
        """The factor with its channels in front of as many axes."""
        if self._squeezed is None:
            first = Emitter(self._rewriter, self._anchor)
            shape = self._factor.shape if self._vector.size > 1 else ()
            value: SSAValue = first.insert(ConstantOp.of(self._factor.reshape(shape))).result
            units = [axis for axis, extent in enumerate(shape) if extent == 1]
            self._squeezed = first.call(SqueezeOp, value, axis=units) if units else value
        if not behind or self._vector.size == 1:
            return self._squeezed
        return emit.call(ExpandDimsOp, self._squeezed, axis=1, num_newaxis=behind)

    def _scale_constant(self, op: Operation, index: int, factor: Array, *, divide: bool) -> None:
        old = owner_of(op.operands[index], ConstantOp)
        if old is None:
            raise ValueError(f"operand {index} of {op.name} is no constant")
        name = old.value.data.name if isinstance(old.value, WeightAttr) else "constant"
        scaled = np.divide(old.array, factor) if divide else old.array * factor
        new = Emitter(self._rewriter, op).insert(ConstantOp.of(scaled, f"{name}.scaled"))
        new.location = old.location
        op.operands[index] = new.result
        self._rewriter.notify_op_modified(op)
        if old.result.first_use is None:  # else the weights of a network would be there twice when the pass ends
            self._rewriter.handle_operation_removal(old)
            erase_op(old)
