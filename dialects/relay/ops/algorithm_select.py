"""What is found among elements: `relay.argwhere`, `relay.unique`, and cutting to a length that the data decides."""

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
from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, minimum

ONE: Dim = 1


@register_relay_op
@irdl_op_definition
class ArgwhereOp(RelayOp):
    """The indices of the elements that are not zero, one row for each, in row-major order; a NaN is not zero.

    How many rows there are only the data says: at most as many as there are elements. A tensor without axes gives one
    row without columns, or none.

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
        """The number of rows does."""
        return True

    def infer_type(self, facts: Facts) -> Attribute:
        """Rows of as many indices as the condition has axes."""
        shape, elements = facts.shape(0), ONE
        for extent in shape:
            elements = elements * extent
        return tensor_type((facts.new_extent("k", at_most=elements), len(shape)), i32)


@register_relay_op
@irdl_op_definition
class UniqueOp(RelayOp):
    """The different elements of a list, and how the list is made of them.

    Gives the tuple of `unique` (ascending, or where `is_sorted` is false in the order in which they are met),
    `indices` (where each is met first), `inverse_indices` (for each element of the list its place in `unique`),
    `num_unique` and, with `return_counts`, `counts` (how often each is met). `unique`, `indices` and `counts` are as
    long as the list; behind `num_unique` they are zero. 0.0 and -0.0 are equal, all NaN are one, the last when sorted.

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
        """The lists and the number."""
        shape, element = facts.operand(0)
        places = tensor_type(shape, i32)
        fields = [tensor_type(shape, element), places, places, tensor_type((1,), i32)]
        return TupleType((*fields, places) if self.return_counts.value.data else tuple(fields))


@register_relay_op
@irdl_op_definition
class DynStridedSliceOp(RelayOp):
    """The elements of `data` from `begin` to before `end` in steps of `strides`, one number for each axis.

    Numbers below 0 count from the end of the axis; those that lie outside are brought to the nearest place, as in a
    slice of numpy. Axes that the numbers leave out are kept whole.

    With `slice_mode` "size" an element of `end` is the number of elements that are taken, and `begin` the place of the
    first, or 0 where none is; `relay-name-extents` brings the op into this form.

    Constraints:
    - C1: begin, end and strides are lists of integers of one length, known and at most the rank of the data.
    - C2: no stride is 0, unless `slice_mode` is "size".
    - C3: with "size" all elements that are taken are there, so that no axis gives more than it has.

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
    def may_fail(self) -> bool:
        """A stride that only the run tells may be 0."""
        return bool(made_extents(self))

    @property
    def shape_depends_on_data(self) -> bool:
        """The values of the last three operands decide."""
        return True

    def infer_type(self, facts: Facts) -> Attribute:
        """What is left of each axis that is cut, an open extent where that is not known; C1 and C2."""
        shape, element = facts.operand(0)
        count = facts.shape(1)[0] if len(facts.shape(1)) == 1 else None
        for index, name in enumerate(("begin", "end", "strides"), start=1):
            found, kind = facts.operand(index)
            fits = isinstance(count, int) and found == (count,) and isinstance(kind, IntegerType)
            facts.require(fits, "C1", lambda name=name, index=index: f"{name} is {facts[index]}, no list like begin's")
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
    """How many elements of an axis a slice keeps; C2."""
    facts.require(stride != 0, "C2", "a stride is 0")
    if isinstance(extent, int) and isinstance(begin, int) and isinstance(end, int) and isinstance(stride, int):
        return len(range(*slice(begin, end, stride).indices(extent)))
    kept = kept_by_slice(extent, begin, end, stride)
    return facts.new_extent("k", axis, at_most=extent) if kept in (None, ANY) else kept


def _taken(facts: Facts, axis: int, extent: Dim, size: Dim) -> Dim:
    """How many elements are taken of an axis; C3."""
    if isinstance(size, AnyDim):
        return facts.new_extent("k", axis, at_most=extent)
    facts.require_at_least(size, 0, "C3", "elements taken of an axis")
    if minimum(extent, size) != size:
        facts.require_at_least(extent, size, "C3", "elements of the axis, and those taken")
    return size
