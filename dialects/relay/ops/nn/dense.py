"""Fully connected layers: `relay.nn.dense`, `relay.nn.bias_add`, and `nn.contrib_dense_pack` with a packed weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def

from xrelay.dialects.relay.core.along_axis import data_and_vectors
from xrelay.dialects.relay.core.sliding_window import (
    extents_in,
    parse_layout,
    require_blocks,
    require_factors,
    require_holds_products,
)
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    ConstraintSource,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    IncompleteType,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    Quantization,
    RelayOp,
    Tensors,
    TopiBuilder,
    int_attribute,
    int_property,
    known_shape,
    letter_of_axis,
    optional_int,
    optional_int_property,
    register_relay_op,
    require_axis,
    string_property,
    tensor_type,
)


class DenseLayerOp(RelayOp):
    """Base of the fully connected layers, the products of the data with a transposed weight."""

    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.ALWAYS
    RESULT_ELEMENT = "out_dtype"

    data = operand_def()
    weight = operand_def()

    units = optional_int_property()
    out_dtype = opt_prop_def()

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps plain rows, the only layout that matrix products read."""
        return LayoutRefusal("a dense layer supports only row-major data")

    def product(self, data: Array, weight: Array) -> Array:
        """Multiplies by the transposed weight in the type of the accumulators."""
        from xrelay.dialects.relay.meaning.element_types import accumulator

        left, right = (array.astype(accumulator(self.result_dtype), copy=False) for array in (data, weight))
        return np.asarray(np.matmul(left, right.T)).astype(self.result_dtype, copy=False)


@register_relay_op
class DenseOp(DenseLayerOp):
    """Matrix product with the transposed weight: data (…, k) by weight (units, k) gives (…, units).

    `units` may be omitted if the weight's type is known; `out_dtype` defaults to the data's element type.

    Constraints:
    - C1: the data has at least one axis, the weight two.
    - C2: the last axis of the data is as long as the weight's second.
    - C3: `units`, if given, is the weight's first extent.
    - C4: data and weight have the same element type, or ui8 and i8 with `out_dtype` i32.
    - C5: `out_dtype`, if given, is an element type of the data's kind, floats or integers, and not narrower, except
      that it may be a half-precision type for f32.

    Example:
    ```mlir
    %y = relay.nn.dense(%x, %w) {units = 1000} : (tensor<1x2048xf32>, tensor<1000x2048xf32>) -> tensor<1x1000xf32>
    ```

    """

    name = "relay.nn.dense"
    QUANTIZATION = Quantization.PRODUCT
    HALF_PRECISION = HalfPrecision.SINGLE_RESULTS
    INFERENCE_HINT = "pass units, or the type of the weight"

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with the last extent replaced by the units; checks C1 to C5."""
        data, element = facts.operand(0)
        weight = facts.shape(1)
        ranks = (len(data), len(weight))
        facts.require(
            ranks[0] >= 1 and ranks[1] == 2,
            "C1",
            f"needs data of rank 1 or more and a weight of rank 2, found ranks {ranks[0]} and {ranks[1]}",
        )
        *outer, depth = data
        facts.require_equal(depth, weight[1], "C2", "data's last extent and weight's second differ:")
        units = optional_int(self.units)
        if units is not None:
            facts.require_equal(weight[0], units, "C3", "weight's first extent and units differ:")
        require_factors(facts, self.out_dtype, "C4")
        result = self.element_type_property(self.out_dtype, element, "C5")
        require_holds_products(facts, self.out_dtype, "C5")
        return tensor_type((*outer, weight[0]), result)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the weight's type from the data and `units` or the result's last extent."""
        data, weight = facts
        if isinstance(data, IncompleteType) or not isinstance(weight, IncompleteType):
            return facts
        data_shape, element = facts.operand(0)
        units: Dim | None = optional_int(self.units)
        result = known_shape(result_type)
        if units is None and result:
            units = result[-1]
        if units is None or not data_shape:
            return facts
        return [data, tensor_type((units, data_shape[-1]), element)]

    def evaluate(self, data: Array, weight: Array) -> Array:
        """Multiplies by the transposed weight in the type of the accumulators."""
        return self.product(data, weight)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds `topi.matmul`, which multiplies the rows of data and weight."""
        from xrelay.dialects.topi.named import MatmulOp

        return build.insert(MatmulOp(build.operand(0), build.operand(1), build.result_type)).results

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient times the weight, and its transpose times the data, with outer axes merged to rows."""
        rows = build.as_matrix(build.cast_like(of, self.data))
        of_data = build.op("nn.matmul", rows, self.weight)
        of_weight = build.op("nn.matmul", rows, build.as_matrix(self.data), transpose_a=True)
        return [build.reshape_like(of_data, self.data), of_weight]


@register_relay_op
class BiasAddOp(RelayOp):
    """The data plus a vector along one axis: `result[…, i, …] = data[…, i, …] + bias[i]` with `i` at position `axis`.

    Constraints:
    - C1: `axis` is an axis of the data.
    - C2: the bias has one axis, as long as the data's `axis`.
    - C3: data and bias have the same element type.

    Example:
    ```mlir
    %y = relay.nn.bias_add(%x, %b) : (tensor<1x64x56x56xf32>, tensor<64xf32>) -> tensor<1x64x56x56xf32>
    ```

    """

    name = "relay.nn.bias_add"
    QUANTIZATION = Quantization.JOIN
    PATTERN = OpPatternKind.BROADCAST
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()
    bias = operand_def()

    axis = int_property(1)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C1 to C3."""
        data, element = facts.operand(0)
        bias, bias_element = facts.operand(1)
        axis = require_axis(self, self.axis.value.data, len(data), "C1")
        facts.require(len(bias) == 1, "C2", f"the bias must have rank 1, found {len(bias)}")
        facts.require_equal(bias[0], data[axis], "C2", f"the bias and axis {axis} of the data differ in extent:")
        facts.require(element == bias_element, "C3", lambda: f"element types {element} != {bias_element}")
        return facts[0]

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's type for the data, and a vector as long as the axis for the bias."""
        return data_and_vectors(self, self.axis.value.data, facts, result_type)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data if it does not split the axis."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None, None), None)
        letter = letter_of_axis(layout, self.axis.value.data)
        if layout.factor(letter) is not None:
            return LayoutRefusal(f"layout {layout} splits the axis along which the bias is added")
        return LayoutDecision((layout, None), layout, {"axis": int_attribute(layout.index(letter))})

    def evaluate(self, data: Array, bias: Array) -> Array:
        """Adds the bias with axes of extent 1 after it."""
        axis = self.axis.value.data % data.ndim
        return np.add(data, bias.reshape([-1] + [1] * (data.ndim - axis - 1)))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Adds the element of the bias at the index along the axis."""
        data, bias, shape = build.operand(0), build.operand(1), build.result_shape
        axis = self.axis.value.data % len(shape)

        def fill(b: Body) -> SSAValue:
            return b.plus(b.read(data, *b.spatial), b.read(bias, b.spatial[axis]))

        return [build.compute(build.label, shape, build.element(data), fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient, and its sum over all axes except that of the bias."""
        return [of, build.op("sum", of, axis=(self.axis.value.data,), exclude=True)]


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
class ContribDensePackOp(DenseLayerOp):
    """Matrix product with a packed weight: data (…, k) by weight (units / b, k, b) gives (…, units).

    `result[…, j] = sum over k of data[…, k] * weight[j // b, k, j % b]`: b neighbouring results form a vector. The
    weight is that of `nn.dense` transformed from layout `NC` to `weight_layout`, with rows of zeros at the end if the
    block does not divide the units, whose number is then in `units`. In `NC16n4c` the products that a CPU
    instruction sums are adjacent: `weight[j // 16, k // 4, j % 16, k % 4]`.

    Constraints:
    - C1: the data has at least one axis.
    - C2: `weight_layout` is NC with N in blocks, optionally with inner blocks of C, e.g. NC16n or NC16n4c, and the
      weight has its rank and inner extents.
    - C3: the last axis of the data is as long as the weight's C.
    - C4: `units`, rounded up to whole blocks, equals the weight's N; by default it is N.
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
    HALF_PRECISION = HalfPrecision.SINGLE

    weight_layout = string_property("NC8n")

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
            padded = -(-units // self.block) * self.block
            facts.require_equal(extents["N"], padded, "C4", f"the weight's N and {units} units in blocks differ:")
        require_factors(facts, self.out_dtype, "C5")
        result = self.element_type_property(self.out_dtype, element, "C6")
        require_holds_products(facts, self.out_dtype, "C6")
        return tensor_type((*data[:-1], extents["N"] if units is None else units), result)

    def evaluate(self, data: Array, weight: Array) -> Array:
        """Multiplies by the unpacked and transposed weight in the type of the accumulators."""
        from xrelay.dialects.relay.meaning.layouts import to_plain

        return self.product(data, to_plain(weight, self.layout, "NC")[: optional_int(self.units)])

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds a sum of products with the block size of the layout, to which C2 constrains the weight.

        The strategy `dense_pack.matmul` is faster if the weight's type has the block size.
        """
        data, weight, shape = build.operand(0), build.operand(1), build.result_shape
        block, terms = self.block, self.layout.factor("C")
        element = build.result_type.element_type

        def add(b: Body) -> SSAValue:
            *row, column = b.spatial
            (k,) = b.reduction
            inside = [k, column % block] if terms is None else [k // terms, column % block, k % terms]
            factors = b.read(data, *row, k), b.read(weight, column // block, *inside)
            return b.accumulate_product(b.accumulators[0], *(b.convert(x, element) for x in factors))

        return [build.compute("dense_pack", shape, element, add, reduce={"k": build.shape(data)[-1]}, init=[0])]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradients of `nn.dense`, with conversions of the packed weight."""
        packed = str(self.layout)
        rows = build.as_matrix(build.cast_like(of, self.data))
        weight = build.op("layout_transform", self.weight, src_layout=packed, dst_layout="NC")
        units = optional_int(self.units)
        if units is not None:
            weight = build.op("strided_slice", weight, begin=[0], end=[units], axes=[0])
        of_data = build.op("nn.matmul", rows, weight)
        of_weight = build.op("nn.matmul", rows, build.as_matrix(self.data), transpose_a=True)
        return [
            build.reshape_like(of_data, self.data),
            build.op("layout_transform", of_weight, src_layout="NC", dst_layout=packed),
        ]
