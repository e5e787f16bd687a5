"""Multiplying and dividing operands by a factor along the channels, for `relay-fold-scale-axis`."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn.conv import ConvOp
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp, ReshapeOp, SqueezeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import Array, WeightAttr
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import Shape
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.rewriting import Emitter, constant_of, float_range, owner_of, per_channel

LEAST = 2.0**-64
"""A quotient with a smaller divisor may exceed the range of f32."""


Axes: TypeAlias = tuple[int, ...]
"""The channel axis, or the axis of the blocks of channels and the axis within a block."""


def axes_of(layout: Layout, letter: str) -> Axes:
    """The axes of `letter` in a layout."""
    inner = layout.inner_index(letter)
    return (layout.index(letter),) if inner is None else (layout.index(letter), inner)


def channel_vector(factor: Array, shape: Shape, axes: Axes) -> Array | None:
    """`factor`, which broadcasts to `shape`, as a vector along the channels; `None` if it varies along another axis.

    A uniform factor becomes a vector of one element.
    """
    if len(axes) == 1:
        return per_channel(factor, len(shape), axes[0])
    if factor.size == 1:
        return factor.reshape(-1)
    whole = (1,) * (len(shape) - factor.ndim) + factor.shape
    extents = [extent for extent in (shape[axis] for axis in axes) if isinstance(extent, int)]
    varies = any(extent != 1 for position, extent in enumerate(whole) if position not in axes)
    if len(whole) > len(shape) or varies or len(extents) < len(axes):
        return None
    return np.broadcast_to(factor.reshape([whole[axis] for axis in axes]), extents).reshape(-1)


def stays_in_range(array: Array, factor: Array) -> bool:
    """Whether the products of `array` and `factor` fit the type of `array` without loss of precision.

    The greatest magnitude must be a normal number or 0. Smaller products then lose no more than it does by rounding.
    """
    if array.size == 0 or factor.size == 0:
        return True
    (least, most), greatest = float_range(array.dtype), _greatest(array) * _greatest(factor)
    return greatest == 0 or least <= greatest <= most


def _greatest(array: Array) -> float:
    """The greatest magnitude of an element; NaN if an element is NaN."""
    return float(np.maximum(abs(float(array.min())), abs(float(array.max()))))


class Scaling:
    """Scales operands by a factor. `vector` is `factor` along the channels, the axes `axes` of the scaled values.

    Constant operands are scaled at once. For others an op scales them at run time; the factor for these ops is inserted
    before `anchor`, which precedes all of them.

    Before:

        %c = relay.nn.conv2d(%x, %w)

    After, if %w is not a constant and %s, of shape 64 × 1 × 1, scales its out-channels:

        %q = relay.squeeze(%s) {axis = [1, 2]}
        %e = relay.expand_dims(%q) {axis = 1, num_newaxis = 3}
        %v = relay.multiply(%w, %e)
        %c = relay.nn.conv2d(%x, %v)
    """

    def __init__(self, rewriter: PatternRewriter, anchor: Operation, factor: Array, vector: Array, axes: Axes | None):
        self._rewriter, self._anchor = rewriter, anchor
        self._factor, self._vector, self._axes = factor, vector, axes
        self._squeezed: SSAValue | None = None
        self.into = "a constant"
        """The kind of the scaled operands, for remarks."""

    def weight(self, op: ConvOp | DenseOp, letter: str) -> None:
        """Multiplies the weight of `op` along its axis O (out-channels) or I (in-channels)."""
        axes = axes_of(op.layouts[1], letter) if isinstance(op, ConvOp) else ("OI".index(letter),)
        self._scale(op, 1, axes, shape_of(op.weight.type))

    def added(self, op: AddOp | SubtractOp | MultiplyOp, index: int, *, divide: bool = False) -> None:
        """Multiplies or divides operand `index`, which broadcasts to the result."""
        if self._axes is not None:
            self._scale(op, index, self._axes, shape_of(op.result.type), divide=divide)
        elif constant_of(op.operands[index]) is not None:
            self._scale_constant(op, index, self._factor, divide=divide)
        else:
            self._scale_value(op, index, Emitter(self._rewriter, op).insert(ConstantOp.of(self._factor)).result, divide)

    def bias(self, op: BiasAddOp, *, divide: bool = False) -> None:
        """Multiplies or divides the bias."""
        self._scale(op, 1, (0,), shape_of(op.bias.type), divide=divide)

    def _scale(self, op: Operation, index: int, axes: Axes, shape: Shape, *, divide: bool = False) -> None:
        """Multiplies or divides an operand, which broadcasts to `shape`, by the vector along `axes` of `shape`."""
        if constant_of(op.operands[index]) is not None:
            along = self._vector.reshape(self._shape(axes, shape) if self._vector.size != 1 else ())
            self._scale_constant(op, index, along, divide=divide)
            return
        self._scale_value(op, index, self._along(Emitter(self._rewriter, op), axes, shape), divide)

    def _shape(self, axes: Axes, shape: Shape) -> list[int]:
        """The shape of the factor along `axes` of `shape`; for a single axis without the leading ones."""
        if len(axes) == 1:
            return [self._vector.size, *[1] * (len(shape) - 1 - axes[0])]
        blocks = [extent if isinstance(extent, int) else -1 for extent in (shape[axis] for axis in axes)]
        return [blocks[axes.index(position)] if position in axes else 1 for position in range(len(shape))]

    def _scale_value(self, op: Operation, index: int, factor: SSAValue, divide: bool) -> None:
        self.into = "an operand"
        kind = DivideOp if divide else MultiplyOp
        op.operands[index] = Emitter(self._rewriter, op).call(kind, op.operands[index], factor)
        self._rewriter.notify_op_modified(op)

    def _along(self, emit: Emitter, axes: Axes, shape: Shape) -> SSAValue:
        """The factor along `axes` of `shape`."""
        if self._squeezed is None:
            first = Emitter(self._rewriter, self._anchor)
            own = self._factor.shape if self._vector.size != 1 else ()
            value: SSAValue = first.insert(ConstantOp.of(self._factor.reshape(own))).result
            units = [axis for axis, extent in enumerate(own) if extent == 1]
            self._squeezed = first.call(SqueezeOp, value, axis=units) if units else value
        if self._vector.size == 1:
            return self._squeezed
        if len(axes) > 1 or (self._axes is not None and len(self._axes) > 1):
            return emit.call(ReshapeOp, self._squeezed, newshape=self._shape(axes, shape))
        trailing = len(self._shape(axes, shape)) - 1
        return emit.call(ExpandDimsOp, self._squeezed, axis=1, num_newaxis=trailing) if trailing else self._squeezed

    def _scale_constant(self, op: Operation, index: int, factor: Array, *, divide: bool) -> None:
        old = owner_of(op.operands[index], ConstantOp)
        if old is None:
            raise ValueError(f"operand {index} of {op.name} is not a constant")
        name = old.value.data.name if isinstance(old.value, WeightAttr) else "constant"
        scaled = np.divide(old.array, factor) if divide else old.array * factor
        new = Emitter(self._rewriter, op).insert(ConstantOp.of(scaled, f"{name}.scaled"))
        new.location = old.location
        op.operands[index] = new.result
        self._rewriter.notify_op_modified(op)
        if old.result.first_use is None:  # erased now, so that a network's weights are not in memory twice
            self._rewriter.handle_operation_removal(old)
            erase_op(old)
