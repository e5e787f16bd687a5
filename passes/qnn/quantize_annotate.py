"""`relay-quantize-annotate`: rounds the operands of convolutions and matrix products to 8-bit numbers.

Inserts pairs of quantisation and dequantisation, which only round, before the operands of convolutions, `nn.dense`,
`nn.matmul` and `nn.batch_matmul`. It also inserts them at other places where the integer program has to round: after
sums and concatenations of tensors, and before pools and ops that move elements. The result is a float program that
simulates the quantised network, so it can be run and compared. `relay-quantize-realize` derives the integer program
from it.

Before:

    %y = relay.nn.conv2d(%x, %w) {relay.calibrated = [array<f64: -2.0, 2.54>, unit]}

After:

    %q = relay.qnn.quantize(%x, %s, %z)               %s is 2.54 / 127: the step from one 8-bit number to the next
    %a = relay.qnn.dequantize(%q, %s, %z) {relay.simulated}
    %v = relay.qnn.quantize(%w, %t, %z)               %t comes from the constant %w
    %b = relay.qnn.dequantize(%v, %t, %z) {relay.simulated}
    %y = relay.nn.conv2d(%a, %b)

The bounds of a tensor are in `relay.calibrated` of any op that reads it, or follow from `global-scale`: tensors are
below that number, which is divided into 128 steps. Signed numbers have zero point 0, unsigned ones cover the whole
range.

Refuses, with a remark that names op and reason: products that an option excludes, whose weight is not constant, whose
sums may overflow 32 bits, or with an operand of unknown bounds. Left alone: values that do not depend on a product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, Float64Type, ModuleOp, UnitAttr, f64
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from xrelay.dialects.relay.core.registry import UnknownOpError, get_relay_op
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp, QuantizeOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.attribute_names import CALIBRATED, SIMULATED
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import element_type_of
from xrelay.errors import PassError
from xrelay.passes.graph.remarks import report
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import XRelayPass, quantises
from xrelay.passes.qnn.integer_rules import float_constant
from xrelay.passes.qnn.quantization_points import (
    BITS,
    POWER2,
    WEIGHT_SCALES,
    Bounds,
    BoundsOf,
    Choice,
    Grid,
    Point,
    QuantizationPoints,
    activation_grid,
    is_float_tensor,
    weight_grid,
)

NAME = "relay-quantize-annotate"

INPUT_DTYPES, WEIGHT_DTYPES = ("int8", "uint8"), ("int8",)


@dataclass(frozen=True)
class RelayQuantizeAnnotatePass(XRelayPass):
    """Rounds the operands of convolutions and matrix products to 8 bits; see the module's docstring."""

    name = NAME
    numerics = quantises("the operands of products are rounded to 8 bits")

    nbit_input: int = field(default=8, metadata={"help": "bits of activations, 2 to 8"})
    nbit_weight: int = field(default=8, metadata={"help": "bits of weights, 2 to 8"})
    dtype_input: str = field(default="int8", metadata={"help": "element type of activations: int8 or uint8"})
    dtype_weight: str = field(default="int8", metadata={"help": "element type of weights: int8"})
    global_scale: float = field(default=0.0, metadata={"help": "bound of tensors without calibration; 0: unknown"})
    weight_scale: str = field(
        default=POWER2, metadata={"help": "bound of a weight: max, or power2, the next power of two"}
    )
    per_channel: bool = field(default=False, metadata={"help": "one scale per output channel of a weight"})
    skip_dense_layer: bool = field(default=True, metadata={"help": "keep nn.dense and nn.matmul in float"})
    skip_conv_layers: tuple[int, ...] = field(
        default=(0,), metadata={"help": "indices of the nn.conv2d to keep in float, counted from 0; -1: none"}
    )
    enabled_ops: tuple[str, ...] = field(
        default=(), metadata={"help": "Relay names of the ops to quantise (default: all)"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        self.check()
        points = points_of(op, self.choice, self._bounds_of(op))
        for each in walk_ops(op):
            each.attributes.pop(CALIBRATED, None)
        _Writer(self).write(points.all)
        for point in points.all:
            points.remarks.applied(point.op, "operand #{} is rounded to {} bits", point.index, self._bits_of(point))
        report(points.remarks.all)

    @property
    def choice(self) -> Choice:
        """The selection of ops to quantise."""
        return Choice(
            self.per_channel,
            self.skip_dense_layer,
            frozenset(self.skip_conv_layers),
            frozenset(self.enabled_ops) if self.enabled_ops else None,
            greatest_distance(self.dtype_input),
        )

    def grid(self, point: Point) -> Grid:
        """Returns the grid that the value at a point is rounded to."""
        weight = float_constant(point.value)
        if point.bounds is not None or weight is None:
            bounds = Bounds(0.0, 0.0) if point.bounds is None else point.bounds
            return activation_grid(bounds, self.nbit_input, self.dtype_input)
        return weight_grid(weight, point.axis, self.nbit_weight, self.dtype_weight, self.weight_scale)

    def check(self) -> None:
        """Raises `PassError` for an illegal value of an option."""
        for option, bits in (("nbit-input", self.nbit_input), ("nbit-weight", self.nbit_weight)):
            if bits not in BITS:
                raise PassError(f"{NAME}: {option} is {bits}", help="it is 2 to 8")
        dtypes = (
            ("dtype-input", self.dtype_input, INPUT_DTYPES),
            ("dtype-weight", self.dtype_weight, WEIGHT_DTYPES),
            ("weight-scale", self.weight_scale, WEIGHT_SCALES),
        )
        for option, value, known in dtypes:
            if value not in known:
                raise PassError(f"{NAME}: {option} is {value!r}", help=f"it is {' or '.join(known)}")
        if not (np.isfinite(self.global_scale) and self.global_scale >= 0):
            raise PassError(f"{NAME}: global-scale is {self.global_scale:g}", help="use a positive number, or 0")
        for name in self.enabled_ops:
            try:
                get_relay_op(name)
            except UnknownOpError as error:
                raise PassError(f"{NAME}: enabled-ops: {error.message}", help=error.help) from error

    def _bits_of(self, point: Point) -> int:
        return self.nbit_weight if point.is_weight else self.nbit_input

    def _bounds_of(self, module: ModuleOp) -> BoundsOf:
        calibrated = calibrated_bounds(module)
        other = Bounds.of_domain(self.global_scale, self.nbit_input) if self.global_scale > 0 else None

        def bounds_of(value: SSAValue) -> Bounds | None:
            return calibrated.get(value, other) if is_float_tensor(value) else None

        return bounds_of


def greatest_distance(dtype: str) -> int:
    """Returns the greatest distance of an integer from its zero point, which is 0 for signed types, else any."""
    limits = np.iinfo(dtype)
    return -int(limits.min) if limits.min < 0 else int(limits.max)


def points_of(module: ModuleOp, choice: Choice, bounds_of: BoundsOf) -> QuantizationPoints:
    """Returns the points of the module."""
    return QuantizationPoints(list(walk_ops(module)), choice, bounds_of, NAME)


# --- what calibration found ----------------------------------------------------------------------------------------


def calibrated_bounds(module: ModuleOp) -> dict[SSAValue, Bounds]:
    """Returns the bounds in attributes of ops, by operand; raises `PassError` for an ill-formed attribute."""
    found: dict[SSAValue, Bounds] = {}
    for op in walk_ops(module):
        attribute = op.attributes.get(CALIBRATED)
        if attribute is None:
            continue
        if not isinstance(attribute, ArrayAttr) or len(attribute.data) != len(op.operands):
            raise _invalid_bounds_error(op)
        for operand, entry in zip(op.operands, attribute.data, strict=True):
            if not isinstance(entry, UnitAttr):
                found[operand] = _bounds(op, entry)
    return found


def note_bounds(op: Operation, bounds: Mapping[int, Bounds]) -> None:
    """Sets the bounds of operands of `op`, given by index."""
    entries: list[Attribute] = [UnitAttr()] * len(op.operands)
    for index, each in bounds.items():
        entries[index] = DenseArrayBase.from_list(f64, [each.low, each.high])
    op.attributes[CALIBRATED] = ArrayAttr(entries)


def _bounds(op: Operation, entry: Attribute) -> Bounds:
    numbers: tuple[float, ...] = ()
    if isa(entry, DenseArrayBase[Float64Type]):
        numbers = tuple(entry.get_values())
    if len(numbers) != 2 or not np.isfinite(numbers).all() or numbers[0] > numbers[1]:
        raise _invalid_bounds_error(op)
    return Bounds(*numbers)


def _invalid_bounds_error(op: Operation) -> PassError:
    return PassError(
        f"{NAME}: {CALIBRATED} of {op.name} is not two ascending numbers for each operand",
        location=describe_location(op),
        help="use e.g. [array<f64: -1.0, 1.0>, unit] for an op with one calibrated operand of two",
    )


# --- writing -------------------------------------------------------------------------------------------------------


class _Writer:
    """Inserts the pairs into the program, one for each value and its steps."""

    def __init__(self, options: RelayQuantizeAnnotatePass):
        self._options = options
        self._pairs: dict[tuple[SSAValue, Bounds | None, int | None], SSAValue] = {}

    def write(self, points: Sequence[Point]) -> None:
        """Replaces the operand at each point by the rounded value."""
        for point in points:
            key = (point.value, point.bounds, point.axis)
            if key not in self._pairs:
                self._pairs[key] = self._pair(point)
        for point in points:
            point.op.operands[point.index] = self._pairs[point.value, point.bounds, point.axis]

    def _pair(self, point: Point) -> SSAValue:
        """The rounded value; its ops are inserted right after the definition of the value."""
        value, grid = point.value, self._options.grid(point)
        scale, zero_point = ConstantOp.of(grid.scale), ConstantOp.of(grid.zero_point)
        axis = -1 if point.axis is None else point.axis
        steps = (scale.result, zero_point.result)
        quantize = QuantizeOp.call(value, *steps, axis=axis, out_dtype=grid.dtype)
        ops: list[Operation] = [scale, zero_point, quantize]
        integers = quantize.results[0]
        if grid.is_cut:
            clip = ClipOp.call(integers, a_min=float(grid.least), a_max=float(grid.greatest))
            ops.append(clip)
            integers = clip.results[0]
        dequantize = DequantizeOp.call(integers, *steps, axis=axis, out_dtype=element_type_of(value.type))
        dequantize.attributes[SIMULATED] = UnitAttr()
        ops.append(dequantize)
        for op in ops:
            op.location = point.op.location
            op.results[0].name_hint = value.name_hint
        Rewriter.insert_op(ops, _after(value))
        return dequantize.results[0]


def _after(value: SSAValue) -> InsertPoint:
    """The insertion point right after the op that defines `value`, or at the start of its block."""
    if isinstance(value, OpResult):
        return InsertPoint.after(value.op)
    block = value.owner
    assert isinstance(block, Block), "a value that no op makes is an argument of a block"
    return InsertPoint.at_start(block)
