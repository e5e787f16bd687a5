"""Evaluators of `relay.nn.matmul` and `relay.nn.batch_matmul`."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.accumulators import accumulator
from xrelay.dialects.relay.ops.nn_matmul import BatchMatmulOp, MatmulOp, MatrixProductOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.interpreters.relay.registry import evaluates


@evaluates(MatmulOp, BatchMatmulOp)
def evaluate_product(op: MatrixProductOp, first: Array, second: Array) -> Array:
    """Uses `np.matmul` in the type of the accumulators."""
    out_dtype = numpy_dtype(element_type_of(op.results[0].type))
    left, right = (
        (array.swapaxes(-1, -2) if flip else array).astype(accumulator(out_dtype), copy=False)
        for array, flip in zip((first, second), op.transposed, strict=True)
    )
    return np.asarray(np.matmul(left, right)).astype(out_dtype, copy=False)
