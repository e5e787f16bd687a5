"""`relay.nn.matmul` and `relay.nn.batch_matmul`: products of matrices, each optionally transposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.constraints import Constraints, RankOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp, known_shape
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, optional_int, optional_int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.shared.dtypes import holds_products, numpy_dtype
from xrelay.dialects.shared.types import IncompleteType, tensor_type
from xrelay.index_algebra.dims import Dim, Shape


class MatrixProductOp(RelayOp):
    """Base of both products: the transposed operands and the rule for element types."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.ALWAYS
    RESULT_ELEMENT: ClassVar[str | None] = "out_dtype"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": SameElements(), "C2": RankOf(0, 2)}

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


@register_relay_op
@irdl_op_definition
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
    CONSTRAINTS: ClassVar[Constraints] = {**MatrixProductOp.CONSTRAINTS, "C6": RankOf(1, 2, 2)}
    INFERENCE_HINT: ClassVar[str | None] = "pass units, or the type of tensor_b"

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


@register_relay_op
@irdl_op_definition
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
    CONSTRAINTS: ClassVar[Constraints] = {**MatrixProductOp.CONSTRAINTS, "C6": RankOf(1, 2)}

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


def _in_order(shape: Shape, *, flip: bool) -> Shape:
    """Returns `shape`, with the last two extents exchanged if `flip`."""
    return (*shape[:-2], shape[-1], shape[-2]) if flip else tuple(shape)
