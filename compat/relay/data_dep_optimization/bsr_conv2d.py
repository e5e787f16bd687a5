"""Converts convolutions with mostly zero weights to block-sparse (BSR) weights."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.source import full_context
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
from xrelay.relay.passes.sparse.conv2d_to_sparse import conv2d_to_sparse
from xrelay.relay.passes.sparse.conv2d_to_sparse2 import RelayConv2dToSparse2Pass
from xrelay.relay.passes.sparse.sparse_weights import weight_matrix, why_no_sparse_conv2d


def process_params(
    expr: Expr,
    params: Params,
    block_size: tuple[int, int],
    sparsity_threshold: float,
    layout: str,
    kernel_size: int,
) -> SparseAnalysisResult:
    """Adds the BSR arrays of convolution weights with a large enough share of zeros to `params`.

    For 1x1 kernels all zeros count, for larger ones those outside of stored blocks. For 1x1 kernels and blocks with one
    column, the block values have no column axis. A weight is not converted if one of its convolutions cannot be sparse.
    Raises `InputError` if `params` lacks a weight, or if blocks do not divide it.
    """
    result = SparseAnalysisResult([], [])
    for name, layers in weights_of(expr, Conv2DOp):
        if any(why_no_sparse_conv2d(layer, layout, kernel_size) is not None for layer in layers):
            continue
        weight = array_of(params, name)
        data, indices, indptr = blocks_of(name, weight_matrix(weight, layout), block_size)
        used = np.count_nonzero(weight) if kernel_size == 1 else data.size
        if 1.0 - used / max(weight.size, 1) < sparsity_threshold:
            continue
        if kernel_size == 1 and block_size[1] == 1:
            data = data[..., 0]
        result.weight_name.append(name)
        result.weight_shape.append(add_sparse_arrays(params, name, (data, indices, indptr)))
    return result


def convert(
    func: Expr,
    params: Params,
    blocksize: tuple[int, int],
    sparsity_threshold: float,
    layout: str = "NHWC",
    kernel_size: int = 1,
) -> tuple[Function, Params]:
    """Returns the function with `nn.sparse_conv2d` for convolutions whose weights have enough zeros, and `params`.

    `params` is changed in place, as in Relay: `w.data`, `w.indices` and `w.indptr` replace `w`. Raises `InputError` if
    it lacks a weight, or if blocks do not divide one.
    """
    found = process_params(func, params, blocksize, sparsity_threshold, layout, kernel_size)
    new = rewritten(func, lambda module: conv2d_to_sparse(module, *found.options, layout, kernel_size))
    return new, without(params, found.weight_name, new)


def convert2(
    func: Expr,
    params: Params,
    blocksize: tuple[int, int],
    sparsity_threshold: float,
    layout: str,
    kernel_size: int,
) -> tuple[Function, Params]:
    """The same as `convert` for convolutions with constant weights; returns `params` unchanged."""
    sparse = RelayConv2dToSparse2Pass(layout, kernel_size, tuple(blocksize), sparsity_threshold)
    return rewritten(func, lambda module: run_pipeline(module, [sparse], context=full_context())), params
