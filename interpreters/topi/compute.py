"""`topi.compute` and `topi.scan` on whole index spaces.

Without reduction the body is evaluated once, on arrays over the index space. A fold with regroupable operations (`acc +
value`, `max(acc, value)`, …) is evaluated on arrays over chunks of the reduction, a sum of products with `einsum`, so
float sums are rounded in another order than in the program, as in compiled code. A selecting fold, such as argmax,
skips points that are not selected. Any other fold and a scan run their points sequentially, each on all points of the
other axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.topi import ComputeOp, ScanOp
from xrelay.dialects.topi.compute import combinations, dependencies, independent_of_accumulators, selection
from xrelay.interpreters.scalar import is_scalar_op, numpy_dtype
from xrelay.interpreters.topi.body import Array, BodyEvaluator, Box
from xrelay.interpreters.topi.selection import SelectingFold

_REGROUPED: dict[str, np.ufunc] = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.mulf": np.multiply,
    "arith.muli": np.multiply,
    "arith.maximumf": np.maximum,
    "arith.maxsi": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.minsi": np.minimum,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
}
"""Unsigned operations are missing, because scalars are signless and stored in signed arrays."""


CHUNK_ELEMENTS = 1 << 23
"""The maximum number of elements of an intermediate array of a reduction; larger reductions are split into chunks."""


def evaluate_compute(op: ComputeOp, tensors: dict[SSAValue, Array]) -> list[Array]:
    """Returns the results of a compute; `tensors` holds its inputs."""
    dtypes = [numpy_dtype(result.type.element_type) for result in op.tensors]
    if 0 in op.known_spatial:
        return [np.zeros(op.known_spatial, dtype) for dtype in dtypes]
    if not op.known_reduction:
        values = _elements(op, tensors)
    else:
        combiners = _combiners(op)
        values = (
            _fold_in_chunks(op, combiners, tensors)
            if combiners is not None
            else _fold_by_selecting(op, tensors) or _fold_by_points(op, tensors)
        )
    shape = op.known_spatial + (1,) * len(op.known_reduction)
    results = [np.broadcast_to(value, shape).reshape(op.known_spatial) for value in values]
    # Results are new arrays: broadcasts and views are copied.
    return [np.array(result, dtype) for result, dtype in zip(results, dtypes, strict=True)]


def _ranges(op: ComputeOp | ScanOp) -> dict[SSAValue, tuple[int, int]]:
    ranges: dict[SSAValue, tuple[int, int]] = {
        v: (0, n) for v, n in zip(op.spatial_vars, op.known_spatial, strict=True)
    }
    if isinstance(op, ComputeOp):
        ranges |= {v: (0, n) for v, n in zip(op.reduce_vars, op.known_reduction, strict=True)}
    return ranges


def _elements(op: ComputeOp, tensors: dict[SSAValue, Array]) -> list[Array]:
    body = BodyEvaluator(Box(_ranges(op)), tensors)
    body.run(op.body.block.ops)
    return [body.value(value) for value in op.yielded]


def _initial(op: ComputeOp) -> list[Array]:
    rank = len(op.known_spatial) + len(op.known_reduction)
    return [np.full((1,) * rank, attr.value.data, numpy_dtype(attr.type)) for attr in op.init]


def _fold_by_points(op: ComputeOp, tensors: dict[SSAValue, Array]) -> list[Array]:
    accumulators = _initial(op)
    ranges = _ranges(op)
    for point in product(*(range(extent) for extent in op.known_reduction)):
        here = {v: (k, k + 1) for v, k in zip(op.reduce_vars, point, strict=True)}
        body = BodyEvaluator(Box(ranges | here), tensors)
        body.values.update(zip(op.accumulators, accumulators, strict=True))
        body.run(op.body.block.ops)
        accumulators = [body.value(value) for value in op.yielded]
    return accumulators


@dataclass(frozen=True)
class _Combiner:
    """`accumulator = function(accumulator, value)`, where `value` is the product of `factors` if given."""

    function: np.ufunc
    value: SSAValue
    factors: tuple[SSAValue, SSAValue] | None


def _combiners(op: ComputeOp) -> list[_Combiner] | None:
    """Returns the combiner of each accumulator; None if any is not a regroupable operation on independent values."""
    found = combinations(op)
    if found is None or not all(each.operation in _REGROUPED for each in found):
        return None
    functions = [(_REGROUPED[each.operation], each.value) for each in found]
    return [_Combiner(f, value, _factors(value) if f is np.add else None) for f, value in functions]


def _factors(value: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """Returns the factors of `value` if it is a product without other uses in a type that einsum supports."""
    in_numpy = isinstance(value.type, Float32Type | Float64Type)
    if isinstance(value, OpResult) and value.op.name == "arith.mulf" and in_numpy and value.has_one_use():
        a, b = value.op.operands
        return a, b
    return None


def _fold_in_chunks(op: ComputeOp, combiners: Sequence[_Combiner], tensors: dict[SSAValue, Array]) -> list[Array]:
    accumulators = _initial(op)
    skipped = {c.value for c in combiners if c.factors}
    ops = [inner for inner in independent_of_accumulators(op)[0] if inner.results[0] not in skipped]
    num_spatial = len(op.known_spatial)
    reduce_axes = tuple(range(num_spatial, num_spatial + len(op.known_reduction)))
    for box in _chunks(op, ops):
        body = BodyEvaluator(box, tensors)
        body.run(ops)
        for i, combiner in enumerate(combiners):
            part = _reduced(combiner, body, box, reduce_axes)
            accumulators[i] = combiner.function(accumulators[i], part)
    return accumulators


def _fold_by_selecting(op: ComputeOp, tensors: dict[SSAValue, Array]) -> list[Array] | None:
    """Evaluates a selecting fold in chunks; returns None for other folds."""
    chosen = selection(op)
    independent, ops = independent_of_accumulators(op)
    if chosen is None or 0 in op.known_reduction or not all(is_scalar_op(inner) for inner in ops):
        return None
    needed = dict.fromkeys(operand for inner in ops for operand in inner.operands)
    values = [value for value in (*needed, *chosen.candidates) if value not in op.accumulators]
    made = {result for inner in ops for result in inner.results}
    ops = [inner for inner in ops if inner.results[0] not in op.yielded]
    rows = prod(op.known_spatial)
    first: dict[SSAValue, Array] = {
        a: np.full(rows, attr.value.data, numpy_dtype(attr.type))
        for a, attr in zip(op.accumulators, op.init, strict=True)
    }
    fold = SelectingFold(chosen, ops, first)
    for box in _chunks(op, independent):
        body = BodyEvaluator(box, tensors)
        body.run(independent)
        points = {v: np.broadcast_to(body.value(v), box.shape()).reshape(rows, -1) for v in values if v not in made}
        fold.run(points)
    shape = op.known_spatial + (1,) * len(op.known_reduction)
    return [array.reshape(shape) for array in fold.accumulators.values()]


def _reduced(combiner: _Combiner, body: BodyEvaluator, box: Box, reduce_axes: tuple[int, ...]) -> Array:
    """Combines the values of one chunk along the reduction axes, which keep extent 1."""
    if combiner.factors is not None:
        a, b = (body.value(factor) for factor in combiner.factors)
        return _sum_of_products(a, b, box, reduce_axes)
    value = np.asarray(body.value(combiner.value))
    value = value.reshape((1,) * (box.rank - value.ndim) + value.shape)
    shape = box.shape()
    full = tuple(shape[axis] if axis in reduce_axes else n for axis, n in enumerate(value.shape))
    return combiner.function.reduce(np.broadcast_to(value, full), axis=reduce_axes, keepdims=True, dtype=value.dtype)


def _sum_of_products(a: Array, b: Array, box: Box, reduce_axes: tuple[int, ...]) -> Array:
    """Computes Σ a * b over the reduction axes; unit axes are omitted so that `einsum` recognises a matrix product."""
    shape = box.shape()
    operands: list[Array] = []
    labels: list[list[int]] = []
    whole = [array.reshape((1,) * (box.rank - array.ndim) + array.shape) for array in (a, b)]
    for array, other in zip(whole, reversed(whole), strict=True):
        for axis in reduce_axes:
            if array.shape[axis] < other.shape[axis] and array.size * other.shape[axis] <= CHUNK_ELEMENTS:
                # Otherwise numpy factors the operand out of the sum, which changes the result if a product is infinite.
                array = np.repeat(array, other.shape[axis], axis)
        kept = [axis for axis, n in enumerate(array.shape) if n != 1]
        operands.append(array.reshape([array.shape[axis] for axis in kept]))
        labels.append(kept)
    used = set(labels[0]) | set(labels[1])
    out = [axis for axis in sorted(used) if axis not in reduce_axes]
    total = np.einsum(operands[0], labels[0], operands[1], labels[1], out, optimize=True)
    # The sum is repeated for each value of a reduction variable that neither factor depends on.
    repeats = prod(shape[axis] for axis in reduce_axes if axis not in used)
    total = np.asarray(total * a.dtype.type(repeats), a.dtype)
    return total.reshape([shape[axis] if axis in out else 1 for axis in range(box.rank)])


def _chunks(op: ComputeOp, ops: Sequence[Operation]) -> Iterator[Box]:
    """Yields chunks of the reduction along its first variable with at most `CHUNK_ELEMENTS` elements in each array."""
    ranges, axes = _ranges(op), dependencies(op)
    first = op.reduce_vars[0]
    largest = 1
    for inner in ops:
        used = [v for v in axes[inner.results[0]] if v in ranges and v is not first]
        largest = max(largest, prod(ranges[v][1] for v in used))
    step = max(1, CHUNK_ELEMENTS // largest)
    for start in range(0, ranges[first][1], step):
        yield Box(ranges | {first: (start, min(start + step, ranges[first][1]))})


def evaluate_scan(op: ScanOp, tensors: dict[SSAValue, Array]) -> list[Array]:
    """Returns the results of a scan of `tensors`: runs the body along the axis, on all points of the other axes."""
    ranges, count = _ranges(op), op.known_spatial[op.along]
    accumulators: list[Array] = [np.asarray(attr.value.data, numpy_dtype(attr.type)) for attr in op.init]
    results: list[Array] = [np.empty(op.known_spatial, numpy_dtype(element)) for element in op.element_types]
    if 0 in op.known_spatial:
        return results
    for point in reversed(range(count)) if op.reverse is not None else range(count):
        body = BodyEvaluator(Box(ranges | {op.scan_var: (point, point + 1)}), tensors)
        body.values.update(zip(op.accumulators, accumulators, strict=True))
        body.run(op.body.block.ops)
        before, accumulators = accumulators, [body.value(value) for value in op.yielded]
        at = (slice(None),) * op.along + (slice(point, point + 1),)
        for result, value in zip(results, before if op.exclusive is not None else accumulators, strict=True):
            result[at] = value
    return results
