"""Ops that depend on the indices of elements: `matrix_set_diag`, `sequence_mask`, `meshgrid`, `unravel_index` etc."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat, IntegerType, TensorType, TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import Constraints, IntegerElements, OneOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, float_property, int_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor_movement import MovementOp
from xrelay.dialects.relay.ops.tensor_shape import MOST_AXES
from xrelay.dialects.relay.structure.composite import CompositeOp, Parts
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.types import element_type_of, shape_of, tensor_type
from xrelay.index_algebra.dims import Dim, Shape, maximum, minimum, shape_text


@register_relay_op
@irdl_op_definition
class SequenceMaskOp(MovementOp):
    """The data with `mask_value` from index `valid_length[b]` along `axis`, where b is the index along the other axis.

    Constraints:
    - C1: `axis` is 0 or 1, and the data has both axes.
    - C2: `valid_length` is a vector of numbers with an element for each batch.

    Example:
    ```mlir
    %y = relay.sequence_mask(%x, %n) {axis = 1, mask_value = -1.0} : (tensor<2x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>
    ```

    """

    name = "relay.sequence_mask"

    data = operand_def()
    valid_length = operand_def()

    mask_value = float_property(0.0)
    axis = int_property(0)

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the data's shape; checks C1 and C2."""
        axis = self.axis.value.data
        facts.require(
            axis in (0, 1) and len(shape) > 1, "C1", f"axis {axis} is not one of the first two of {len(shape)} axes"
        )
        lengths, element = facts.operand(1)
        numbers = isinstance(element, AnyFloat) or (isinstance(element, IntegerType) and element.width.data > 1)
        message = f"valid_length must be a vector of {shape[1 - axis]} numbers, found {facts[1]}"
        facts.require(numbers and len(lengths) == 1, "C2", message)
        facts.require_equal(lengths[0], shape[1 - axis], "C2", "lengths, and batches,", message=message)
        return shape


@register_relay_op
@irdl_op_definition
class MatrixSetDiagOp(RelayOp):
    """The data with diagonals `k1` to `k2` of each matrix replaced by rows of `diagonal`; diagonal 0 is the main one.

    Positive diagonals are to the right of the main one. The first row is diagonal `k2`. If `k1` is `k2`, there is no
    axis for rows. A row is as long as the longest diagonal. Shorter diagonals are at the beginning of their rows, or at
    the end with `super_diag_right_align` (for k ≥ 0) or `sub_diag_right_align` (for k < 0).

    Constraints:
    - C1: both operands have the same element type.
    - C2: the data has at least two axes, and `k1` is at most `k2`.
    - C3: `diagonal` has the data's axes before the matrices, then the rows, then the elements of the longest diagonal.

    Example:
    ```mlir
    %y = relay.matrix_set_diag(%x, %d) {k1 = -1, k2 = 0} : (tensor<3x4xf32>, tensor<2x3xf32>) -> tensor<3x4xf32>
    ```

    """

    name = "relay.matrix_set_diag"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {"C1": SameElements()}

    data = operand_def()
    diagonal = operand_def()

    k1 = int_property(0)
    k2 = int_property(0)
    super_diag_right_align = bool_property(True)
    sub_diag_right_align = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C2 and C3."""
        (shape, element), found = facts.operand(0), facts.shape(1)
        first, last = self.k1.value.data, self.k2.value.data
        facts.require(
            len(shape) >= 2 and first <= last,
            "C2",
            f"diagonals {first} to {last} are not diagonals of matrices of {len(shape)} axes",
        )
        count = () if first == last else (last - first + 1,)
        wanted = (*shape[:-2], *count, self.longest(*shape[-2:]))
        message = f"diagonals of {shape_text(shape)} have shape {shape_text(wanted)}, found {shape_text(found)}"
        facts.require(len(found) == len(wanted), "C3", message)
        for own, other in zip(found, wanted, strict=True):
            facts.require_equal(own, other, "C3", "diagonals", message=message)
        return tensor_type(shape, element)

    def longest(self, rows: Dim, columns: Dim) -> Dim:
        """Returns the number of elements of the longest diagonal."""
        below, above = min(self.k2.value.data, 0), max(self.k1.value.data, 0)
        return maximum(0, minimum(rows + below, columns - above))


@register_relay_op
@irdl_op_definition
class MeshgridOp(RelayOp):
    """n tensors of rank n for n vectors: tensor k has vector k along axis k and is constant along the others.

    With `indexing` "xy" the first two axes are exchanged. A scalar counts as a vector of one element.

    Constraints:
    - C1: `indexing` is "ij" or "xy".
    - C2: the operand is a tuple of scalars and vectors with the same element type.

    Example:
    ```mlir
    %t = relay.tuple(%a, %b) : (tensor<3xf32>, tensor<4xf32>) -> tuple<tensor<3xf32>, tensor<4xf32>>
    %y = relay.meshgrid(%t) : (tuple<tensor<3xf32>, tensor<4xf32>>) -> tuple<tensor<3x4xf32>, tensor<3x4xf32>>
    ```

    """

    name = "relay.meshgrid"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {"C1": OneOf("indexing", ("ij", "xy"))}

    data = operand_def()

    indexing = string_property("ij")

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns as many tensors as there are vectors, all with the same type; checks C2."""
        type = facts[0]
        fields = list(type.types) if isinstance(type, TupleType) else []
        parts = Facts(self.name, fields)
        message = f"a tuple of vectors of one element type is expected, found {type}"
        facts.require(bool(fields) and all(isinstance(field, TensorType) for field in fields), "C2", message)
        vectors = [parts.operand(index) for index in range(len(fields))]
        alike = all(len(shape) <= 1 and element == vectors[0][1] for shape, element in vectors)
        facts.require(alike, "C2", message)
        extents: list[Dim] = [shape[0] if shape else 1 for shape, _ in vectors]
        grid = [extents[self.vector_of(axis, len(extents))] for axis in range(len(extents))]
        return TupleType((tensor_type(grid, vectors[0][1]),) * len(fields))

    def vector_of(self, axis: int, count: int) -> int:
        """Returns the index of the vector along axis `axis`, or vice versa."""
        is_turned = self.indexing.data == "xy" and count > 1
        return 1 - axis if is_turned and axis < 2 else axis


@register_relay_op
@irdl_op_definition
class InvertPermutationOp(CompositeOp):
    """The inverse of a permutation: `y[x[i]] = i`. An index out of range fails; duplicates are undefined.

    Constraints:
    - C1: the data is a vector.
    - C2: the data's elements are integers.

    Example:
    ```mlir
    %y = relay.invert_permutation(%x) : (tensor<8xi32>) -> tensor<8xi32>
    ```

    """

    name = "relay.invert_permutation"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {"C2": IntegerElements()}

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C1."""
        facts.require(len(facts.shape(0)) == 1, "C1", f"a permutation is a vector, found {facts[0]}")
        return facts.tensor(0)

    def decompose(self, parts: Parts) -> SSAValue:
        """A scatter of the indices at the data."""
        (data,) = parts.operands
        places = parts.op("cumsum", parts.op("ones_like", data), axis=0, exclusive=True)
        return parts.op("scatter_elements", data, data, places, axis=0)


@register_relay_op
@irdl_op_definition
class UnravelIndexOp(CompositeOp):
    """The indices along all axes for row-major indices in a tensor of shape `shape`: that along axis k is `y[k, …]`.

    Extents less than 1 count as 1. Indices out of range wrap around.

    Constraints:
    - C1: both operands are integers.
    - C2: `shape` is a vector of known length, 64 at most.

    Example:
    ```mlir
    %y = relay.unravel_index(%x, %s) : (tensor<5xi64>, tensor<3xi64>) -> tensor<3x5xi64>
    ```

    """

    name = "relay.unravel_index"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {"C1": IntegerElements()}

    data = operand_def()
    shape = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with a leading axis for the indices; checks C2."""
        (own, element), extents = facts.operand(0), facts.shape(1)
        message = f"the shape must be a vector of known length, {MOST_AXES} at most, found {facts[1]}"
        is_vector = len(extents) == 1 and isinstance(extents[0], int) and extents[0] <= MOST_AXES
        facts.require(is_vector, "C2", message)
        return tensor_type((*extents, *own), element)

    def decompose(self, parts: Parts) -> SSAValue:
        """Remainders and quotients by the extents, last axis first, because products of extents may overflow."""
        data, shape = parts.operands
        rank, count = parts.rank(data), shape_of(shape.type)[0]
        extents = parts.op("maximum", parts.op("cast", shape, dtype=element_type_of(data.type)), 1)
        extents = parts.op("expand_dims", extents, axis=1, num_newaxis=rank) if rank else extents
        rest = parts.op("expand_dims", data, axis=0)
        if not isinstance(count, int) or count == 0:
            return parts.op("floor_mod", rest, extents)
        found: list[SSAValue] = []
        for axis in reversed(range(count)):
            extent = parts.op("strided_slice", extents, begin=(axis,), end=(axis + 1,), axes=(0,))
            found.append(parts.op("floor_mod", rest, extent))
            rest = parts.op("floor_divide", rest, extent)
        return parts.op("concatenate", parts.add(TupleOp.call(*reversed(found))), axis=0)
