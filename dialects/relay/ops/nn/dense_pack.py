"""`relay.nn.contrib_dense_pack`: a fully connected layer with a weight packed for SIMD vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.facts import ConstraintSource, Facts
from xrelay.dialects.relay.core.layouts import extents_in, parse_layout, require_blocks
from xrelay.dialects.relay.core.mixed_precision import HalfPrecision, MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import optional_int, optional_int_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.window_constraints import require_factors, require_holds_products
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.gradients.matrices import as_matrix
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, tensor_type

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body


def packed_layout(op: ConstraintSource, text: str, constraint: str, *, in_terms: bool = False) -> Layout:
    """Returns the layout of a packed weight: NC with N in blocks; with `in_terms`, also with inner blocks of C."""
    layout = parse_layout(op, text, "NC", constraint)
    legal = [["N", "C", "n"], ["N", "C", "n", "c"]] if in_terms else [["N", "C", "n"]]
    op.require(
        [str(axis)[-1] for axis in layout.axes] in legal,
        constraint,
        f"weight_layout must be NC with blocks of N{', and optionally of C after them' if in_terms else ''}, "
        f"found {layout}",
        help="write e.g. NC16n",
    )
    return layout


def packed_block(layout: Layout) -> int:
    """Returns the number of columns in a block of a packed weight."""
    return layout.factor("N") or 1


@register_relay_op
@irdl_op_definition
class ContribDensePackOp(RelayOp):
    """Matrix product with a packed weight: data (…, k) by weight (units / b, k, b) gives (…, units).

    `result[…, j] = sum over k of data[…, k] * weight[j // b, k, j % b]`: b neighbouring results form a vector. The
    weight is that of `nn.dense` transformed from layout `NC` to `weight_layout`. In `NC16n4c` the products that a CPU
    instruction sums are adjacent: `weight[j // 16, k // 4, j % 16, k % 4]`.

    Constraints:
    - C1: the data has at least one axis.
    - C2: `weight_layout` is NC with N in blocks, optionally with inner blocks of C, e.g. NC16n or NC16n4c, and the
      weight has its rank and inner extents.
    - C3: the last axis of the data is as long as the weight's C.
    - C4: `units`, if given, is the weight's N.
    - C5: data and weight have the same element type, or ui8 and i8 with `out_dtype` i32.
    - C6: `out_dtype`, if given, is an element type of the data's kind, floats or integers, and not narrower, except
      that it may be a half-precision type for f32.

    Example:
    ```mlir
    %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"}
        : (tensor<1x64xf32>, tensor<2x64x16xf32>) -> tensor<1x32xf32>
    ```

    """

    name = "relay.nn.contrib_dense_pack"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.ALWAYS
    HALF_PRECISION: ClassVar[HalfPrecision] = HalfPrecision.SINGLE
    RESULT_ELEMENT: ClassVar[str | None] = "out_dtype"

    data = operand_def()
    weight = operand_def()

    weight_layout = string_property("NC8n")
    units = optional_int_property()
    out_dtype = opt_prop_def()

    @property
    def layout(self) -> Layout:
        """The weight's layout; checks C2."""
        return packed_layout(self, self.weight_layout.data, "C2", in_terms=True)

    @property
    def block(self) -> int:
        """The number of columns in a block of the layout; checks C2."""
        return packed_block(self.layout)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with the last extent replaced by the units; checks C1 to C6."""
        data, element = facts.operand(0)
        weight = facts.shape(1)
        facts.require(len(data) >= 1, "C1", "data of rank 0 has no rows")
        extents = extents_in(self, self.layout, weight, "C2")
        require_blocks(facts, self.layout, weight, "C2")
        facts.require_equal(data[-1], extents["C"], "C3", "data's last extent and the weight's C differ:")
        units = optional_int(self.units)
        if units is not None:
            facts.require_equal(extents["N"], units, "C4", "the weight's N and units differ:")
        require_factors(facts, self.out_dtype, "C5")
        result = self.element_type_property(self.out_dtype, element, "C6")
        require_holds_products(facts, self.out_dtype, "C6")
        return tensor_type((*data[:-1], extents["N"]), result)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps plain rows, the only layout that matrix products read."""
        return LayoutRefusal("a dense layer supports only row-major data")

    def evaluate(self, data: Array, weight: Array) -> Array:
        """Multiplies by the unpacked and transposed weight in the type of the accumulators."""
        from xrelay.dialects.relay.meaning.element_types import accumulator
        from xrelay.dialects.relay.meaning.layouts import to_plain

        out_dtype = numpy_dtype(element_type_of(self.result.type))
        plain = to_plain(weight, self.layout, "NC")
        left, right = (array.astype(accumulator(out_dtype), copy=False) for array in (data, plain))
        return np.asarray(np.matmul(left, right.T)).astype(out_dtype, copy=False)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds a sum of products with the block size of the layout, to which C2 constrains the weight.

        The strategy `dense_pack.matmul` is faster if the weight's type has the block size.
        """
        from xrelay.dialects.topi.scalars import convert_scalar

        data, weight, shape = build.operand(0), build.operand(1), build.result_shape
        block, terms = self.block, self.layout.factor("C")
        element = build.result_type.element_type

        def add(b: Body) -> SSAValue:
            *row, column = b.spatial
            (k,) = b.reduction
            inside = [k, column % block] if terms is None else [k // terms, column % block, k % terms]
            factors = b.read(data, *row, k), b.read(weight, column // block, *inside)
            return b.accumulate_product(b.accumulators[0], *(convert_scalar(b, x, element) for x in factors))

        return [build.compute("dense_pack", shape, element, add, reduce={"k": build.shape(data)[-1]}, init=[0])]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradients of `nn.dense`, with conversions of the packed weight."""
        packed = str(self.layout)
        rows = as_matrix(build.cast_like(of, self.data), build)
        weight = build.op("layout_transform", self.weight, src_layout=packed, dst_layout="NC")
        of_data = build.op("nn.matmul", rows, weight)
        of_weight = build.op("nn.matmul", rows, as_matrix(self.data, build), transpose_a=True)
        return [
            build.reshape_like(of_data, self.data),
            build.op("layout_transform", of_weight, src_layout="NC", dst_layout=packed),
        ]
