"""`topi.scan` on whole index spaces: with `accumulate` for simple operations, else step by step."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.topi import ScanOp
from xrelay.dialects.topi.folds import combinations, independent_of_accumulators
from xrelay.interpreters.scalar_meaning import numpy_dtype
from xrelay.interpreters.topi.body import BodyEvaluator
from xrelay.interpreters.topi.indices import Array, Box
from xrelay.interpreters.topi.regroup import function_of


def evaluate_scan(op: ScanOp, tensors: dict[SSAValue, Array]) -> list[Array]:
    """Returns the results of a scan; `tensors` holds its inputs. Both methods round like sequential execution."""
    dtypes = [numpy_dtype(element) for element in op.element_types]
    if 0 in op.known_spatial:
        return [np.zeros(op.known_spatial, dtype) for dtype in dtypes]
    results = _accumulated(op, tensors) or _by_points(op, tensors)
    return [np.array(result, dtype) for result, dtype in zip(results, dtypes, strict=True)]


def _ranges(op: ScanOp) -> dict[SSAValue, tuple[int, int]]:
    return {variable: (0, extent) for variable, extent in zip(op.spatial_vars, op.known_spatial, strict=True)}


def _accumulated(op: ScanOp, tensors: dict[SSAValue, Array]) -> list[Array] | None:
    """Computes the results with `accumulate`; None if the body is not one operation on accumulator and value."""
    combined = combinations(op)
    if combined is None:
        return None
    body = BodyEvaluator(Box(_ranges(op)), tensors)
    body.run(independent_of_accumulators(op)[0])
    results: list[Array] = []
    for combination, first in zip(combined, op.init, strict=True):
        values = np.broadcast_to(body.value(combination.value), op.known_spatial)
        values = np.flip(values, op.along) if op.reverse is not None else values
        initial = np.full_like(values.take([0], op.along), first.value.data)
        sums = function_of(combination.operation).accumulate(np.concatenate([initial, values], op.along), op.along)
        count = op.known_spatial[op.along]
        kept = sums.take(range(count) if op.exclusive is not None else range(1, count + 1), op.along)
        results.append(np.flip(kept, op.along) if op.reverse is not None else kept)
    return results


def _by_points(op: ScanOp, tensors: dict[SSAValue, Array]) -> list[Array]:
    """Runs the body for each point along the axis in order, on all points of the other axes."""
    ranges, count = _ranges(op), op.known_spatial[op.along]
    accumulators: list[Array] = [np.asarray(attr.value.data, numpy_dtype(attr.type)) for attr in op.init]
    results: list[Array] = [np.empty(op.known_spatial, numpy_dtype(attr.type)) for attr in op.init]
    for point in reversed(range(count)) if op.reverse is not None else range(count):
        body = BodyEvaluator(Box(ranges | {op.scan_var: (point, point + 1)}), tensors)
        body.values.update(zip(op.accumulators, accumulators, strict=True))
        body.run(op.body.block.ops)
        before, accumulators = accumulators, [body.value(value) for value in op.yielded]
        at = (slice(None),) * op.along + (slice(point, point + 1),)
        for result, value in zip(results, before if op.exclusive is not None else accumulators, strict=True):
            result[at] = value
    return results
