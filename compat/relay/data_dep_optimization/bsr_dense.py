"""Converts dense layers with mostly zero weights to block-sparse (BSR) weights."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.relay.data_dep_optimization.weights import (
    Params,
    SparseAnalysisResult,
    add_sparse_arrays,
    array_of,
    blocks_of,
    rewritten,
    weights_of,
    without,
)
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.passes.sparse.dense_to_sparse import dense_to_sparse
from xrelay.relay.passes.sparse.sparse_weights import why_no_sparse_dense


def process_params(
    expr: Expr, params: Params, block_size: tuple[int, int], sparsity_threshold: float
) -> SparseAnalysisResult:
    """Adds the BSR arrays of dense weights with at least a share `sparsity_threshold` of zeros to `params`.

    A weight is not converted if one of its layers cannot be sparse. Raises `InputError` if `params` lacks a weight, or
    if blocks do not divide it.
    """
    result = SparseAnalysisResult([], [])
    for name, layers in weights_of(expr, DenseOp):
        if any(why_no_sparse_dense(layer) is not None for layer in layers):
            continue
        weight = array_of(params, name)
        if 1.0 - np.count_nonzero(weight) / max(weight.size, 1) >= sparsity_threshold:
            result.weight_name.append(name)
            result.weight_shape.append(add_sparse_arrays(params, name, blocks_of(name, weight, block_size)))
    return result


def convert(
    func: Expr, params: Params, blocksize: tuple[int, int], sparsity_threshold: float
) -> tuple[Function, Params]:
    """Returns the function with `nn.sparse_dense` for dense layers whose weights have enough zeros, and `params`.

    `params` is changed in place, as in Relay: `w.data`, `w.indices` and `w.indptr` replace `w`. Raises `InputError` if
    it lacks a weight, or if blocks do not divide one.
    """
    found = process_params(func, params, blocksize, sparsity_threshold)
    new = rewritten(func, lambda module: dense_to_sparse(module, *found.options))
    return new, without(params, found.weight_name, new)
