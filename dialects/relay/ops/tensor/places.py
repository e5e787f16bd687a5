"""Ops that depend on the indices of elements: `matrix_set_diag`, `sequence_mask`, `meshgrid`, `unravel_index` etc."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, TensorType, TupleType, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.gradients.numbered_elements import no_numbers, numbered, sum_by_number
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    IndexLike,
    IntegerElements,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    RelayOp,
    SameElements,
    Shape,
    TopiBuilder,
    bool_property,
    element_type_of,
    float_property,
    int_property,
    maximum,
    minimum,
    register_relay_op,
    shape_of,
    shape_text,
    string_property,
    tensor_type,
)
from xrelay.dialects.relay.ops.tensor.movement import MovementOp
from xrelay.dialects.relay.ops.tensor.shape import MAX_AXES
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder
from xrelay.dialects.relay.structure.tuples import TupleOp, field_count


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

    def evaluate(self, data: Array, valid_length: Array) -> Array:
        """Selects by index and length."""
        axis, value = self.axis.value.data, np.asarray(self.mask_value.value.data).astype(data.dtype)
        lengths = np.expand_dims(valid_length, axis)
        places: Array = np.expand_dims(np.arange(data.shape[axis], dtype=np.int64), 1 - axis)
        is_valid = (places < lengths).reshape(*data.shape[:2], *(1,) * (data.ndim - 2))
        return np.where(is_valid, data, value)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Selects by index and length, compared as 64-bit integers or in double precision."""
        data, lengths, axis = build.operand(0), build.operand(1), self.axis.value.data
        element, kind = build.element(data), build.element(lengths)
        is_wide = isinstance(kind, IntegerType) and kind.width.data == 64
        type = f64 if isinstance(kind, AnyFloat) else kind if is_wide else i64

        def choose(b: Body) -> SSAValue:
            place = b.number(b.spatial[axis], type)
            length = b.convert(b.read(lengths, b.spatial[1 - axis]), type)
            value = b.constant(build.held("mask_value"), element)
            return b.select(b.compare(place, "lt", length), b.read(data, *b.spatial), value)

        return [build.compute("sequence_mask", build.shape(data), element, choose)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of the elements that are not masked; None for the lengths."""
        return [build.op("sequence_mask", of, self.valid_length, mask_value=0.0, axis=self.axis.value.data), None]


@register_relay_op
@irdl_op_definition
class MatrixSetDiagOp(RelayOp):
    """The data with diagonals `k1` to `k2` of each matrix replaced by rows of `diagonal`; diagonal 0 is the main one.

    Positive diagonals are to the right of the main one. The first row is diagonal `k2`. If `k1` is `k2`, there is no
    axis for rows. A row is as long as the longest diagonal. Shorter diagonals are at the beginning of their rows, or at
    the end with `super_diag_right_align` (for k ≥ 0) or `sub_diag_right_align` (for k < 0).

    Constraints:
    - C2: the data has at least two axes, and `k1` is at most `k2`.
    - C3: `diagonal` has the data's axes before the matrices, then the rows, then the elements of the longest diagonal.

    Example:
    ```mlir
    %y = relay.matrix_set_diag(%x, %d) {k1 = -1, k2 = 0} : (tensor<3x4xf32>, tensor<2x3xf32>) -> tensor<3x4xf32>
    ```

    """

    name = "relay.matrix_set_diag"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C1": SameElements()}

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

    def evaluate(self, data: Array, diagonal: Array) -> Array:
        """Replaces diagonal by diagonal."""
        result, (first, last) = data.copy(), (self.k1.value.data, self.k2.value.data)
        rows = diagonal if first != last else diagonal[..., None, :]
        for k in range(first, last + 1):
            i, j = max(-k, 0), max(k, 0)
            count = max(0, min(data.shape[-2] - i, data.shape[-1] - j))
            right = self.super_diag_right_align if k >= 0 else self.sub_diag_right_align
            start = rows.shape[-1] - count if right.value.data else 0
            places: Array = np.arange(count, dtype=np.int64)
            result[..., places + i, places + j] = rows[..., last - k, start : start + count]
        return result

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads a row of `diagonal` on the replaced diagonals, else the data."""
        data, diagonal = build.operand(0), build.operand(1)
        element, first, last = build.element(data), self.k1.value.data, self.k2.value.data

        def choose(b: Body) -> SSAValue:
            *batch, row, column = b.spatial
            right = column - row
            is_set = b.in_bounds([right - first], [last - first + 1])

            def read_row() -> SSAValue:
                rows: list[IndexLike] = [] if first == last else [right * -1 + last]
                return b.read(diagonal, *batch, *rows, b.as_index(self._place_in_row(b, build)))

            return b.guard(is_set, element, read_row, lambda: b.read(data, *b.spatial))

        return [build.compute("matrix_set_diag", build.shape(data), element, choose)]

    def _place_in_row(self, b: Body, build: TopiBuilder) -> SSAValue:
        """Returns the index of the current diagonal element in its row."""
        rows, columns = build.shape(build.operand(0))[-2:]
        row, column = b.index(b.spatial[-2]), b.index(b.spatial[-1])
        place, index = b.minimum(row, column), IndexType()
        aligned = [bool(each.value.data) for each in (self.super_diag_right_align, self.sub_diag_right_align)]
        if not any(aligned):
            return place
        zero, right = b.constant(0, index), b.minus(column, row)
        above, below = b.minimum(right, zero), b.maximum(right, zero)
        count = b.minimum(b.plus(b.size(rows, index), above), b.minus(b.size(columns, index), below))
        at_end = b.plus(place, b.minus(b.size(build.shape(build.operand(1))[-1], index), count))
        if all(aligned):
            return at_end
        is_upper = b.compare(right, "ge", zero)
        return b.select(is_upper, at_end, place) if aligned[0] else b.select(is_upper, place, at_end)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns zero on the replaced diagonals, and the gradient of the diagonals for `diagonal`."""
        data = build.op("matrix_set_diag", of, build.zeros_like(self.diagonal), **self.properties)
        rows = no_numbers(self.data, build), numbered(self.diagonal, build)
        numbers = build.op("matrix_set_diag", *rows, **self.properties)
        return [data, sum_by_number(numbers, of, self.diagonal, build)]


@register_relay_op
@irdl_op_definition
class MeshgridOp(RelayOp):
    """n tensors of rank n for n vectors: tensor k has vector k along axis k and is constant along the others.

    With `indexing` "xy" the first two axes are exchanged. A scalar counts as a vector of one element.

    Constraints:
    - C2: the operand is a tuple of scalars and vectors with the same element type.

    Example:
    ```mlir
    %t = relay.tuple(%a, %b) : (tensor<3xf32>, tensor<4xf32>) -> tuple<tensor<3xf32>, tensor<4xf32>>
    %y = relay.meshgrid(%t) : (tuple<tensor<3xf32>, tensor<4xf32>>) -> tuple<tensor<3x4xf32>, tensor<3x4xf32>>
    ```

    """

    name = "relay.meshgrid"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C1": OneOf("indexing", ("ij", "xy"))}

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

    def evaluate(self, data: tuple[Array, ...]) -> tuple[Array, ...]:
        """Calls numpy."""
        grids = np.meshgrid(*data, indexing="xy" if self.indexing.data == "xy" else "ij")
        return tuple(np.ascontiguousarray(grid) for grid in grids)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds a compute for each vector, which reads it at the index along its axis."""
        vectors = build.operands_of_tuple(0)

        def grid(number: int, vector: SSAValue) -> SSAValue:
            axis, rank = self.vector_of(number, len(vectors)), len(build.shape(vector))
            shape, element = build.extents(number), build.element(vector)
            return build.compute("meshgrid", shape, element, lambda b: b.read(vector, *b.spatial[axis : axis + rank]))

        return [grid(number, vector) for number, vector in enumerate(vectors)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sums over the axes along which a vector is repeated."""
        count = field_count(self.data) or 0
        sums: list[SSAValue] = []
        for number in range(count):
            others = [axis for axis in range(count) if axis != self.vector_of(number, count)]
            part = build.item(of, number)
            total = build.op("sum", part, axis=others) if others else part
            sums.append(build.reshape_like(total, build.item(self.data, number)))
        return [build.tuple(*sums)]


@register_relay_op
@irdl_op_definition
class InvertPermutationOp(CompositeOp):
    """The inverse of a permutation: `y[x[i]] = i`. An index out of range fails; duplicates are undefined.

    Constraints:
    - C1: the data is a vector.

    Example:
    ```mlir
    %y = relay.invert_permutation(%x) : (tensor<8xi32>) -> tensor<8xi32>
    ```

    """

    name = "relay.invert_permutation"
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C2": IntegerElements()}

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C1."""
        facts.require(len(facts.shape(0)) == 1, "C1", f"a permutation is a vector, found {facts[0]}")
        return facts.tensor(0)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A scatter of the indices at the data."""
        (data,) = build.operands
        places = build.op("cumsum", build.op("ones_like", data), axis=0, exclusive=True)
        return build.op("scatter_elements", data, data, places, axis=0)

    def evaluate(self, data: Array) -> Array:
        """Assigns the indices at the data."""
        from xrelay.dialects.relay.meaning.checked_indices import checked

        result = data.copy()
        result[checked(data, len(data))] = np.arange(len(data))
        return result


@register_relay_op
@irdl_op_definition
class UnravelIndexOp(CompositeOp):
    """The indices along all axes for row-major indices in a tensor of shape `shape`: that along axis k is `y[k, …]`.

    Extents less than 1 count as 1. Indices out of range wrap around.

    Constraints:
    - C2: `shape` is a vector of known length, 64 at most.

    Example:
    ```mlir
    %y = relay.unravel_index(%x, %s) : (tensor<5xi64>, tensor<3xi64>) -> tensor<3x5xi64>
    ```

    """

    name = "relay.unravel_index"
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C1": IntegerElements()}

    data = operand_def()
    shape = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with a leading axis for the indices; checks C2."""
        (own, element), extents = facts.operand(0), facts.shape(1)
        message = f"the shape must be a vector of known length, {MAX_AXES} at most, found {facts[1]}"
        is_vector = len(extents) == 1 and isinstance(extents[0], int) and extents[0] <= MAX_AXES
        facts.require(is_vector, "C2", message)
        return tensor_type((*extents, *own), element)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Remainders and quotients by the extents, last axis first, because products of extents may overflow."""
        data, shape = build.operands
        rank, count = build.rank(data), shape_of(shape.type)[0]
        extents = build.op("maximum", build.op("cast", shape, dtype=element_type_of(data.type)), 1)
        extents = build.op("expand_dims", extents, axis=1, num_newaxis=rank) if rank else extents
        rest = build.op("expand_dims", data, axis=0)
        if not isinstance(count, int) or count == 0:
            return build.op("floor_mod", rest, extents)
        found: list[SSAValue] = []
        for axis in reversed(range(count)):
            extent = build.op("strided_slice", extents, begin=(axis,), end=(axis + 1,), axes=(0,))
            found.append(build.op("floor_mod", rest, extent))
            rest = build.op("floor_divide", rest, extent)
        return build.op("concatenate", build.add(TupleOp.call(*reversed(found))), axis=0)

    def evaluate(self, data: Array, shape: Array) -> Array:
        """Computes remainders and quotients by the extents, last axis first."""
        result, rest = np.empty((len(shape), *data.shape), data.dtype), data
        for axis in reversed(range(len(shape))):
            extent = np.maximum(shape[axis].astype(data.dtype), 1)
            result[axis], rest = np.mod(rest, extent), rest // extent
        return result
