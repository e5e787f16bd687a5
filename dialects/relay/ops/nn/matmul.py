"""`relay.nn.matmul` and `relay.nn.batch_matmul`: products of matrices, each optionally transposed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def

from xrelay.dialects.relay.op_definition import (
    Array,
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
    RankOf,
    RelayOp,
    SameElements,
    Shape,
    Tensors,
    TopiBuilder,
    bool_property,
    holds_products,
    known_shape,
    numpy_dtype,
    optional_int,
    optional_int_property,
    register_relay_op,
    tensor_type,
)


class MatrixProductOp(RelayOp):
    """Base of both products, which differ in their shapes and defaults."""

    QUANTIZATION = Quantization.PRODUCT
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.ALWAYS
    HALF_PRECISION = HalfPrecision.SINGLE_RESULTS
    RESULT_ELEMENT = "out_dtype"
    CONSTRAINTS = {"C1": SameElements(), "C2": RankOf(0, 2)}

    out_dtype = opt_prop_def()
    transpose_a = bool_property(default=False)
    transpose_b = bool_property(default=False)

    @property
    def transposed(self) -> tuple[bool, bool]:
        """Whether the matrices of the first and of the second operand are transposed."""
        return bool(self.transpose_a.value.data), bool(self.transpose_b.value.data)

    def result_element(self, facts: Facts) -> Attribute:
        """Returns the result's element type; checks C5."""
        first = facts.element(0)
        result = self.element_type_property(self.out_dtype, first, "C5")
        facts.require(
            holds_products(result, first) and numpy_dtype(result).itemsize >= numpy_dtype(first).itemsize,
            "C5",
            lambda: f"out_dtype {result} cannot hold sums of products of {first}",
            help="cast the operands before, or the result after",
        )
        return result

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps plain rows, the only layout that matrix products read."""
        return LayoutRefusal("a matrix product supports only row-major data")

    def evaluate(self, first: Array, second: Array) -> Array:
        """Uses `np.matmul` in the type of the accumulators."""
        from xrelay.dialects.relay.meaning.element_types import accumulator

        out_dtype = self.result_dtype
        left, right = (
            (array.swapaxes(-1, -2) if flip else array).astype(accumulator(out_dtype), copy=False)
            for array, flip in zip((first, second), self.transposed, strict=True)
        )
        return np.asarray(np.matmul(left, right)).astype(out_dtype, copy=False)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds `topi.batch_matmul`; a single matrix is a stack of rank 0."""
        from xrelay.dialects.topi.named import BatchMatmulOp

        first, second = build.operand(0), build.operand(1)
        flip_a, flip_b = self.transposed
        op = BatchMatmulOp(first, second, build.result_type, transpose_left=flip_a, transpose_right=flip_b)
        return build.insert(op).results


@register_relay_op
class MatmulOp(MatrixProductOp):
    """Matrix product with one matrix: tensor_a (…, m, k) by tensor_b (k, n) gives (…, m, n).

    With `transpose_a`, tensor_a is (…, k, m); with `transpose_b`, tensor_b is (n, k), as in `nn.dense`. `units`, the
    number of columns n, may be omitted if tensor_b's type is known. `out_dtype` defaults to the operands' element type.

    Constraints:
    - C3: the depths k of tensor_a and tensor_b are equal.
    - C4: `units`, if given, is the number of tensor_b's columns.
    - C5: `out_dtype`, if given, is an element type of the same kind, floats or integers, and not narrower.

    Example:
    ```mlir
    %y = relay.nn.matmul(%x, %w) : (tensor<2x5x8xf32>, tensor<8x3xf32>) -> tensor<2x5x3xf32>
    ```

    """

    name = "relay.nn.matmul"
    CONSTRAINTS = {**MatrixProductOp.CONSTRAINTS, "C6": RankOf(1, 2, 2)}
    INFERENCE_HINT = "pass units, or the type of tensor_b"

    tensor_a = operand_def()
    tensor_b = operand_def()

    units = optional_int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns tensor_a's untransposed shape with the depth replaced by the columns; checks C3 to C5."""
        first, second = facts.shape(0), facts.shape(1)
        flip_a, flip_b = self.transposed
        *outer, depth = _in_order(first, flip=flip_a)
        other, columns = _in_order(second, flip=flip_b)
        facts.require_equal(depth, other, "C3", "the depths of tensor_a and tensor_b differ:")
        units = optional_int(self.units)
        if units is not None:
            facts.require_equal(columns, units, "C4", "tensor_b's columns and units differ:")
        return tensor_type((*outer, columns), self.result_element(facts))

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns tensor_b's type from tensor_a's and `units` or the result's columns."""
        first, second = facts
        if isinstance(first, IncompleteType) or not isinstance(second, IncompleteType):
            return facts
        shape, element = facts.operand(0)
        flip_a, flip_b = self.transposed
        units: Dim | None = optional_int(self.units)
        result = known_shape(result_type)
        if units is None and result:
            units = result[-1]
        if units is None or len(shape) < 2:
            return facts
        return [first, tensor_type(_in_order((_in_order(shape, flip=flip_a)[-1], units), flip=flip_b), element)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradients of a stack of products; that of the single matrix is the sum over the stack."""
        flip_a, flip_b = self.transposed
        of = build.cast_like(of, self.tensor_a)
        of_a = build.op("nn.matmul", of, self.tensor_b, transpose_b=not flip_b)

        def in_order(value: SSAValue) -> SSAValue:
            axes = list(range(len(build.shape(value))))
            return build.transposed(value, [*axes[:-2], axes[-1], axes[-2]]) if flip_a else value

        left, right = build.as_matrix(in_order(self.tensor_a)), build.as_matrix(of)
        factors = (right, left) if flip_b else (left, right)
        return [in_order(of_a), build.op("nn.matmul", *factors, transpose_a=True)]


@register_relay_op
class BatchMatmulOp(MatrixProductOp):
    """Matrix products of two stacks: tensor_a (…, m, k) by tensor_b (…, n, k), or (…, k, n), gives (…, m, n).

    As in Relay, tensor_b's matrices are transposed unless `transpose_b = false`. The axes before the last two broadcast
    as in numpy (Relay has a single batch axis, which broadcasts as well). `out_dtype` defaults to the operands' element
    type.

    Constraints:
    - C3: the depths k of tensor_a and tensor_b are equal.
    - C4: the axes before the matrices broadcast.
    - C5: `out_dtype`, if given, is an element type of the same kind, floats or integers, and not narrower.

    Example:
    ```mlir
    %y = relay.nn.batch_matmul(%q, %k) : (tensor<12x5x8xf32>, tensor<12x7x8xf32>) -> tensor<12x5x7xf32>
    ```

    """

    name = "relay.nn.batch_matmul"
    CONSTRAINTS = {**MatrixProductOp.CONSTRAINTS, "C6": RankOf(1, 2)}

    tensor_a = operand_def()
    tensor_b = operand_def()

    out_dtype = opt_prop_def()
    transpose_a = bool_property(default=False)
    transpose_b = bool_property(default=True)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the broadcast axes followed by rows and columns; checks C3 to C5."""
        first, second = facts.shape(0), facts.shape(1)
        flip_a, flip_b = self.transposed
        rows, depth = _in_order(first[-2:], flip=flip_a)
        other, columns = _in_order(second[-2:], flip=flip_b)
        facts.require_equal(depth, other, "C3", "the depths of tensor_a and tensor_b differ:")
        stacks = facts.broadcast_shapes((first[:-2], second[:-2]), "C4", "stacks of shapes")
        return tensor_type((*stacks, rows, columns), self.result_element(facts))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns G Bᵀ and Aᵀ G for Y = A B, or their transposes, summed over broadcast axes of a stack."""
        (a, b), (flip_a, flip_b) = self.operands, self.transposed
        of = build.cast_like(of, a)

        def product(left: SSAValue, right: SSAValue, *, flip_left: bool, flip_right: bool) -> SSAValue:
            return build.op("nn.batch_matmul", left, right, transpose_a=flip_left, transpose_b=flip_right)

        if flip_a:
            of_a = product(b, of, flip_left=flip_b, flip_right=True)
        else:
            of_a = product(of, b, flip_left=False, flip_right=not flip_b)
        if flip_b:
            of_b = product(of, a, flip_left=True, flip_right=flip_a)
        else:
            of_b = product(a, of, flip_left=not flip_a, flip_right=False)
        return [build.sum_like(of_a, a), build.sum_like(of_b, b)]


def _in_order(shape: Shape, *, flip: bool) -> Shape:
    """Returns `shape`, with the last two extents exchanged if `flip`."""
    return (*shape[:-2], shape[-1], shape[-2]) if flip else tuple(shape)
