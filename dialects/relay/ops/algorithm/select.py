"""Selections whose size depends on the data: `relay.argwhere`, `unique`, `dyn.strided_slice`, `compress`.

`relay.rank_rows` orders whole rows. ONNX needs it and `relay.compress`, Relay lacks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerType, TupleType, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.shape_rules import kept_by_slice
from xrelay.dialects.relay.gradients.numbered_elements import gradient_by_numbers
from xrelay.dialects.relay.op_definition import (
    ANY,
    AnyDim,
    Array,
    AxisOf,
    Body,
    BooleanElements,
    Dim,
    Facts,
    IndexLike,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    RankOf,
    RelayOp,
    Tensors,
    TopiBuilder,
    bool_property,
    int_property,
    maximum,
    minimum,
    no_gradients,
    register_relay_op,
    string_property,
    tensor_type,
)
from xrelay.errors import InterpreterError, LoweringError

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineExpr


ONE: Dim = 1


@register_relay_op
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
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW

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

    def evaluate(self, condition: Array) -> Array:
        """Finds row-major indices, and their coordinates. `np.argwhere` does not return rows without columns."""
        rows = np.flatnonzero(condition)
        columns = np.unravel_index(rows, condition.shape) if condition.ndim else ()
        return np.array(columns, np.int32).reshape(condition.ndim, rows.size).T.copy()

    def compute(self, build: TopiBuilder) -> Tensors:
        """Finds the positions of nonzero elements and converts them to indices."""
        from xdsl.dialects import arith

        from xrelay.dialects.topi import PositionsOp

        data = build.operand(0)
        shape = build.shape(data)
        mask = build.compute("is_not_zero", shape, i1, lambda b: b.convert(b.read(data, *b.spatial), i1))
        found = build.insert(PositionsOp(mask))

        def index(b: Body) -> SSAValue:
            row, column = b.spatial
            position = b.read_index(found.positions, row)
            result = b.constant(0, i32)
            inner: Dim = 1
            for axis in reversed(range(len(shape))):
                extent = shape[axis]
                value = b.add(arith.IndexCastOp(b.index(b.remainder(b.quotient(position, inner), extent)), i32))
                here = b.compare(b.index(column), "eq", axis)
                result = b.select(here, value, result)
                inner = inner * extent
            return result

        rows = build.shape(found.positions)[0]
        return [build.counted(build.compute("argwhere", {"i": rows, "j": len(shape)}, i32, index), found.count)]

    gradient = no_gradients


@register_relay_op
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
    CONSTRAINTS = {"C1": RankOf(0, 1, 1)}
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()

    is_sorted = bool_property(True)
    return_counts = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the tuple type of the vectors and the number."""
        shape, element = facts.operand(0)
        places = tensor_type(shape, i32)
        fields = [tensor_type(shape, element), places, places, tensor_type((1,), i32)]
        return TupleType((*fields, places) if self.return_counts.value.data else tuple(fields))

    def evaluate(self, data: Array) -> tuple[Array, ...]:
        """Uses a stable sort, after which equal elements are adjacent and in order of occurrence."""
        from xrelay.dialects.shared.numerics import stable_order

        length = data.size
        order = stable_order(data)
        ordered = data[order]
        is_new = np.ones(length, np.bool_)
        both_nan = (ordered[1:] != ordered[1:]) & (ordered[:-1] != ordered[:-1])
        is_new[1:] = (ordered[1:] != ordered[:-1]) & ~both_nan
        starts = np.flatnonzero(is_new)
        rank = np.cumsum(is_new) - 1
        first = order[starts].astype(np.int32)
        chosen = np.arange(starts.size) if self.is_sorted.value.data else np.argsort(first)
        inverse = np.empty(length, np.int32)
        inverse[order] = np.argsort(chosen)[rank]
        lists = ordered[starts], first, np.diff(np.append(starts, length)).astype(np.int32)
        values, places, counts = (np.pad(each[chosen], (0, length - starts.size)) for each in lists)
        results = values, places, inverse, np.array([starts.size], np.int32), counts
        return results if self.return_counts.value.data else results[:4]

    def compute(self, build: TopiBuilder) -> Tensors:
        """Finds runs of equal elements in the sorted data; sorts the runs for the order of first occurrence."""
        from xrelay.dialects.topi import PositionsOp, SortOp

        data = build.operand(0)
        length, element = build.shape(data)[0], build.element(data)
        by_value = build.insert(SortOp(data, 0))
        is_new = build.compute("is_new", {"i": length}, i1, lambda b: _begins_run(b, by_value.values, length))
        runs = build.insert(PositionsOp(is_new))
        lists = _Lists(build, runs.count, length)
        values = lists.of("unique", element, lambda b, j: b.read(by_value.values, b.read_index(runs.positions, j)))
        first = lists.of("unique_first", i64, lambda b, j: b.read(by_value.indices, b.read_index(runs.positions, j)))
        counts = lists.of("unique_counts", i64, lambda b, j: lists.run_length(b, runs.positions, j))
        # Sorting the sort order yields the sorted position of each element; its run is the last run that begins at or
        # before that.
        went = build.insert(SortOp(by_value.indices, 0)).indices
        behind = lists.number_at_most(runs.positions, went)
        inverse = lists.all("unique_inverse", lambda b, j: b.minus(b.read(behind, j), 1))
        if not self.is_sorted.value.data:
            keys = lists.of("unique_met", i64, lambda b, j, places=first: b.read(places, j), unused=length)
            met = build.insert(SortOp(keys, 0)).indices
            values, first, counts = (lists.picked(each, met) for each in (values, first, counts))
            place = build.insert(SortOp(met, 0)).indices
            inverse = lists.all("unique_inverse_met", lambda b, j, old=inverse: b.read(place, b.read_index(old, j)))
        number = build.compute("num_unique", {"i": 1}, i32, lambda b: b.convert(b.read(runs.count), i32))
        results = [values, lists.as_i32(first), lists.as_i32(inverse), number]
        return [*results, lists.as_i32(counts)] if self.return_counts.value.data else results


@register_relay_op
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
    CONSTRAINTS = {"C4": OneOf("slice_mode", ("end", "size"))}
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW

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
            cut = [_taken_count(facts, axis, *pair) for axis, pair in enumerate(zip(shape, lists[1], strict=False))]
        else:
            rows = enumerate(zip(shape, *lists, strict=False))
            cut = [_kept_count(facts, axis, extent, *numbers) for axis, (extent, *numbers) in rows]
        return tensor_type((*cut, *shape[known:]), element)

    def evaluate(self, data: Array, begin: Array, end: Array, strides: Array) -> Array:
        """Slices as in numpy, with nonzero steps; with `slice_mode` "size", all indices have to be in range."""
        numbers = list(zip(begin.tolist(), end.tolist(), strides.tolist(), strict=True))
        if self.slice_mode.data == "size":
            return self._sized(data, numbers)
        if not strides.all():
            raise InterpreterError(f"a stride of {strides.tolist()} is 0", help="use steps other than 0")
        for axis, bounds in enumerate(numbers):
            data = np.take(data, np.arange(*slice(*bounds).indices(data.shape[axis])), axis)
        return data

    def _sized(self, data: Array, numbers: Sequence[tuple[int, int, int]]) -> Array:
        """Takes elements by the first index, the number of elements and the step for each axis."""
        for axis, (first, size, step) in enumerate(numbers):
            extent, last = data.shape[axis], first + (size - 1) * step
            if size < 0 or (size > 0 and not (0 <= first < extent and 0 <= last < extent)):
                message = f"[{self.name} C3] axis {axis} of extent {extent} has not {size} elements from {first} on"
                raise InterpreterError(f"{message} in steps of {step}")
            data = np.take(data, first + step * np.arange(size), axis)
        return data

    def compute(self, build: TopiBuilder) -> Tensors:
        """Reads with a start and step along each sliced axis; the first and last indices are checked."""
        from xrelay.dialects.relay.computes.movement import moved
        from xrelay.dialects.upstream.arith_extras import IndexCastOp
        from xrelay.index_algebra.linear_form import times

        if self.slice_mode.data != "size":
            raise LoweringError("its ends are bounds, not numbers of elements; run relay-name-extents first")
        build.require_no_new_extents()
        strides, shape = build.operand(3), build.shape(build.operand(0))
        (number,) = build.known(strides, "the numbers of a slice")
        places = [self._checked_places(build, axis, shape[axis], build.result_shape[axis]) for axis in range(number)]

        def place(b: Body, axis: int, index: AffineExpr) -> IndexLike:
            if axis >= len(places):
                return index
            first = b.read(places[axis], 0)
            step = b.add(IndexCastOp(b.convert(b.read(strides, axis), i64), IndexType()))
            return times(index, b.as_index(step)) + b.as_index(first)

        return moved(build, "dyn_strided_slice", place)

    def _checked_places(self, build: TopiBuilder, axis: int, extent: Dim, count: Dim) -> SSAValue:
        """Returns the first index, last index and magnitude of the step along an axis, checked; 0 if unused."""

        def fill(b: Body) -> SSAValue:
            first, step = (b.convert(b.read(build.operand(index), axis), i64) for index in (1, 3))
            last = b.plus(first, b.times(step, b.size(count - 1, i64)))
            some, several = b.size(minimum(1, count), i64), b.size(minimum(1, maximum(0, count - 1)), i64)
            numbers = [b.times(first, some), b.times(last, some), b.times(b.absolute(step), several)]
            return b.checked_index(b.choose(b.spatial[0], numbers), maximum(1, extent))

        return build.compute("slice_places", {"k": 3}, IndexType(), fill)

    gradient = gradient_by_numbers


def _kept_count(facts: Facts, axis: int, extent: Dim, begin: Dim, end: Dim, stride: Dim) -> Dim:
    """Returns the number of elements of an axis that the slice keeps; checks C2."""
    facts.require(stride != 0, "C2", "a stride is 0")
    if isinstance(extent, int) and isinstance(begin, int) and isinstance(end, int) and isinstance(stride, int):
        return len(range(*slice(begin, end, stride).indices(extent)))
    kept = kept_by_slice(extent, begin, end, stride)
    return facts.new_extent("k", axis, at_most=extent) if kept in (None, ANY) else kept


def _taken_count(facts: Facts, axis: int, extent: Dim, size: Dim) -> Dim:
    """Returns the number of elements taken along an axis; checks C3."""
    if isinstance(size, AnyDim):
        return facts.new_extent("k", axis, at_most=extent)
    facts.require_at_least(size, 0, "C3", "elements taken of an axis")
    if minimum(extent, size) != size:
        facts.require_at_least(extent, size, "C3", "elements of the axis, and those taken")
    return size


def _begins_run(b: Body, ordered: SSAValue, length: Dim) -> SSAValue:
    """Returns whether the current element of a sorted vector is the first of a run of equal elements."""
    from xrelay.dialects.relay.computes.ordering import before

    (i,) = b.spatial
    has_previous, first = b.in_bounds([i - 1], [length]), b.constant(1, i1)
    return b.guard(has_previous, i1, lambda: before(b, b.read(ordered, i - 1), b.read(ordered, i)), lambda: first)


class _Lists:
    """Builds vectors of `length` elements; the first `count`, known at run time, are used."""

    def __init__(self, build: TopiBuilder, count: SSAValue, length: Dim):
        self._build, self._count, self._length = build, count, length

    def all(self, label: str, fill: Callable[[Body, AffineExpr], SSAValue], element: Attribute = i64) -> SSAValue:
        """Builds a vector whose elements are all used; `fill` returns the element at an index."""
        return self._build.compute(label, {"i": self._length}, element, lambda b: fill(b, b.spatial[0]))

    def of(
        self, label: str, element: Attribute, fill: Callable[[Body, AffineExpr], SSAValue], *, unused: Dim = 0
    ) -> SSAValue:
        """Builds a vector with the number `unused` in unused elements."""

        def chosen(b: Body, j: AffineExpr) -> SSAValue:
            is_used = self._is_used(b, b.index(j))
            return b.guard(is_used, element, lambda: fill(b, j), lambda: b.size(unused, element))

        return self.all(label, chosen, element)

    def picked(self, values: SSAValue, order: SSAValue) -> SSAValue:
        """Permutes `values`."""
        element = self._build.element(values)
        return self.all("unique_picked", lambda b, j: b.read(values, b.read_index(order, j)), element)

    def as_i32(self, values: SSAValue) -> SSAValue:
        """Converts a vector to i32, as in Relay."""
        return self.all("places", lambda b, j: b.convert(b.read(values, j), i32), i32)

    def run_length(self, b: Body, starts: SSAValue, j: AffineExpr) -> SSAValue:
        """Returns the length of run `j`, up to the start of the next run or the end."""
        following = self._is_used(b, b.plus(b.index(j), 1))
        end = b.guard(following, i64, lambda: b.read(starts, j + 1), lambda: b.size(self._length, i64))
        return b.minus(end, b.read(starts, j))

    def number_at_most(self, ascending: SSAValue, bounds: SSAValue) -> SSAValue:
        """Returns the number of used elements of the ascending vector that are at most each of `bounds`."""
        from xrelay.dialects.relay.computes.ordering import number_by_halving

        def is_left(b: Body, place: AffineExpr) -> SSAValue:
            is_at_most = b.compare(b.read(ascending, place), "le", b.read(bounds, *b.spatial))
            return b.logical_and(self._is_used(b, b.index(place)), is_at_most)

        return number_by_halving(self._build, "at_most", [self._length], self._length, is_left)

    def _is_used(self, b: Body, j: SSAValue) -> SSAValue:
        from xrelay.dialects.relay.computes.ordering import is_below_count

        return is_below_count(b, j, self._count)


@register_relay_op
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
    CONSTRAINTS = {"C1": AxisOf("axis"), "C2": RankOf(1, 1, 1), "C3": BooleanElements(1)}
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW

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

    def compute(self, build: TopiBuilder) -> Tensors:
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
            return b.guard(is_used, element, read, 0)

        room = (*shape[:axis], *build.shape(found.positions), *shape[axis + 1 :])
        return [build.counted(build.compute("compress", room, element, kept), found.count)]

    gradient = gradient_by_numbers


@register_relay_op
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
    CONSTRAINTS = {"C1": RankOf(0, 2, 2)}
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a vector with one number for each row."""
        return tensor_type(facts.shape(0)[:1], i32)

    def evaluate(self, data: Array) -> Array:
        """Sorts by columns from the last to the first; the sorts are stable."""
        from xrelay.dialects.shared.numerics import stable_order

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

    def compute(self, build: TopiBuilder) -> Tensors:
        """Folds over all rows for each row: the sign of the first difference, and the number of smaller rows."""
        from xdsl.dialects.builtin import IndexType

        from xrelay.dialects.topi.build import compute

        data = build.operand(0)
        rows, columns = build.shape(data)

        def step(b: Body) -> list[SSAValue]:
            sign, number = b.accumulators
            (row,), (place,) = b.spatial, b.reduction
            other, column = b.quotient(place, columns), b.remainder(place, columns)
            zero = b.constant(0, i32)
            begins = b.compare(b.index(column), "eq", 0)
            so_far = b.select(begins, zero, sign)
            here = _sign(b, b.read(data, other, column), b.read(data, row, column))
            is_decided = b.compare(so_far, "ne", zero)
            sign = b.select(is_decided, so_far, here)
            ends = b.compare(b.index(column), "eq", b.size(columns - 1, IndexType()))
            is_before = b.logical_and(ends, b.compare(sign, "lt", zero))
            return [sign, b.plus(number, b.select(is_before, 1, zero))]

        reduce = {"k": rows * columns}
        op = compute("rank_rows", {"i": rows}, [i32, i32], step, reduce=reduce, init=[0, 0])
        return [build.insert(op).results[1]]

    gradient = no_gradients


def _sign(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """Returns -1, 0 or 1 if `x` is less than, equal to or greater than `y`."""
    from xrelay.dialects.relay.computes.ordering import before

    greater = b.select(before(b, y, x), b.constant(1, i32), 0)
    return b.select(before(b, x, y), -1, greater)
