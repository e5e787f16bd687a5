"""The programs of the passes' own text tests compute the same numbers after the passes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.pass_checks import apply
from support.random_programs import dtype_of, extents, random_array
from xdsl.dialects.func import FuncOp

from xrelay.dialects.shared.types import is_static
from xrelay.interpreters.relay import run_relay
from xrelay.passes.catalogue.registry import FOLDERS
from xrelay.passes.infra.source import full_context, parse_module

TEXTS = Path(__file__).parents[2] / "lit"
MORE_TEXTS = {
    "combine_parallel_dense_to_batch": "combine_parallel_dense",
    "fold_scale_axis_any": "fold_scale_axis",
    "fold_scale_axis_blocks_any": "fold_scale_axis_blocks",
    "fold_scale_axis_sums_any": "fold_scale_axis_sums",
}
"""Cases whose text has another name."""
PASSES = {
    "simplify_expr": "relay-simplify-expr",
    "simplify_expr_chains": "relay-simplify-expr",
    "simplify_expr_binomials": "relay-simplify-expr",
    "simplify_expr_post_alter_op": "relay-simplify-expr-post-alter-op",
    "fold_explicit_padding": "relay-fold-explicit-padding",
    "flatten_atrous_conv": "relay-flatten-atrous-conv",
    "fold_scale_axis": "relay-fold-scale-axis",
    "fold_scale_axis_any": "relay-fold-scale-axis{weights=any}",
    "fold_scale_axis_blocks": "relay-fold-scale-axis",
    "fold_scale_axis_blocks_any": "relay-fold-scale-axis{weights=any}",
    "fold_scale_axis_sums": "relay-fold-scale-axis",
    "fold_scale_axis_sums_any": "relay-fold-scale-axis{weights=any}",
    "canonicalize_cast": "relay-canonicalize-cast",
    "div_to_mul": "relay-div-to-mul",
    "fast_math": "relay-fast-math",
    "pad_channels": "relay-pad-channels",
    "combine_parallel_conv2d": "relay-combine-parallel-conv2d{min-num-branches=2}",
    "combine_parallel_dense": "relay-combine-parallel-dense{min-num-branches=2 to-batch=false}",
    "combine_parallel_dense_to_batch": "relay-combine-parallel-dense{min-num-branches=2}",
    "simplify_batch_matmul": "relay-simplify-batch-matmul",
    "fuse_block_dequantize": "qnn-fuse-block-dequantize",
    "combine_parallel_batch_matmul": "relay-combine-parallel-batch-matmul{min-num-branches=2}",
}


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", PASSES)
def test_programs_keep_their_numbers(name: str) -> None:
    folder = TEXTS / FOLDERS[PASSES[name].partition("{")[0]]
    text = (folder / f"{MORE_TEXTS.get(name, name)}.mlir").read_text()
    module = parse_module(full_context(), text, f"{name}.mlir")
    changed = apply(module, PASSES[name])
    changed.verify()
    for function in module.ops:
        if isinstance(function, FuncOp) and all(is_static(each.type) for each in function.args):
            rng = np.random.default_rng(3)
            inputs = [np.abs(random_array(rng, extents(each), dtype_of(each))) for each in function.args]
            name = function.sym_name.data
            before, after = (run_relay(each, inputs, name) for each in (module, changed))
            for old, new in zip(before, after, strict=True):
                assert (old.dtype, old.shape) == (new.dtype, new.shape)
                np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-5)
