"""Weights of 2, 4 or 8 bits with a scale for each block of neighbours: `qnn.block_dequantize` and `qnn.block_dense`.

The numbers are signed and packed into words of 32 bits, the first number in the lowest bits. The weight stays packed in
memory: a kernel unpacks the numbers in registers, or a panel of them for many rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, i32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.constraints import ElementsIn
from xrelay.dialects.relay.core.sliding_window import extents_in, require_blocks
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Dim,
    Facts,
    Layout,
    MixedPrecision,
    OpPatternKind,
    RankOf,
    RelayOp,
    Shape,
    Tensors,
    TopiBuilder,
    bool_property,
    element_type_of,
    int_property,
    optional_int,
    optional_int_property,
    register_relay_op,
    shape_of,
    string_property,
    tensor_type,
)
from xrelay.dialects.relay.ops.nn.dense import packed_layout
from xrelay.dialects.shared.dtypes import element_type

WORD = 32
"""The number of bits in a word."""

BITS = (2, 4, 8)
"""The numbers of bits that a packed number may have."""

_FLOATS = tuple(map(element_type, ("float16", "bfloat16", "float32")))
_ZERO_POINTS = (*_FLOATS, i32)

_Index: TypeAlias = tuple[AffineExpr, ...]


class BlockQuantizedOp(RelayOp):
    """Base of the ops on numbers that represent `(number - zero point) * scale`, in blocks of one scale each."""

    MIXED_PRECISION = MixedPrecision.NEVER

    bits = int_property(4)
    block_size = int_property(32)
    biased = bool_property(default=False)

    @property
    def bias(self) -> int:
        """The word, as a signed integer, that changes the highest bit of each biased number; 0 for signed numbers."""
        places = range(self.bits.value.data - 1, WORD, self.bits.value.data)
        return sum(1 << place for place in places) - (1 << WORD) if self.biased.value.data else 0

    @property
    def numbers_in_word(self) -> int:
        """The number of packed numbers in a word."""
        return WORD // self.bits.value.data

    def require_blocks(self, facts: Facts, zero_points: int, words: Dim, blocks: Dim, points: Dim | None) -> None:
        """Checks C4 to C6; `words`, `blocks` and `points` are the extents of words, scales and zero points in a row."""
        bits, size = self.bits.value.data, self.block_size.value.data
        facts.require(bits in BITS, "C4", f"numbers of {bits} bits")
        numbers = self.numbers_in_word
        facts.require(size > 0 and size % numbers == 0, "C4", f"blocks of {size} numbers in words of {numbers}")
        facts.require_equal(words * numbers, blocks * size, "C5", "the numbers in words and in blocks differ:")
        if points is not None:
            packed = facts.element(zero_points) == i32
            expected = (blocks + numbers - 1) // numbers if packed else blocks
            facts.require_equal(points, expected, "C6", "the zero points of a row, and those of its blocks:")

    def dequantized(self, words: Array, scales: Array, zero_points: Array) -> Array:
        """Returns the numbers along the last axis, in f32."""
        from xrelay.dialects.relay.meaning.packed_numbers import unpack

        bits, size, bias = self.bits.value.data, self.block_size.value.data, np.int32(self.bias)
        if zero_points.ndim and zero_points.dtype.kind == "i":
            zero_points = unpack(zero_points ^ bias, bits)[..., : scales.shape[-1]]
        if zero_points.ndim:
            zero_points = np.repeat(zero_points, size, axis=-1)
        distances = unpack(words ^ bias, bits).astype(np.float32) - zero_points.astype(np.float32)
        return np.multiply(distances, np.repeat(scales.astype(np.float32), size, axis=-1))

    def number_at(self, b: Body, tensors: Sequence[SSAValue], row: _Index, k: AffineExpr, lane: _Index) -> SSAValue:
        """Returns number `k` of a row in f32; `tensors` are words, scales and zero points with indices row, k, lane."""
        words, scales, zero_points = tensors
        block = k // self.block_size.value.data
        number, scale = self._unpacked(b, words, row, k, lane), b.convert(b.read(scales, *row, block, *lane), f32)
        if not shape_of(zero_points.type):
            zero_point = b.read(zero_points)
        elif element_type_of(zero_points.type) == i32:
            zero_point = self._unpacked(b, zero_points, row, block, lane)
        else:
            zero_point = b.read(zero_points, *row, block, *lane)
        distance = b.minus(b.convert(number, f32), b.convert(zero_point, f32))
        # A schedule may multiply the sum of a block by the scale, instead of its terms.
        return b.add(arith.MulfOp(distance, scale, arith.FastMathFlagsAttr([FastMathFlag.REASSOC])))

    def _unpacked(self, b: Body, words: SSAValue, row: _Index, k: AffineExpr, lane: _Index) -> SSAValue:
        """Returns number `k` of a row as i32: moved to the highest bits, and back with its sign."""
        bits, numbers = self.bits.value.data, self.numbers_in_word
        word = b.read(words, *row, k // numbers, *lane)
        if self.bias:
            word = b.logical_xor(word, b.constant(self.bias, i32))
        # The bits above the number, which repeat with every word; a mask is simpler than the remainder of an index.
        above = b.logical_and(b.number(k * -bits - bits, i32), b.constant(WORD - bits, i32))
        return b.add(arith.ShRSIOp(b.add(arith.ShLIOp(word, above)), b.constant(WORD - bits, i32)))


@register_relay_op
class BlockDequantizeOp(BlockQuantizedOp):
    """`(number - zero point) * scale` in f32, for numbers that are packed along the last axis.

    Words of i32 (…, w) hold signed numbers of `bits` bits, the first in the lowest bits. Each `block_size` neighbours
    share an element of the scales (…, b). The zero points are one number; or one float for each scale; or packed words
    of i32 (…, ⌈b · bits / 32⌉), with a number for each scale. With `biased`, the numbers in words have no
    sign, and are stored plus half of their range.

    Constraints:
    - C4: `bits` is 2, 4 or 8, and blocks consist of whole words.
    - C5: words and blocks have equally many numbers.
    - C6: the last axis of the zero points fits the blocks.
    - C7: words, scales, and zero points unless they are one number, have the same axes before the last.

    Example:
    ```mlir
    %y = relay.qnn.block_dequantize(%w, %s, %z) {bits = 4, block_size = 16}
        : (tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<3x32xf32>
    ```

    """

    name = "relay.qnn.block_dequantize"
    PATTERN = OpPatternKind.INJECTIVE
    CONSTRAINTS = {
        "C1": ElementsIn((0,), (i32,)),
        "C2": ElementsIn((1,), _FLOATS),
        "C3": ElementsIn((2,), _ZERO_POINTS),
        "C8": RankOf(0, 1),
        "C9": RankOf(1, 1),
    }

    data = operand_def()
    scales = operand_def()
    zero_points = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the shape of the words with the last extent in numbers; checks C4 to C7."""
        (*rows, words), (*scale_rows, blocks), points = facts.shape(0), facts.shape(1), facts.shape(2)
        self.require_blocks(facts, 2, words, blocks, points[-1] if points else None)
        for others in (scale_rows, points[:-1]) if points else (scale_rows,):
            facts.require_equal_shapes(
                tuple(others), tuple(rows), "C7", "row", "rows of the words and of others differ"
            )
        return tensor_type((*rows, words * self.numbers_in_word), f32)

    def evaluate(self, data: Array, scales: Array, zero_points: Array) -> Array:
        """Unpacks the numbers."""
        return self.dequantized(data, scales, zero_points)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Unpacks one number at each point."""
        tensors = [build.operand(index) for index in range(3)]

        def fill(b: Body) -> SSAValue:
            *row, k = b.spatial
            return self.number_at(b, tensors, tuple(row), k, ())

        return [build.compute(build.label, build.result_shape, f32, fill)]


@register_relay_op
class BlockDenseOp(BlockQuantizedOp):
    """Matrix product of the data (…, k) and the transposed weight of `qnn.block_dequantize`, in f32: (…, units).

    `result[…, j] = sum over i of data[…, i] * weight[j, i]`: the weight is `qnn.block_dequantize` of words, scales and
    zero points, and may have more columns than the data, up to a whole block. In the layout `NC16n`, all three are
    transformed from `NC`, with rows of zeros if 16 does not divide the units, whose number is then in `units`.
    `rounds_data` permits `qnn-round-block-data` to round the data to bytes.

    Constraints:
    - C4: `bits` is 2, 4 or 8, and blocks consist of whole words.
    - C5: words and blocks have equally many numbers.
    - C6: the zero points are one number, or fit the blocks.
    - C7: `weight_layout` is NC, with or without N in blocks, and words, scales and zero points have its rank, inner
      extents and units.
    - C8: the data has as many columns as the weight, or fewer by less than a block.
    - C9: `units`, rounded up to whole blocks of the layout, equals the weight's N; by default it is N.

    Example:
    ```mlir
    %y = relay.qnn.block_dense(%x, %w, %s, %z) {bits = 4, block_size = 16}
        : (tensor<2x32xf32>, tensor<3x4xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<2x3xf32>
    ```

    """

    name = "relay.qnn.block_dense"
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    CONSTRAINTS = {
        "C1": ElementsIn((1,), (i32,)),
        "C2": ElementsIn((2,), _FLOATS),
        "C3": ElementsIn((3,), _ZERO_POINTS),
        "C10": ElementsIn((0,), (f32,)),
        "C11": RankOf(0, 1),
    }

    data = operand_def()
    weight = operand_def()
    scales = operand_def()
    zero_points = operand_def()

    units = optional_int_property()
    weight_layout = string_property("NC")
    rounds_data = bool_property(default=False)

    @property
    def layout(self) -> Layout:
        """The layout of the weight, its scales and zero points; checks C7."""
        text = self.weight_layout.data
        return Layout.parse(text) if text == "NC" else packed_layout(self, text, "C7")

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with the last extent replaced by the units; checks C4 to C9."""
        layout = self.layout
        words, scales = self._extents(facts, 1, layout), self._extents(facts, 2, layout)
        points = self._extents(facts, 3, layout) if facts.shape(3) else None
        self.require_blocks(facts, 3, words["C"], scales["C"], None if points is None else points["C"])
        for other in (scales, points):
            if other is not None:
                facts.require_equal(words["N"], other["N"], "C7", "the units of words and of others differ:")
        *rows, depth = facts.shape(0)
        size, units = self.block_size.value.data, optional_int(self.units)
        facts.require_equal((depth + size - 1) // size, scales["C"], "C8", "the blocks of data and weight differ:")
        if units is not None:
            block = layout.factor("N") or 1
            facts.require_equal(words["N"], -(-units // block) * block, "C9", "the weight's N and the units in blocks:")
        return tensor_type((*rows, words["N"] if units is None else units), f32)

    def _extents(self, facts: Facts, operand: int, layout: Layout) -> dict[str, Dim]:
        extents = extents_in(self, layout, facts.shape(operand), "C7")
        require_blocks(facts, layout, facts.shape(operand), "C7")
        return extents

    def evaluate(self, data: Array, weight: Array, scales: Array, zero_points: Array) -> Array:
        """Multiplies by the unpacked and transposed weight."""
        from xrelay.dialects.relay.meaning.layouts import to_plain

        tensors = [to_plain(each, self.layout, "NC") if each.ndim else each for each in (weight, scales, zero_points)]
        rows = self.dequantized(*tensors)[: optional_int(self.units), : data.shape[-1]]
        return np.asarray(np.matmul(data, rows.T))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Unpacks the weight for `topi.matmul`: into its packed layout if the units are in blocks."""
        from xrelay.dialects.topi.named import MatmulOp

        data, *tensors = [build.operand(index) for index in range(4)]
        units, *lanes = _without_depth(build.shape(tensors[0]))

        def fill(b: Body) -> SSAValue:
            row, k, *lane = b.spatial
            return self.number_at(b, tensors, (row,), k, tuple(lane))

        weight = build.compute("unpack", [units, build.shape(data)[-1], *lanes], f32, fill)
        return build.insert(MatmulOp(data, weight, build.result_type)).results


def _without_depth(shape: Shape) -> Shape:
    return (shape[0], *shape[2:])
