"""`qnn-round-block-data`: rounds the data of products with packed weights to bytes, where the model permits it.

A CPU multiplies four bytes in the time of one float, and bytes need no conversion of the weight to floats. The data of
a block is divided by 1/127 of its largest absolute value and rounded, as onnxruntime does with `accuracy_level` 4. A
product of 2048 terms takes 0.28 to 0.73 times as long. The result changes by about 0.5 % of its largest value, less
than by the rounding of a weight to 4 bits. Products of the same data share its bytes.

Before:

    %y = relay.qnn.block_dense(%x, %w, %s, %z) {block_size = 32, biased, rounds_data}

After:

    %b = relay.reshape(%x) {newshape = [0, -4, 2, 32]}                      %x : tensor<5x64xf32>
    %l = relay.max(relay.abs(%b)) {axis = [-1]}
    %q = relay.cast(relay.round(%b * (127 / %l))) {dtype = i8}
    %u = relay.sum(relay.cast(%q) {dtype = i32}) {axis = [-1]}
    %y = relay.qnn.contrib_block_dense_bytes(relay.reshape(%q), %l / 127, %l / 127 * %u, …)

The ops that reorder the weight, its scales and zero points are folded later. The divisor is at least 1e-30, so that a
block of zeros stays zeros. With a NaN or an infinity in a row, results of this row are unspecified.

Refuses, with a remark, products whose weight is not constant, has signed numbers or zero points of floats, and data
that is no whole number of blocks. Targets without vectors of 16 f32 keep the product of floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.ops.qnn.block_bytes import ContribBlockDenseBytesOp
from xrelay.dialects.relay.ops.qnn.blocks import BlockDenseOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MaximumOp, MultiplyOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.fill import StackOp
from xrelay.dialects.relay.ops.tensor.logic import BitwiseAndOp, BitwiseOrOp, LeftShiftOp, RightShiftOp
from xrelay.dialects.relay.ops.tensor.movement import StridedSliceOp
from xrelay.dialects.relay.ops.tensor.reduce import MaxOp, SumOp
from xrelay.dialects.relay.ops.tensor.rounding import RoundOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp, ReshapeOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp, TransposeOp
from xrelay.dialects.relay.ops.tensor.unary import AbsOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.block_bytes import TERMS, UNITS
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.passes.graph.op_kinds import is_constant
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, rewrite_once, static_shape
from xrelay.passes.infra.xrelay_pass import XRelayPass, quantises

_BYTE = 8
"""The number of bits of a byte."""

LARGEST = 127.0
"""The largest byte of the data."""

SMALLEST = 1e-30
"""The least value that the largest of a block counts as."""


@dataclass(frozen=True)
class QnnRoundBlockDataPass(XRelayPass):
    """Rounds the data of products with packed weights to bytes; see the module's docstring."""

    name = "qnn-round-block-data"
    numerics = quantises("data is rounded to bytes with a scale for each block")
    per_function = True

    vector_lanes: int = field(default=UNITS, metadata={"help": "the number of f32 in a vector of the target"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place, if the target has vectors of 16 f32."""
        if self.vector_lanes == UNITS:
            remarks = Remarks(self.name)
            rewrite_once(op, BlockDenseOp, MultiplyBytes(remarks))
            report(remarks.all)


@dataclass(frozen=True)
class Bytes:
    """Data as bytes, the scales of its blocks, and the sums of their bytes times the scale."""

    data: SSAValue
    scales: SSAValue
    sums: SSAValue


class MultiplyBytes(RewritePattern):
    """Replaces a product that may round its data by one of bytes; see the module's docstring."""

    def __init__(self, remarks: Remarks):
        self._remarks = remarks
        self._bytes: dict[tuple[SSAValue, int, Block | None], Bytes] = {}

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` unless it is refused."""
        if not isinstance(op, BlockDenseOp) or not op.rounds_data.value.data:
            return
        refusal = _refusal(op)
        if refusal is not None:
            self._remarks.refused(op, refusal)
            return
        self._remarks.applied(op, "data of bytes")
        emit = Emitter(rewriter, op)
        size, units = op.block_size.value.data, static_shape(op.weight)[0]
        key = op.data, size, op.parent
        if key not in self._bytes:
            self._bytes[key] = _rounded(emit, op.data, size)
        own = self._bytes[key]
        weight, scales = _bytes_of_weight(emit, op), _in_blocks(emit, op.scales)
        operands = own.data, own.scales, own.sums, weight, scales, _zero_points(emit, op)
        emit.replace(emit.call(ContribBlockDenseBytesOp, *operands, units=units))


def _refusal(op: BlockDenseOp) -> str | None:
    """Returns why a product stays one of floats, or None."""
    if not all(map(is_complete, op.operand_types)) or str(op.layout) != "NC":
        return "its weight is in another layout"
    owners = [operand.owner for operand in op.operands[1:]]
    if any(isinstance(owner, Block) or not is_constant(owner) for owner in owners):
        return "its weight is not constant"
    if not op.biased.value.data or element_type_of(op.zero_points.type) != i32:
        return "its numbers are signed, or its zero points are floats"
    point = constant_of(op.zero_points)
    if point is not None and point.ndim == 0 and not 0 <= int(point) + 2 ** (op.bits.value.data - 1) < 256:
        return f"its zero point {point} is no byte"
    depth, size = shape_of(op.data.type)[-1], op.block_size.value.data
    return None if isinstance(depth, int) and depth % size == 0 else f"its {depth} terms are no blocks of {size}"


def _rounded(emit: Emitter, data: SSAValue, size: int) -> Bytes:
    """Emits the ops that round data to bytes in blocks of `size`."""
    *rows, depth = shape_of(data.type)
    lead, blocks = (0,) * len(rows), -1 if not isinstance(depth, int) else depth // size
    split = emit.call(ReshapeOp, data, newshape=(*lead, -4, blocks, size))
    largest = emit.call(MaxOp, emit.call(AbsOp, split), axis=(len(rows) + 1,))

    def scalar(value: float) -> SSAValue:
        return emit.scalar(value, data.type)

    divisor = emit.call(MaximumOp, largest, scalar(SMALLEST))
    inverse = emit.call(ExpandDimsOp, emit.call(DivideOp, scalar(LARGEST), divisor), axis=len(rows) + 1)
    bytes = emit.call(CastOp, emit.call(RoundOp, emit.call(MultiplyOp, split, inverse)), dtype="int8")
    total = emit.call(SumOp, emit.call(CastOp, bytes, dtype="int32"), axis=(len(rows) + 1,))
    scales = emit.call(MultiplyOp, largest, scalar(1 / LARGEST))
    sums = emit.call(MultiplyOp, scales, emit.call(CastOp, total, dtype="float32"))
    return Bytes(emit.call(ReshapeOp, bytes, newshape=(*lead, -3)), scales, sums)


def _bytes_of_weight(emit: Emitter, op: BlockDenseOp) -> SSAValue:
    """Emits the weight in the order of `qnn.contrib_block_dense_bytes`: a word has the bytes of a unit in a group."""
    words, bits = _padded(emit, op.weight), op.bits.value.data
    numbers = _numbers(emit, words, bits)
    bytes = emit.call(TupleOp, *(_joined(emit, numbers[term::TERMS], bits) for term in range(TERMS)))
    shape = (-4, -1, UNITS, static_shape(words)[1], TERMS)
    split = emit.call(ReshapeOp, emit.call(StackOp, bytes, axis=2), newshape=shape)
    return emit.call(ReshapeOp, emit.call(TransposeOp, split, axes=(0, 2, 1, 3)), newshape=(0, 0, -3))


def _numbers(emit: Emitter, words: SSAValue, bits: int) -> list[SSAValue]:
    """Emits the numbers in each word, without sign and as bytes: arrays of words would take four times the memory."""
    bytes = [
        emit.call(CastOp, emit.call(RightShiftOp, words, emit.scalar(place, words.type)), dtype="uint8")
        for place in range(0, 4 * _BYTE, _BYTE)
    ]
    if bits == _BYTE:
        return bytes
    return [
        emit.call(
            BitwiseAndOp,
            emit.call(RightShiftOp, each, emit.scalar(shift, each.type)),
            emit.scalar(2**bits - 1, each.type),
        )
        for each in bytes
        for shift in range(0, _BYTE, bits)
    ]


def _joined(emit: Emitter, numbers: Sequence[SSAValue], bits: int) -> SSAValue:
    """Emits bytes of several numbers, the first in the lowest bits."""
    result, *others = numbers
    for place, number in enumerate(others, 1):
        moved = emit.call(LeftShiftOp, number, emit.scalar(bits * place, number.type))
        result = emit.call(BitwiseOrOp, result, moved)
    return result


def _zero_points(emit: Emitter, op: BlockDenseOp) -> SSAValue:
    """Emits the zero points of numbers without sign as bytes."""
    points, bits = op.zero_points, op.bits.value.data
    if not shape_of(points.type):
        half = emit.scalar(2 ** (bits - 1), points.type)
        return emit.call(CastOp, emit.call(AddOp, points, half), dtype="uint8")
    numbers = emit.call(TupleOp, *_numbers(emit, points, bits))
    rows = emit.call(ReshapeOp, emit.call(StackOp, numbers, axis=2), newshape=(0, -3))
    own = emit.call(StridedSliceOp, rows, begin=(0,), end=static_shape(op.scales)[1:], axes=(1,))
    return _in_blocks(emit, own)


def _in_blocks(emit: Emitter, value: SSAValue) -> SSAValue:
    """Emits a matrix of units and blocks as blocks of 16 units: (N / 16, blocks, 16)."""
    split = emit.call(ReshapeOp, _padded(emit, value), newshape=(-4, -1, UNITS, 0))
    return emit.call(TransposeOp, split, axes=(0, 2, 1))


def _padded(emit: Emitter, value: SSAValue) -> SSAValue:
    """Emits a matrix with rows of zeros up to a multiple of 16 rows."""
    missing = -static_shape(value)[0] % UNITS
    return emit.call(PadOp, value, emit.scalar(0, value.type), pad_width=(0, missing, 0, 0)) if missing else value
