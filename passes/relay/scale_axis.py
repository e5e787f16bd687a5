"""Paths from a factor to the heavy ops whose weights it can scale, and the scaling, for `relay-fold-scale-axis`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.relay.ops.nn.conv import ConvOp
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.ops.nn.pool import MAX_POOLS, MaxPoolOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp, ReshapeOp, SqueezeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import Array, WeightAttr
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import Shape
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.rewriting import Emitter, constant_of, float_range, owner_of

HeavyOp: TypeAlias = ConvOp | DenseOp
SumOp: TypeAlias = AddOp | SubtractOp
Step: TypeAlias = ConvOp | DenseOp | SumOp | BiasAddOp | ReluOp | MaxPoolOp

TRANSPARENT_OPS: tuple[type[Step], ...] = (AddOp, SubtractOp, BiasAddOp, ReluOp, *MAX_POOLS)
"""The ops that may be between a heavy op and a factor."""


@dataclass(frozen=True)
class Segment:
    """The ops `path` from a factor, or from the operand of a sum, up to `top`, the op that the factor reaches.

    `top` is a heavy op or another factor; if `joins` is set, a sum of two values, each with a segment of its own.
    """

    path: Sequence[Step]
    top: HeavyOp | MultiplyOp | SumOp
    joins: bool

    @property
    def scaled(self) -> Sequence[Step | MultiplyOp]:
        """The ops that the factor passes or scales."""
        return self.path if self.joins else [*self.path, self.top]


class Refused(Exception):
    """A factor cannot be moved; the message is the reason."""


def data_and_factor(op: MultiplyOp) -> tuple[SSAValue, Array] | None:
    """The scaled operand and the constant factor; `None` if no operand, or both, are constants."""
    for data, factor in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        array = constant_of(factor)
        if array is not None and data.type == op.result.type and constant_of(data) is None:
            return data, array
    return None


def path_above(value: SSAValue, *, any_value: bool, shared: bool = False) -> tuple[list[Step], SSAValue]:
    """The ops of `TRANSPARENT_OPS` from `value` upwards, each with a single use, and the value from which they start.

    If `shared` is set, `value` itself may have several uses.
    """
    path: list[Step] = []
    while isinstance(value, OpResult) and isinstance(value.op, TRANSPARENT_OPS):
        if not value.has_one_use() and (path or not shared):
            break
        above = _operand_to_scale(value.op, any_value=any_value)
        if above is None:
            break
        path.append(value.op)
        value = above
    return path, value


def _operand_to_scale(op: Step, *, any_value: bool) -> SSAValue | None:
    """The operand to which a factor of the result of `op` may move; `None` if it may not."""
    if isinstance(op, ReluOp | MaxPoolOp):
        return op.data
    if isinstance(op, BiasAddOp):
        return op.data if any_value or constant_of(op.bias) is not None else None
    if isinstance(op, SumOp):
        index = constant_operand_index(op, any_value=any_value)
        other = None if index is None else op.operands[1 - index]
        return other if other is not None and other.type == op.result.type else None
    return None


def constant_operand_index(op: SumOp | MultiplyOp, *, any_value: bool) -> int | None:
    """The index of the constant operand, or else, with `any_value`, of the operand that is broadcast."""
    found = next((index for index in (1, 0) if constant_of(op.operands[index]) is not None), None)
    if found is None and any_value:
        found = next((index for index in (1, 0) if op.operands[index].type != op.result.type), None)
    return found


def segments_above(value: SSAValue, *, any_value: bool) -> list[Segment]:
    """The segments from `value`, a sum of any number of tensors, up to the heavy ops or other factors in them."""
    pending, found = [value], list[Segment]()
    while pending:
        path, start = path_above(pending.pop(), any_value=any_value)
        sum_op = _sum_at(start)
        if sum_op is None:
            found.append(Segment(path, _top_at(start), joins=False))
        else:
            found.append(Segment(path, sum_op, joins=True))
            pending += sum_op.operands
    return found


def first_of_all(segments: Sequence[Segment]) -> Operation | None:
    """An op that no top precedes; `None` if the tops are in several blocks."""
    if len(segments) == 1:
        return segments[0].top
    blocks = {segment.top.parent for segment in segments}
    block = blocks.pop()
    return None if blocks or block is None else block.first_op


def _sum_at(value: SSAValue) -> SumOp | None:
    """The sum or difference of two tensors of one type that defines `value`, if `value` has a single use."""
    op = value.owner
    if not isinstance(op, SumOp) or not value.has_one_use():
        return None
    return op if all(operand.type == op.result.type for operand in op.operands) else None


def _top_at(value: SSAValue) -> HeavyOp | MultiplyOp:
    """The heavy op, or the other factor, that defines `value`; raises `Refused` for other ops or further uses."""
    op = value.owner
    name = op.name if isinstance(op, Operation) else "a parameter"
    if not value.has_one_use():
        raise Refused(f"the result of {name} has other uses")
    if isinstance(op, HeavyOp) or (isinstance(op, MultiplyOp) and data_and_factor(op) is not None):
        return op
    raise Refused(f"it scales the result of {name}")


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
    whole = (1,) * (len(shape) - factor.ndim) + factor.shape
    if len(whole) > len(shape) or any(extent != 1 for axis, extent in enumerate(whole) if axis not in axes):
        return None
    if len(axes) == 1 or factor.size == 1:
        return factor.reshape(-1)
    extents = [extent for extent in (shape[axis] for axis in axes) if isinstance(extent, int)]
    if len(extents) < len(axes):
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
            self._scale_value(op, index, Emitter(self._rewriter, op).constant(self._factor), divide)

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
            value: SSAValue = first.constant(self._factor.reshape(own))
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
