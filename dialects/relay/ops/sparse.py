"""Sparse tensors as coordinates and values: `relay.sparse_reshape`, `relay.sparse_to_dense` and its `dyn` variant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.shape_rules import reshaped_to
from xrelay.dialects.relay.gradients.numbered_elements import numbered, sum_by_number
from xrelay.dialects.relay.op_definition import (
    ANY,
    Array,
    AtLeast,
    Body,
    Facts,
    GradientBuilder,
    Gradients,
    IntegerElements,
    Layout,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    RankOf,
    RelayOp,
    Shape,
    Tensors,
    TopiBuilder,
    cast_once,
    ints,
    register_relay_op,
    required_ints_property,
    tensor_type,
)
from xrelay.dialects.relay.ops.dyn.shapes import ShapeOperandOp
from xrelay.dialects.relay.ops.tensor.gather import IndexingOp
from xrelay.errors import InterpreterError


@register_relay_op
class SparseReshapeOp(RelayOp):
    """The coordinates of a sparse tensor after a reshape from `prev_shape` to `new_shape`, and the new shape.

    A row of the indices is the coordinates of an element, whose index in row-major order is preserved. One element of
    `new_shape` may be -1; the second result has the remaining extent instead. Both shapes are read at run time, and
    indices out of range of `prev_shape` are not detected: such coordinates are unchanged if the shapes are equal,
    otherwise they are computed from the 64-bit row-major index.

    Constraints:
    - C2: of the known elements of `new_shape`, at most one is -1 and none is less than -1.
    - C3: both shapes have the same number of elements if all extents are known.
    - C7: coordinates have an index for each element of `prev_shape`.

    Example:
    ```mlir
    %t = relay.sparse_reshape(%i, %p, %n)
        : (tensor<5x3xi64>, tensor<3xi64>, tensor<2xi64>) -> tuple<tensor<5x2xi64>, tensor<2xi64>>
    ```

    """

    name = "relay.sparse_reshape"
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {
        "C1": IntegerElements(0),
        "C4": RankOf(0, 2, 2),
        "C5": IntegerElements(1),
        "C6": RankOf(1, 1, 1),
        "C8": IntegerElements(2),
        "C9": RankOf(2, 1, 1),
    }

    sparse_indices = operand_def()
    prev_shape = operand_def()
    new_shape = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns as many coordinates, with an index for each element of the new shape; checks C2, C3 and C7."""
        (count, parts), (rank,) = facts.shape(0), facts.shape(2)
        facts.require_equal(parts, facts.shape(1)[0], "C7", "indices of an element, and elements of prev_shape:")
        old, new = facts.elements(1), facts.elements(2)
        if old is not None and new is not None and ANY not in (*old, *new):
            reshaped_to(facts, old, new, copies=False)
        return TupleType((tensor_type((count, rank), facts.element(0)), facts.tensor(2)))

    def evaluate(self, indices: Array, old: Array, new: Array) -> tuple[Array, Array]:
        """Converts coordinates to row-major indices in the old shape, and these to coordinates in the new shape."""
        from xrelay.dialects.relay.meaning.integer_division import truncated_quotient

        with np.errstate(over="ignore"):
            wide, sizes, wanted = (each.astype(np.int64) for each in (indices, old, new))
            known = np.prod(wanted, where=wanted != -1)
            shape = np.where(wanted == -1, truncated_quotient(np.asarray(np.prod(sizes)), np.maximum(known, 1)), wanted)
            number = (wide * _strides(sizes)).sum(axis=1)
            places = np.empty((indices.shape[0], new.shape[0]), np.int64)
            rows = zip(np.maximum(_strides(shape), 1), np.maximum(shape, 1), strict=True)
            for axis, (stride, extent) in enumerate(rows):
                outer = truncated_quotient(number, stride)
                places[:, axis] = outer if axis == 0 else outer - truncated_quotient(outer, extent) * extent
        stays = np.array_equal(sizes, shape)
        return indices.copy() if stays else places.astype(indices.dtype), shape.astype(new.dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Computes row-major indices, and new coordinates by quotients and remainders, in 64 bits."""
        from xrelay.dialects.relay.computes.sparse import complete_shape, reshaped_coordinates

        indices, old, new = (build.operand(index) for index in range(3))
        shape, element = complete_shape(build, old, new), build.element(new)
        places = reshaped_coordinates(build, indices, old, shape)
        result = build.compute(
            "new_shape", build.shape(new), element, lambda b: b.convert(b.read(shape, *b.spatial), element)
        )
        return [places, result]


def _strides(shape: Array) -> Array:
    """Returns the row-major stride of each axis."""
    return np.append(np.cumprod(shape[::-1])[::-1], 1)[1:] if shape.size else shape


ONE_PLACE: Shape = (1,)


def require_places(facts: Facts, indices: Shape, values: Shape, rank: int, constraints: tuple[str, str]) -> None:
    """Requires that coordinates match a tensor of rank `rank`, and that there is one value, or one for each.

    `constraints` are the ids of the two requirements.
    """
    parts = indices[1] if len(indices) == 2 else 1
    facts.require_equal(parts, rank, constraints[0], "indices of an element, and axes of the result:")
    if values:
        facts.require_equal((indices or ONE_PLACE)[0], values[0], constraints[1], "positions and values:")


@register_relay_op
class SparseToDenseOp(IndexingOp):
    """A tensor of `output_shape` with the values at the coordinates `sparse_indices`, and the default elsewhere.

    A row of the indices is the coordinates of a value, `result[indices[i, 0], …, indices[i, d - 1]] = values[i]`. A
    vector of indices indexes a vector, and a scalar is a single index. A scalar value is used for all coordinates. Of
    several values with the same coordinates the last is used. `default_value` is converted to the values' element type.

    The op fails if an index is negative or beyond its axis.

    Constraints:
    - C6: coordinates have an index for each axis of the result.
    - C7: there are as many values as coordinates, unless the values are a scalar.

    Example:
    ```mlir
    %y = relay.sparse_to_dense(%i, %v, %d) {output_shape = [4, 8]}
        : (tensor<3x2xi64>, tensor<3xf32>, tensor<f32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.sparse_to_dense"
    PATTERN = OpPatternKind.OPAQUE
    CONSTRAINTS = {
        "C1": IntegerElements(0),
        "C2": RankOf(0, 0, 2),
        "C3": RankOf(1, 0, 1),
        "C4": RankOf(2, 0, 0),
        "C5": AtLeast("output_shape", 0),
    }

    sparse_indices = operand_def()
    sparse_values = operand_def()
    default_value = operand_def()

    output_shape = required_ints_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns `output_shape` with the values' element type; checks C6 and C7."""
        shape = ints(self.output_shape)
        require_places(facts, facts.shape(0), facts.shape(1), len(shape), ("C6", "C7"))
        return tensor_type(shape, facts.element(1))

    def evaluate(self, indices: Array, values: Array, default: Array) -> Array:
        """Assigns value by value."""
        return _with_values(ints(self.output_shape), indices, values, default)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Fills with the default and scatters the values."""
        return _scattered(build, *(build.operand(index) for index in range(3)))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient at the coordinates for the values, and the sum of the rest for the default."""
        values = numbered(self.sparse_values, build)
        none = build.scalar(0, self.sparse_indices)
        numbers = build.op("sparse_to_dense", self.sparse_indices, values, none, **self.properties)
        default = _gradient_of_default(self.default_value, numbers, of, build)
        return [None, sum_by_number(numbers, of, self.sparse_values, build), default]


@register_relay_op
class DynSparseToDenseOp(ShapeOperandOp):
    """`relay.sparse_to_dense` with the shape as the second operand.

    Constraints:
    - C1: the shape is a vector of integers of known length, at most 64.
    - C2: no element of the shape is negative.
    - C7: coordinates have an index for each element of the shape.
    - C8: there are as many values as coordinates, unless the values are a scalar.

    Example:
    ```mlir
    %y = relay.dyn.sparse_to_dense(%i, %shape, %v, %d)
        : (tensor<3x2xi64>, tensor<2xi64>, tensor<3xf32>, tensor<f32>) -> tensor<?x?xf32>
    ```

    """

    name = "relay.dyn.sparse_to_dense"
    CONSTRAINTS = {
        "C3": IntegerElements(0),
        "C4": RankOf(0, 0, 2),
        "C5": RankOf(2, 0, 1),
        "C6": RankOf(3, 0, 0),
    }

    sparse_indices = operand_def()
    output_shape = operand_def()
    sparse_values = operand_def()
    default_value = operand_def()

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the original layout, to which the indices refer."""
        return LayoutRefusal("its indices refer to the original layout")

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the elements of the shape as extents with the values' element type; checks C1, C2, C7 and C8."""
        shape = self.wanted_extents(facts)
        require_places(facts, facts.shape(0), facts.shape(2), len(shape), ("C7", "C8"))
        return tensor_type(shape, facts.element(2))

    def evaluate(self, indices: Array, shape: Array, values: Array, default: Array) -> Array:
        """Assigns value by value. Raises `InterpreterError` for a negative extent."""
        if (shape < 0).any():
            raise InterpreterError(f"[{self.name} C2] a negative extent in the shape {shape.tolist()}")
        return _with_values(tuple(shape.tolist()), indices, values, default)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Fills with the default and scatters the values."""
        return _scattered(build, build.operand(0), build.operand(2), build.operand(3))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradients of `sparse_to_dense`; None for the shape."""
        values = numbered(self.sparse_values, build)
        none = build.scalar(0, self.sparse_indices)
        numbers = build.op("dyn.sparse_to_dense", self.sparse_indices, self.output_shape, values, none)
        default = _gradient_of_default(self.default_value, numbers, of, build)
        return [None, None, sum_by_number(numbers, of, self.sparse_values, build), default]


def _with_values(shape: tuple[int, ...], indices: Array, values: Array, default: Array) -> Array:
    """Returns an array of `shape` with the values assigned at their coordinates in order."""
    from xrelay.dialects.relay.meaning.checked_indices import checked

    result = np.full(shape, cast_once(default, values.dtype), values.dtype)
    columns = indices.T if indices.ndim == 2 else indices.reshape(1, -1)
    parts = [checked(column, size, from_end=False) for column, size in zip(columns, shape, strict=True)]
    count = indices.shape[0] if indices.ndim else 1
    for number, value in enumerate(np.broadcast_to(values, (count,))):
        result[tuple(part[number] for part in parts)] = value
    return result


def _scattered(build: TopiBuilder, indices: SSAValue, values: SSAValue, default: SSAValue) -> Tensors:
    """Fills a tensor with the default and scatters the values at their coordinates."""
    from xrelay.dialects.relay.computes.checked_indices import INDEX, checked_indices
    from xrelay.dialects.topi.build import scatter, variables
    from xrelay.dialects.topi.compute import Combine

    full, sizes, places = build.filled(default), build.result_shape, build.shape(indices)

    def column(axis: int) -> SSAValue:
        def index(b: Body) -> SSAValue:
            return b.checked_index(b.read(indices, *b.spatial, axis), sizes[axis])

        return build.compute("indices", variables("k", places[:1]), INDEX, index)

    if len(places) == 2:
        parts = [column(axis) for axis in range(len(sizes))]
    else:
        parts = [checked_indices(build, indices, sizes[0], from_end=False)]

    def fill(b: Body) -> tuple[list[SSAValue], SSAValue]:
        own = b.spatial if build.shape(values) else ()
        return [b.read(part, *b.spatial) for part in parts], b.read(values, *own)

    space = variables("i", places[:1])
    return [build.insert(scatter("sparse_to_dense", space, Combine.UPDATE, full, fill)).result]


def _gradient_of_default(default: SSAValue, numbers: SSAValue, of: SSAValue, build: GradientBuilder) -> SSAValue:
    """Returns the sum of the gradient over elements without a value, whose number is 0."""
    rest = build.op("where", build.op("equal", numbers, 0), of, build.zeros_like(of))
    return build.cast_like(build.reshape_like(build.op("sum", rest), default), default)
