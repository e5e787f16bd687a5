"""Selects where a float program is rounded, so that convolutions and matrix products run on 8-bit integers.

A point is an operand of an op; the value it reads is quantised and dequantised. Products start with both operands
rounded, and return 32-bit sums. From there the analysis follows the integers through the ops that keep them; if such an
op needs 8 bits, or rounds, it gets a point. Each op is visited once, in program order.

The range of a tensor determines its quantisation parameters. Signed b-bit integers are symmetric around 0:
`scale = most / (2**(b-1) - 1)`, zero point 0. Unsigned ones cover the range from the least to the greatest number,
extended to 0: `scale = (high - low) / (2**b - 1)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp, FilterOp
from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp, MatmulOp, MatrixProductOp
from xrelay.dialects.relay.ops.nn.pool import AvgPool2DOp
from xrelay.dialects.relay.ops.qnn.op_base import QnnOp
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp, QuantizeOp
from xrelay.dialects.relay.ops.tensor.arithmetic import DivideOp, MaximumOp, MinimumOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_complete
from xrelay.passes.graph.remarks import Remarks
from xrelay.passes.qnn.integer_rules import MAX_SUM, float_constant, known_array
from xrelay.passes.qnn.integer_sums import axis_of_filters, count_of_products

BITS = range(2, 9)
"""The supported numbers of bits."""

POWER2, MAX = "power2", "max"
WEIGHT_SCALES = (POWER2, MAX)
"""How the greatest number of a weight becomes a bound: the next power of two, or the number itself."""

_TINY = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True)
class Bounds:
    """The range of a tensor's elements, or the range to which they are clipped."""

    low: float
    high: float

    @property
    def most(self) -> float:
        """The greatest absolute value."""
        return max(abs(self.low), abs(self.high))

    @staticmethod
    def of_domain(most: float, bits: int) -> Bounds:
        """The bounds for numbers below `most`, divided by Relay into `2**(bits-1)` steps: one step below `most`."""
        steps = 2.0 ** (bits - 1)
        reached = most * (steps - 1) / steps
        return Bounds(-reached, reached)


@dataclass(frozen=True)
class Grid:
    """The numbers `scale * (n - zero_point)` for n from `least` to `greatest`: the possible results of rounding."""

    scale: Array
    zero_point: Array
    dtype: str
    least: int
    greatest: int

    @property
    def is_cut(self) -> bool:
        """Whether the dtype has integers greater than `greatest`, so that quantisation must clip."""
        return self.greatest < np.iinfo(self.dtype).max


def activation_grid(bounds: Bounds, bits: int, dtype: str) -> Grid:
    """Returns the grid for numbers within `bounds`, with `bits` bits in elements of `dtype`."""
    if np.iinfo(dtype).min < 0:
        return _signed(np.asarray(bounds.most), bits, dtype)
    low, high = min(bounds.low, 0.0), max(bounds.high, 0.0)
    greatest = 2**bits - 1
    scale = _scale(np.asarray((high - low) / greatest))
    zero_point = np.clip(np.round(-low / scale.astype(np.float64)), 0, greatest)
    return Grid(scale, np.asarray(zero_point, np.int32), dtype, 0, greatest)


def weight_grid(weight: Array, axis: int | None, bits: int, dtype: str, how: str) -> Grid:
    """Returns the grid of a constant: with a scale per index along `axis`, or one scale."""
    others = None if axis is None else tuple(each for each in range(weight.ndim) if each != axis)
    most = np.abs(weight.astype(np.float64)).max(axis=others, initial=0.0)
    if how == POWER2:
        exponents = np.ceil(np.log2(most, where=most > 0, out=np.zeros_like(most)))
        levels = 2.0 ** (bits - 1)
        most = np.where(most > 0, np.exp2(exponents) * ((levels - 1) / levels), 0.0)
    return _signed(np.asarray(most), bits, dtype)


def _signed(most: Array, bits: int, dtype: str) -> Grid:
    greatest = 2 ** (bits - 1) - 1
    scale = _scale(most / greatest)
    return Grid(scale, np.zeros(scale.shape, np.int32), dtype, -greatest, greatest)


def _scale(step: Array) -> Array:
    """Returns the step as a positive f32 scale: 1 for 0, and at least the smallest normal number."""
    return np.asarray(np.where(step > 0, np.maximum(step, _TINY), 1.0), np.float32)


GREATEST_WEIGHT = 128
"""The greatest absolute value of integer weights."""


class State(Enum):
    """The integers that represent a value."""

    SUMS = "integers of 32 bits"
    BYTES = "integers of 8 bits"
    OPEN = "requantised by a later quantisation"


_RESULTS: dict[Quantization | None, State] = {
    Quantization.MOVEMENT: State.BYTES,
    Quantization.CHOICE: State.BYTES,
    Quantization.MEAN: State.SUMS,
}
"""The results of ops on one tensor of 8-bit integers."""


@dataclass(frozen=True)
class Point:
    """Operand `index` of `op` is rounded: numbers within `bounds`, or a constant weight with a scale along `axis`."""

    op: Operation
    index: int
    bounds: Bounds | None
    axis: int | None = None

    @property
    def value(self) -> SSAValue:
        """The rounded value."""
        return self.op.operands[self.index]

    @property
    def is_weight(self) -> bool:
        """Whether it is a constant, whose elements determine the steps."""
        return self.bounds is None


@dataclass(frozen=True)
class Choice:
    """The selection of ops to quantise, with the names of Relay's `qconfig`."""

    per_channel: bool = False
    """Whether weights have a scale for each output channel."""
    skip_dense_layer: bool = True
    skip_conv_layers: frozenset[int] = frozenset({0})
    enabled_ops: frozenset[str] | None = None
    greatest_input: int = 128
    """The greatest distance of an integer tensor element from its zero point."""


BoundsOf = Callable[[SSAValue], Bounds | None]
"""Returns the bounds of a value; `None` if they are not known."""


class QuantizationPoints:
    """The points of a list of ops in program order; `remarks` has the reason for or against each op."""

    def __init__(self, ops: Sequence[Operation], choice: Choice, bounds_of: BoundsOf, pass_name: str):
        self.remarks = Remarks(pass_name)
        self._choice, self._bounds_of = choice, bounds_of
        self._points: dict[tuple[Operation, int], Point] = {}
        self._spare: list[Point] = []
        self._states: dict[SSAValue, State] = {}
        self._taken: set[Operation] = set()
        self._convolutions = 0
        self._take_products(ops)
        self._shared = {point.value for point in self._points.values() if not point.is_weight}
        for op in ops if self._taken else ():
            if isinstance(op, RelayOp):
                self._follow(op)
        self._close(ops)

    @property
    def all(self) -> list[Point]:
        """The points, in the order in which they were found."""
        return list(self._points.values())

    @property
    def measured(self) -> list[Point]:
        """The points, and those whose values have 8 bits already: calibration measures both."""
        return [*self._points.values(), *self._spare]

    # --- products --------------------------------------------------------------------------------------------------

    def _take_products(self, ops: Sequence[Operation]) -> None:
        for op in ops:
            if isinstance(op, RelayOp) and op.QUANTIZATION is Quantization.PRODUCT and not isinstance(op, QnnOp):
                found = self._product(op)
                if isinstance(found, str):
                    self.remarks.refused(op, found)
                    continue
                self._taken.add(op)
                for point in found:
                    self._points[op, point.index] = point

    def _product(self, op: RelayOp) -> list[Point] | str:
        """The points of a product, or the reason why it stays in floats."""
        reason = self._skipped(op)
        if reason is not None:
            return reason
        if not all(map(is_complete, op.operand_types)):
            return "its types are not inferred"
        if not all(map(is_float_tensor, op.operands)):
            return "it is already an integer product"
        count = count_of_products(op)
        if count * self._choice.greatest_input * GREATEST_WEIGHT > MAX_SUM:
            return f"a sum of {count:g} 8-bit products may overflow 32 bits"
        found: list[Point] = []
        for index in (0, 1):
            point = self._product_operand(op, index)
            if isinstance(point, str):
                return point
            found += [] if point is None else [point]
        return found

    def _skipped(self, op: RelayOp) -> str | None:
        if isinstance(op, Conv2DOp):
            number = self._convolutions
            self._convolutions += 1
            if number in self._choice.skip_conv_layers:
                return f"skip-conv-layers names convolution {number}"
        if isinstance(op, DenseOp | MatmulOp) and self._choice.skip_dense_layer:
            return "skip-dense-layer is set"
        return None if self._is_enabled(op) else "it is not in enabled-ops"

    def _is_enabled(self, op: RelayOp) -> bool:
        enabled = self._choice.enabled_ops
        return enabled is None or op.relay_name() in enabled

    def _product_operand(self, op: RelayOp, index: int) -> Point | str | None:
        """The point of an operand, `None` if it is dequantised already, or the reason why it cannot be rounded."""
        value = op.operands[index]
        if isinstance(value, OpResult) and isinstance(value.op, DequantizeOp):
            return None
        if known_array(value) is not None:
            if float_constant(value) is None:
                return f"operand #{index} has values that are not finite"
            return Point(op, index, None, self._scale_axis(op) if index == 1 else None)
        if index == 1 and not isinstance(op, BatchMatmulOp):
            return "its weight is not a constant"
        bounds = self._bounds_of(value)
        return f"the bounds of operand #{index} are unknown" if bounds is None else Point(op, index, bounds)

    def _scale_axis(self, op: RelayOp) -> int | None:
        """The axis of the weight along which an op may have a scale per output channel; `None` for one scale."""
        if not self._choice.per_channel or isinstance(op, BatchMatmulOp):
            return None
        if isinstance(op, FilterOp):
            return axis_of_filters(op)
        if isinstance(op, MatrixProductOp):
            return 0 if op.transposed[1] else 1
        return 0

    # --- what follows them -----------------------------------------------------------------------------------------

    def _follow(self, op: RelayOp) -> None:
        """Records the state of the result of `op`, and the points that it requires."""
        if op in self._taken:
            for index, operand in enumerate(op.operands):
                if self._states.get(operand) is State.BYTES:
                    self._spare += [point for point in (self._points.pop((op, index), None),) if point is not None]
            self._states[op.results[0]] = State.SUMS
            return
        if isinstance(op, DequantizeOp):
            narrow = numpy_dtype(element_type_of(op.operands[0].type)).itemsize == 1
            self._states[op.results[0]] = State.BYTES if narrow else State.SUMS
            return
        if isinstance(op, QuantizeOp | ConstantOp | TupleOp) or not self._reads_integers(op):
            return
        state = self._result(op)
        if isinstance(state, State):
            self._states[op.results[0]] = state
        else:
            self.remarks.refused(op, state)

    def _reads_integers(self, op: RelayOp) -> bool:
        return any(operand in self._states for operand in _data_of(op))

    def _result(self, op: RelayOp) -> State | str:
        """The state of the result, or the reason why it stays in floats."""
        kind = op.QUANTIZATION
        if not self._is_enabled(op):
            return "it is not in enabled-ops"
        if kind is Quantization.BOUND or isinstance(op, TupleGetItemOp):
            state = self._states[op.operands[0]]
            # Bounds between two 8-bit steps need finer ones.
            return State.SUMS if state is State.BYTES and isinstance(op, ClipOp) else state
        if isinstance(op, ConcatenateOp):
            return self._concatenate(op)
        if kind is Quantization.JOIN or kind is Quantization.SCALING:
            return self._join(op)
        # `qnn.avg_pool2d` rounds to the steps of the next quantisation.
        state = State.OPEN if isinstance(op, AvgPool2DOp) else _RESULTS.get(kind)
        return "it is computed with floats" if state is None else self._in_bytes(op, [(op, 0)], state)

    def _join(self, op: RelayOp) -> State | str:
        """The state of a sum or product of two tensors or of a tensor and a constant, or a refusal."""
        scales = op.QUANTIZATION is Quantization.SCALING
        for index in (0, 1):
            constant = float_constant(op.operands[index])
            if constant is not None:
                return self._scaled(op, 1 - index, constant) if scales else self._shifted(op, 1 - index)
        for index, operand in enumerate(op.operands):
            if operand not in self._states and operand not in self._shared:
                return f"operand #{index} stays float"
        if isinstance(op, DivideOp):
            return "its divisor is not a constant"
        if scales:
            return self._in_bytes(op, [(op, 0), (op, 1)], State.SUMS)
        return self._in_bytes(op, self._wide(op, (0, 1)), State.OPEN)

    def _scaled(self, op: RelayOp, index: int, constant: Array) -> State | str:
        """Operand `index` multiplied or divided by a constant, which changes its scale."""
        if isinstance(op, DivideOp) and index == 1:
            return "its divisor is not a constant"
        if not (constant > 0).all():
            return "it is multiplied by a constant that is not positive"
        # With a factor per channel, 8-bit integers have a scale per channel, which only some users support.
        state = State.BYTES if constant.size == 1 else State.SUMS
        if self._states[op.operands[index]] is State.SUMS:
            return State.SUMS
        return self._in_bytes(op, [(op, index)], state)

    def _shifted(self, op: RelayOp, index: int) -> State | str:
        """Operand `index` and a constant: a bias added to 32-bit sums, or else a sum that is rounded."""
        data = op.operands[index]
        if isinstance(op, MaximumOp | MinimumOp):
            return "one side is constant"
        if index == 0 and self._states[data] is State.SUMS and op.results[0].type == data.type:
            return State.SUMS
        return self._in_bytes(op, self._wide(op, [index]), State.OPEN)

    def _wide(self, op: RelayOp, indexes: Sequence[int]) -> list[tuple[Operation, int]]:
        """The operands that a sum reads in 8 bits: those rounded for another user, and all but 32-bit sums."""
        operands = op.operands
        return [
            (op, index)
            for index in indexes
            if operands[index] in self._shared or self._states.get(operands[index]) is not State.SUMS
        ]

    def _concatenate(self, op: RelayOp) -> State | str:
        """Rounds the fields of a tuple without other users to 8 bits each."""
        value = op.operands[0]
        made = value.op if isinstance(value, OpResult) else None
        if not isinstance(made, TupleOp) or not value.has_one_use():
            return "the tuple of its parts has other readers"
        for index, part in enumerate(made.operands):
            if part not in self._states and part not in self._shared:
                return f"part {index} stays float"
        return self._in_bytes(op, [(made, index) for index in range(len(made.operands))], State.OPEN)

    def _in_bytes(self, op: RelayOp, places: Sequence[tuple[Operation, int]], state: State) -> State | str:
        """Rounds the values at `places` unless they have 8 bits; returns the state of the result, or a refusal."""
        found: list[Point] = []
        for reader, index in places:
            value = reader.operands[index]
            if self._states.get(value) is State.BYTES:
                continue
            bounds = self._bounds_of(value)
            if bounds is None:
                return f"the bounds of operand #{index} are unknown"
            found.append(Point(reader, index, bounds))
        for point in found:
            self._points[point.op, point.index] = point
        return state

    def _close(self, ops: Sequence[Operation]) -> None:
        """Rounds values whose state is open at their users, except users that leave the value open."""
        for op in ops:
            for index, value in enumerate(op.operands):
                if self._states.get(value) is not State.OPEN or (op, index) in self._points:
                    continue
                passes = isinstance(op, RelayOp) and op.QUANTIZATION is Quantization.BOUND
                bounds = self._bounds_of(value)
                if not (passes and self._states.get(op.results[0]) is State.OPEN) and bounds is not None:
                    self._points[op, index] = Point(op, index, bounds)


def _data_of(op: RelayOp) -> Iterator[SSAValue]:
    """The operands of an op, with the tuple of a concatenation replaced by its fields."""
    for operand in op.operands:
        if isinstance(op, ConcatenateOp) and isinstance(operand, OpResult) and isinstance(operand.op, TupleOp):
            yield from operand.op.operands
        else:
            yield operand


def is_float_tensor(value: SSAValue) -> bool:
    """Returns whether a value is a tensor of floats, which may be rounded."""
    return isinstance(value.type, TensorType) and numpy_dtype(element_type_of(value.type)).kind not in "iub"
