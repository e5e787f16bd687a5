"""`topi.matmul_blocks`: a product of bytes of data and numbers of 2 to 8 bits, in blocks with a scale each."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, Float16Type, TensorType, UnitAttr, f32, i8, i32
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.attribute_names import MATERIALIZED
from xrelay.dialects.shared.block_bytes import TERMS, UNITS
from xrelay.dialects.topi.build import Body, compute
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.named.base import UNSIGNED_BYTE, Expansion, NamedOp, add_product, verify_ranks
from xrelay.dialects.topi.named.matmul import rows_and_columns
from xrelay.dialects.topi.shapes import known_shape_of, shape_list, shape_of, tensor_type
from xrelay.index_algebra.dims import Dim, Shape, certainly_differ


@irdl_op_definition
class MatmulBlocksOp(NamedOp):
    """Rows of signed bytes times rows of unsigned numbers, where both have a scale for each block of the sum.

    With S = K/B terms in a block b, the sum of a block is `s[…, j, b] = Σ_k data[…, k] * n[j, k]` over its terms, in
    i32, and the result `Σ_b scales[j, b] * (data_scales[…, b] * s[…, j, b] - zero_points[j, b] * data_sums[…, b])` in
    f32: `data_sums` are the sums of the terms of a block times its scale.

    The weight (N/16)×G×64 has p = K/4G numbers of 8/p bits in a byte. Number k of unit j is in byte `4 (j mod 16) + k
    mod 4` of group `k // 4p`, at bit `8/p * (k // 4 mod p)`. Scales are (N/16)×B×16, and so are zero points, or one
    number. The last block of units may have more than the result.

    - C1: the weight has rank 3, its scales rank 3, the zero points rank 0 or 3, and data, its scales, its sums and the
      result have the same rank.
    - C2: p is 1, 2 or 4, and blocks consist of whole groups.
    - C3: scales and sums of the data have its shape with the blocks as last dimension, and the result has it with N
      units, which are the weight's if rounded up to 16. Scales and zero points have the weight's units and B blocks.
    - C4: data is i8, weight and zero points are ui8, scales of the weight are floats, and all others f32.

    ```mlir
    func.func @dense(%x: tensor<2x64xi8>, %s: tensor<2x2xf32>, %t: tensor<2x2xf32>, %w: tensor<2x8x64xui8>,
                     %u: tensor<2x2x16xf32>, %z: tensor<ui8>) -> tensor<2x32xf32> {
      %r = topi.matmul_blocks(%x, %s, %t, %w, %u, %z) : (tensor<2x64xi8>, tensor<2x2xf32>, tensor<2x2xf32>,
        tensor<2x8x64xui8>, tensor<2x2x16xf32>, tensor<ui8>) -> tensor<2x32xf32>
      func.return %r : tensor<2x32xf32>
    }
    ```
    """

    name = "topi.matmul_blocks"

    data = operand_def(TensorType)
    data_scales = operand_def(TensorType)
    data_sums = operand_def(TensorType)
    weight = operand_def(TensorType)
    scales = operand_def(TensorType)
    zero_points = operand_def(TensorType)
    tensor = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "`(` $data `,` $data_scales `,` $data_sums `,` $weight `,` $scales `,` $zero_points `)` attr-dict `:` "
        "functional-type(operands, results)"
    )

    def verify_(self) -> None:
        """Checks C1 to C4."""
        data, weight, scales = shape_of(self.data), shape_of(self.weight), shape_of(self.scales)
        points, result = shape_of(self.zero_points), shape_of(self.tensor)
        ranks = [("data", data, [max(1, len(result))]), ("weight", weight, [3]), ("scales", scales, [3])]
        verify_ranks(self.name, "C1", [*ranks, ("zero_points", points, [0, 3])])
        units, groups, row = known_shape_of(self.weight)
        (*rows, depth), (*outer, columns), blocks = data, result, scales[1]
        is_packed = row == TERMS * UNITS and depth in [TERMS * groups * count for count in (1, 2, 4)]
        if not is_packed or not isinstance(blocks, int) or blocks < 1 or groups % blocks:
            raise VerifyException(
                f"[{self.name} C2] data has rows of {depth} in {blocks} blocks, weight is {shape_list(weight)}"
            )
        rounded = -(-columns // UNITS) * UNITS if isinstance(columns, int) else columns
        own = (units, blocks, UNITS)
        shapes: list[tuple[str, Shape, Shape]] = [
            ("data_scales", shape_of(self.data_scales), (*rows, blocks)),
            ("data_sums", shape_of(self.data_sums), (*rows, blocks)),
            ("result", (*outer, rounded), (*rows, units * UNITS)),
            ("scales", scales, own),
            ("zero_points", points, own[: len(points)]),
        ]
        for name, found, wanted in shapes:
            if len(found) != len(wanted) or any(map(certainly_differ, found, wanted)):
                raise VerifyException(f"[{self.name} C3] {name} is {shape_list(found)}, not {shape_list(wanted)}")
        self._verify_types()

    def _verify_types(self) -> None:
        """Checks C4."""
        types = [tensor_type(value).element_type for value in (*self.operands, self.tensor)]
        expected = [i8, f32, f32, UNSIGNED_BYTE, types[4], UNSIGNED_BYTE, f32]
        if types != expected or types[4] not in (Float16Type(), BFloat16Type(), f32):
            raise VerifyException(f"[{self.name} C4] elements are {', '.join(map(str, types))}")

    @property
    def numbers(self) -> int:
        """The number of numbers in a byte."""
        depth = shape_of(self.data)[-1]
        return depth // (TERMS * known_shape_of(self.weight)[1]) if isinstance(depth, int) else 0

    def expand(self) -> Expansion:
        """Expands to three computes: the numbers as bytes, unless they are bytes; the sums of blocks; the result."""
        expansion, numbers = Expansion(), self.numbers
        unpacked = self.weight if numbers == 1 else expansion.add(self._unpack(numbers))
        sums = expansion.add(self._sums(unpacked, numbers))

        def body(b: Body) -> list[SSAValue]:
            *row, j = b.spatial
            (block,) = b.reduction
            unit = (j // UNITS, block, j % UNITS)
            near = b.times(b.convert(b.read(sums, *row, block, j), f32), b.read(self.data_scales, *row, block))
            points = b.read(self.zero_points, *(unit if shape_of(self.zero_points) else ()))
            shift = b.times(b.convert(points, f32), b.read(self.data_sums, *row, block))
            return [
                b.accumulate_product(
                    b.accumulators[0], b.minus(near, shift), b.convert(b.read(self.scales, *unit), f32)
                )
            ]

        blocks = known_shape_of(self.scales)[1]
        spatial = rows_and_columns(self.tensor)
        return expansion.finish(compute("scale", spatial, [f32], body, reduce={"b": blocks}, init=[0]))

    def _unpack(self, numbers: int) -> ComputeOp:
        """Returns the compute of the numbers as bytes: (N/16)×G×p×64."""
        units, groups, row = known_shape_of(self.weight)
        bits = 8 // numbers

        def body(b: Body) -> list[SSAValue]:
            unit, group, number, place = b.spatial
            packed = b.read(self.weight, unit, group, place)
            shift = b.number(number * bits, UNSIGNED_BYTE)
            return [b.logical_and(b.add(arith.ShRUIOp(packed, shift)), b.constant((1 << bits) - 1, UNSIGNED_BYTE))]

        op = compute("unpack", {"u": units, "g": groups, "h": numbers, "l": row}, [UNSIGNED_BYTE], body)
        op.attributes[MATERIALIZED] = UnitAttr()
        return op

    def _sums(self, weight: SSAValue, numbers: int) -> ComputeOp:
        """Returns the compute of the sums of blocks."""
        blocks, groups = known_shape_of(self.scales)[1], known_shape_of(self.weight)[1]
        *rows, columns = rows_and_columns(self.tensor).items()
        own = groups // blocks

        def body(b: Body) -> list[SSAValue]:
            *row, block, j = b.spatial
            g, h, t = b.reduction
            group = block * own + g
            number = b.read(self.data, *row, group * (TERMS * numbers) + h * TERMS + t)
            at = [j // UNITS, group, *([h] if numbers > 1 else []), (j % UNITS) * TERMS + t]
            return add_product(b, number, b.read(weight, *at))

        spatial: dict[str, Dim] = {**dict(rows), "b": blocks, **dict([columns])}
        return compute("sums", spatial, [i32], body, reduce={"g": own, "h": numbers, "t": TERMS}, init=[0])
