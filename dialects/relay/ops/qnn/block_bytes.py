"""A product of bytes by a weight of 2, 4 or 8 bits, both in blocks; `qnn-round-block-data` forms it."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import f32, i8
from xdsl.ir import Attribute
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.constraints import ElementsIn
from xrelay.dialects.relay.op_definition import (
    Array,
    Facts,
    MixedPrecision,
    OpPatternKind,
    RankOf,
    RelayOp,
    Tensors,
    TopiBuilder,
    optional_int,
    optional_int_property,
    register_relay_op,
    tensor_type,
)
from xrelay.dialects.shared.block_bytes import TERMS, UNITS
from xrelay.dialects.shared.dtypes import element_type

_FLOATS = tuple(map(element_type, ("float16", "bfloat16", "float32")))
_BYTE = element_type("uint8")


@register_relay_op
class ContribBlockDenseBytesOp(RelayOp):
    """Matrix product of data (…, k) of i8 and a transposed weight of numbers without sign, in blocks: (…, units).

    With `n[j, i]` the numbers of the weight and b blocks of a row, `result[…, j] = sum over the blocks c of
    scales[j, c] * (data_scales[…, c] * sum over i in c of data[…, i] * n[j, i] - zero_points[j, c] * data_sums[…, c])`.
    This is the product of dequantised matrices if `data_sums` are the sums of the data of a block, times its scale.

    The weight (u, g, 64) has p = k / 4g numbers of 8/p bits in a byte. Number i of unit j is in byte `4 (j mod 16) + i
    mod 4` of `weight[j // 16, i // 4p]`, at bit `8/p * (i // 4 mod p)`. Scales are (u, b, 16), and so are zero points,
    or one number. The result has 16 u units, or `units`.

    Constraints:
    - C6: a byte has 1, 2 or 4 numbers, and blocks consist of whole groups of 64 bytes.
    - C7: scales and sums of the data have its axes before the last, and then the blocks.
    - C8: scales and zero points have the weight's units and the blocks.
    - C9: `units`, rounded up to whole blocks of 16, equals the weight's; by default it is theirs.

    Example:
    ```mlir
    %y = relay.qnn.contrib_block_dense_bytes(%x, %s, %t, %w, %u, %z) {units = 17} : (tensor<2x64xi8>, tensor<2x2xf32>,
        tensor<2x2xf32>, tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> tensor<2x17xf32>
    ```

    """

    name = "relay.qnn.contrib_block_dense_bytes"
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.NEVER
    CONSTRAINTS = {
        "C1": ElementsIn((0,), (i8,)),
        "C2": ElementsIn((1, 2), (f32,)),
        "C3": ElementsIn((3, 5), (_BYTE,)),
        "C4": ElementsIn((4,), _FLOATS),
        "C5": RankOf(3, 3, 3),
        "C10": RankOf(0, 1),
    }

    data = operand_def()
    data_scales = operand_def()
    data_sums = operand_def()
    weight = operand_def()
    scales = operand_def()
    zero_points = operand_def()

    units = optional_int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with the last extent replaced by the units; checks C6 to C9."""
        (*rows, depth), (own, groups, bytes), scales = facts.shape(0), facts.shape(3), facts.shape(4)
        blocks = scales[1] if len(scales) > 1 else 1
        counts = [TERMS * groups * count for count in (1, 2, 4)]
        is_whole = isinstance(groups, int) and isinstance(blocks, int) and 0 < blocks <= groups and groups % blocks == 0
        facts.require(
            is_whole and depth in counts and bytes == TERMS * UNITS,
            "C6",
            f"data of {depth} numbers in {blocks} blocks, by {groups} groups of {bytes} bytes",
        )
        for operand in (1, 2):
            facts.require_equal_shapes(facts.shape(operand), (*rows, blocks), "C7", "row", "data and blocks differ")
        for operand in (4, 5):
            if operand == 4 or facts.shape(operand):
                facts.require_equal_shapes(
                    facts.shape(operand), (own, blocks, UNITS), "C8", "block", "the weight and its blocks differ"
                )
        units = optional_int(self.units)
        if units is not None:
            facts.require_equal(own, -(-units // UNITS), "C9", "the weight's units and `units` in blocks differ:")
        return tensor_type((*rows, own * UNITS if units is None else units), f32)

    def evaluate(
        self, data: Array, data_scales: Array, data_sums: Array, weight: Array, scales: Array, zero_points: Array
    ) -> Array:
        """Sums the products of each block, then the scaled sums of the blocks, in f64."""
        (*rows, depth), (own, groups, _), blocks = data.shape, weight.shape, scales.shape[1]
        count, size = depth // (TERMS * groups), depth // blocks
        shifts = np.arange(count, dtype=np.uint8) * np.uint8(8 // count)
        mask = np.uint8(2 ** (8 // count) - 1)
        numbers = (weight.reshape(own, groups, 1, UNITS, TERMS) >> shifts[:, None, None]) & mask
        plain = numbers.transpose(0, 3, 1, 2, 4).reshape(own * UNITS, blocks, size).astype(np.float64)
        sums = np.einsum("...bi,jbi->...bj", data.reshape(*rows, blocks, size).astype(np.float64), plain)
        points, factors = (
            np.broadcast_to(each, scales.shape).swapaxes(0, 1).reshape(blocks, own * UNITS).astype(np.float64)
            for each in (zero_points, scales)
        )
        scaled = factors * (data_scales[..., None] * sums - points * data_sums[..., None])
        return np.asarray(scaled.sum(-2)[..., : optional_int(self.units)]).astype(np.float32)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds `topi.matmul_blocks`; the weight has static extents."""
        from xrelay.dialects.topi.named import MatmulBlocksOp

        operands = [build.operand(index) for index in range(6)]
        build.known(operands[3], "the weight")
        return build.insert(MatmulBlocksOp(operands=operands, result_types=[build.result_type])).results
