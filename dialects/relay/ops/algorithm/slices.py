"""Selection and ordering of whole slices: `relay.compress` and `relay.rank_rows`, which ONNX needs and Relay lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import AxisOf, BooleanElements, Constraints, RankOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.gradients.builder import no_gradients
from xrelay.dialects.relay.gradients.numbered_elements import gradient_by_numbers
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Dim

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body


@register_relay_op
@irdl_op_definition
class CompressOp(RelayOp):
    """The slices of `data` along `axis` for which the condition is true, in order.

    The condition is a vector. It may be shorter than the axis; the remaining slices are dropped. The number of slices
    kept is known only at run time and is at most the length of the condition.

    Constraints:
    - C4: the condition is no longer than the axis.

    Example:
    ```mlir
    %y = relay.compress(%x, %c) {axis = 1} : (tensor<2x4xf32>, tensor<3xi1>) -> tensor<2x?xf32>
    ```

    """

    name = "relay.compress"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf("axis"), "C2": RankOf(1, 1, 1), "C3": BooleanElements(1)}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()
    condition = operand_def()

    axis = int_property(0)

    @property
    def shape_depends_on_data(self) -> bool:
        """The shape depends on the condition."""
        return True

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type with a new extent along the axis; checks C4."""
        (shape, element), (length,) = facts.operand(0), facts.shape(1)
        axis = self.axis.value.data % len(shape)
        extent = shape[axis]
        text = f"a condition of {length} for an axis of {extent}"
        facts.require_at_least(extent, length, "C4", "the extent of the axis", message=text)
        kept = facts.new_extent("k", at_most=length)
        return tensor_type((*shape[:axis], kept, *shape[axis + 1 :]), element)

    def evaluate(self, data: Array, condition: Array) -> Array:
        """Uses `np.compress`."""
        return np.compress(condition, data, self.axis.value.data)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Gathers the slices where the condition is true, followed by zeros."""
        from xrelay.dialects.relay.computes.ordering import is_below_count
        from xrelay.dialects.topi import PositionsOp

        data = build.operand(0)
        found = build.insert(PositionsOp(build.operand(1)))
        shape, element = build.shape(data), build.element(data)
        axis = self.axis.value.data % len(shape)

        def kept(b: Body) -> SSAValue:
            at = b.spatial[axis]

            def read() -> SSAValue:
                place = b.read_index(found.positions, at)
                return b.read(data, *b.spatial[:axis], place, *b.spatial[axis + 1 :])

            is_used = is_below_count(b, b.index(at), found.count)
            return b.guard(is_used, element, read, lambda: b.constant(0, element))

        room = (*shape[:axis], *build.shape(found.positions), *shape[axis + 1 :])
        return [build.counted(build.compute("compress", room, element, kept), found.count)]

    gradient = gradient_by_numbers


@register_relay_op
@irdl_op_definition
class RankRowsOp(RelayOp):
    """The number of rows that precede each row of a matrix in lexicographic order; equal rows have the same number.

    0.0 and -0.0 are equal. All NaN are equal and sort after all numbers. The native kernel compares each row with all
    others.

    Example:
    ```mlir
    %y = relay.rank_rows(%x) : (tensor<4x8xf32>) -> tensor<4xi32>
    ```

    """

    name = "relay.rank_rows"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": RankOf(0, 2, 2)}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a vector with one number for each row."""
        return tensor_type(facts.shape(0)[:1], i32)

    def evaluate(self, data: Array) -> Array:
        """Sorts by columns from the last to the first; the sorts are stable."""
        from xrelay.dialects.shared.numerics.sorting import stable_order

        order = np.arange(data.shape[0], dtype=np.int64)
        for column in reversed(range(data.shape[1])):
            order = order[stable_order(data[order, column])]
        ordered = data[order]
        both_nan = (ordered[1:] != ordered[1:]) & (ordered[:-1] != ordered[:-1])
        is_new = np.ones(data.shape[0], np.bool_)
        is_new[1:] = ((ordered[1:] != ordered[:-1]) & ~both_nan).any(axis=1)
        starts = np.flatnonzero(is_new)
        ranks = np.empty(data.shape[0], np.int32)
        ranks[order] = starts[np.cumsum(is_new) - 1]
        return ranks

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Folds over all rows for each row: the sign of the first difference, and the number of smaller rows."""
        from xdsl.dialects import arith
        from xdsl.dialects.builtin import IndexType

        from xrelay.dialects.topi.build import compute
        from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp

        data = build.operand(0)
        rows, columns = build.shape(data)

        def step(b: Body) -> list[SSAValue]:
            sign, number = b.accumulators
            (row,), (place,) = b.spatial, b.reduction
            other, column = b.quotient(place, columns), b.remainder(place, columns)
            zero = b.constant(0, i32)
            begins = b.add(CmpiOp(b.index(column), b.constant(0, IndexType()), "eq"))
            so_far = b.add(SelectOp(begins, zero, sign))
            here = _sign(b, b.read(data, other, column), b.read(data, row, column))
            is_decided = b.add(CmpiOp(so_far, zero, "ne"))
            sign = b.add(SelectOp(is_decided, so_far, here))
            ends = b.add(CmpiOp(b.index(column), b.size(columns - 1, IndexType()), "eq"))
            is_before = b.add(arith.AndIOp(ends, b.add(CmpiOp(sign, zero, "slt"))))
            return [sign, b.plus(number, b.add(SelectOp(is_before, b.constant(1, i32), zero)))]

        reduce: dict[str, Dim] = {"k": rows * columns}
        op = compute("rank_rows", {"i": rows}, [i32, i32], step, reduce=reduce, init=[0, 0])
        return [build.insert(op).results[1]]

    gradient = no_gradients


def _sign(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """Returns -1, 0 or 1 if `x` is less than, equal to or greater than `y`."""
    from xrelay.dialects.relay.computes.ordering import before

    greater = b.select(before(b, y, x), b.constant(1, i32), b.constant(0, i32))
    return b.select(before(b, x, y), b.constant(-1, i32), greater)
