"""`relay.nn.contrib_dense_pack`."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.accumulators import accumulator
from xrelay.dialects.relay.meaning.layouts import to_plain
from xrelay.dialects.relay.ops.nn_dense_pack import ContribDensePackOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.interpreters.relay.registry import evaluates


@evaluates(ContribDensePackOp)
def evaluate_dense_pack(op: ContribDensePackOp, data: Array, weight: Array) -> Array:
    """Multiplies by the unpacked weight."""
    out_dtype = numpy_dtype(element_type_of(op.result.type))
    compute_dtype = accumulator(out_dtype)
    rows = to_plain(weight, op.layout, "NC").astype(compute_dtype, copy=False)
    return np.asarray(np.matmul(data.astype(compute_dtype, copy=False), rows.T)).astype(out_dtype, copy=False)
