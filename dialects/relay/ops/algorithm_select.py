"""Selections whose size depends on the data: `relay.argwhere`, `relay.unique` and `relay.dyn.strided_slice`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, TupleType, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import Constraints, OneOf, RankOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.slice_extents import kept_by_slice
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, minimum

ONE: Dim = 1


@register_relay_op
@irdl_op_definition
class ArgwhereOp(RelayOp):
    """The indices of the nonzero elements in row-major order, one row for each. NaN is nonzero.

    The number of rows depends on the data and is at most the number of elements. For a scalar the result has no
    columns, and one row if the scalar is nonzero.

    Example:
    ```mlir
    %i = relay.argwhere(%x) : (tensor<4x8xf32>) -> tensor<?x2xi32>
    ```

    """

    name = "relay.argwhere"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    condition = operand_def()

    @property
    def shape_depends_on_data(self) -> bool:
        """The number of rows depends on the condition."""
        return True

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a matrix with one column for each axis of the condition."""
        shape, elements = facts.shape(0), ONE
        for extent in shape:
            elements = elements * extent
        return tensor_type((facts.new_extent("k", at_most=elements), len(shape)), i32)


@register_relay_op
@irdl_op_definition
class UniqueOp(RelayOp):
    """The distinct elements of a vector, with their indices and counts.

    The result is the tuple of `unique` (the distinct elements, ascending, or in order of first occurrence if
    `is_sorted` is false), `indices` (the first occurrence of each), `inverse_indices` (for each element of the data,
    its index in `unique`), `num_unique` and, with `return_counts`, `counts` (the number of occurrences of each).
    `unique`, `indices` and `counts` are as long as the data and zero from `num_unique` on. 0.0 and -0.0 are equal. All
    NaN are equal and sort last.

    Example:
    ```mlir
    %t = relay.unique(%x) : (tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<8xi32>, tensor<8xi32>, tensor<1xi32>>
    ```

    """

    name = "relay.unique"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": RankOf(0, 1, 1)}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()

    is_sorted = bool_property(True)
    return_counts = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the tuple type of the vectors and the number."""
        shape, element = facts.operand(0)
        places = tensor_type(shape, i32)
        fields = [tensor_type(shape, element), places, places, tensor_type((1,), i32)]
        return TupleType((*fields, places) if self.return_counts.value.data else tuple(fields))


@register_relay_op
@irdl_op_definition
class DynStridedSliceOp(RelayOp):
    """The elements of `data` from `begin` to before `end` in steps of `strides`, with one number for each axis.

    Negative numbers count from the end of the axis, and numbers out of range are clamped, as in numpy. Axes without
    numbers are kept whole.

    With `slice_mode` "size", `end` holds the numbers of elements, and `begin` the first index, or 0 if no element is
    taken. `relay-name-extents` converts the op to this form.

    Constraints:
    - C1: begin, end and strides are integer vectors of the same known length, at most the rank of the data.
    - C2: no stride is 0, unless `slice_mode` is "size".
    - C3: with "size", no axis is sliced to more elements than it has.

    Example:
    ```mlir
    %y = relay.dyn.strided_slice(%x, %b, %e, %s)
        : (tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
    ```

    """

    name = "relay.dyn.strided_slice"
    CONSTRAINTS: ClassVar[Constraints] = {"C4": OneOf("slice_mode", ("end", "size"))}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()
    begin = operand_def()
    end = operand_def()
    strides = operand_def()

    slice_mode = string_property("end")

    @property
    def shape_depends_on_data(self) -> bool:
        """The shape depends on the values of the last three operands."""
        return True

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with the extents of the slice, new ones if they are not known; checks C1 and C2."""
        shape, element = facts.operand(0)
        count = facts.shape(1)[0] if len(facts.shape(1)) == 1 else None
        for index, name in enumerate(("begin", "end", "strides"), start=1):
            found, kind = facts.operand(index)
            fits = isinstance(count, int) and found == (count,) and isinstance(kind, IntegerType)
            facts.require(
                fits,
                "C1",
                lambda name=name, index=index: f"{name} is {facts[index]}, it must be a list of the length of begin",
            )
        known = count if isinstance(count, int) else 0
        facts.require(known <= len(shape), "C1", f"{known} numbers for data of rank {len(shape)}")
        lists = [facts.elements(index) or (ANY,) * known for index in (1, 2, 3)]
        if self.slice_mode.data == "size":
            cut = [_taken(facts, axis, *pair) for axis, pair in enumerate(zip(shape, lists[1], strict=False))]
        else:
            rows = enumerate(zip(shape, *lists, strict=False))
            cut = [_left(facts, axis, extent, *numbers) for axis, (extent, *numbers) in rows]
        return tensor_type((*cut, *shape[known:]), element)


def _left(facts: Facts, axis: int, extent: Dim, begin: Dim, end: Dim, stride: Dim) -> Dim:
    """Returns the number of elements of an axis that the slice keeps; checks C2."""
    facts.require(stride != 0, "C2", "a stride is 0")
    if isinstance(extent, int) and isinstance(begin, int) and isinstance(end, int) and isinstance(stride, int):
        return len(range(*slice(begin, end, stride).indices(extent)))
    kept = kept_by_slice(extent, begin, end, stride)
    return facts.new_extent("k", axis, at_most=extent) if kept in (None, ANY) else kept


def _taken(facts: Facts, axis: int, extent: Dim, size: Dim) -> Dim:
    """Returns the number of elements taken along an axis; checks C3."""
    if isinstance(size, AnyDim):
        return facts.new_extent("k", axis, at_most=extent)
    facts.require_at_least(size, 0, "C3", "elements taken of an axis")
    if minimum(extent, size) != size:
        facts.require_at_least(extent, size, "C3", "elements of the axis, and those taken")
    return size
