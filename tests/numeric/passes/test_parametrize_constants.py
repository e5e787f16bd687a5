"""Kernels that differ in numbers alone compute the same after they have become one."""

from __future__ import annotations

import numpy as np
from support.levels import assert_same, outputs, run_passes
from xdsl.dialects.func import FuncOp

from xrelay.api.compile import compile
from xrelay.passes.infra.source import full_context, parse_module

NUMBERS = (2, -3, 0, 1 << 20)
"""Zero points; half of each is a scale, and the last sum wraps."""


def program() -> str:
    """Returns a program that multiplies integers, subtracts a zero point, scales, and limits the result by zero."""
    steps: list[str] = []
    for k, number in enumerate(NUMBERS):
        steps.append(f"""
            %z{k} = relay.constant dense<{number}> : tensor<i32>
            %s{k} = relay.constant dense<{number / 2}> : tensor<f32>
            %p{k} = relay.nn.dense(%x, %w) {{out_dtype = i32}} : (tensor<3x8xi32>, tensor<5x8xi32>) -> tensor<3x5xi32>
            %m{k} = relay.multiply(%p{k}, %z{k}) : (tensor<3x5xi32>, tensor<i32>) -> tensor<3x5xi32>
            %d{k} = relay.subtract(%m{k}, %z{k}) : (tensor<3x5xi32>, tensor<i32>) -> tensor<3x5xi32>
            %f{k} = relay.cast(%d{k}) {{dtype = f32}} : (tensor<3x5xi32>) -> tensor<3x5xf32>
            %g{k} = relay.multiply(%f{k}, %s{k}) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
            %y{k} = relay.nn.relu(%g{k}) : (tensor<3x5xf32>) -> tensor<3x5xf32>""")
    results = ", ".join(f"%y{k}" for k in range(len(NUMBERS)))
    types = ", ".join(["tensor<3x5xf32>"] * len(NUMBERS))
    return f"""func.func @main(%x: tensor<3x8xi32>, %w: tensor<5x8xi32>) -> ({types}) {{
        {"".join(steps)}
        func.return {results} : {types}
    }}"""


def test_kernels_with_numbers_as_arguments_compute_the_same() -> None:
    module = parse_module(full_context(), program(), "test")
    random = np.random.default_rng(0)
    inputs = [random.integers(-99, 99, shape, dtype=np.int32) for shape in ((3, 8), (5, 8))]
    wanted = outputs(module, inputs)
    # Level 3 would compute the equal products once, in a kernel of their own.
    native = compile(module.clone(), cache=False, threads=2, opt_level=2)
    assert len(native.artifact.metadata.kernels) == 1
    assert_same(native.run(inputs), wanted, "native", 1e-6)
    run_passes(module, "relay-fuse-ops,relay-outline-fused,relay-parametrize-constants")
    assert sum(isinstance(op, FuncOp) for op in module.ops) == 2
    assert_same(outputs(module, inputs), wanted, "relay", 0)
    run_passes(module, "convert-relay-to-topi")
    assert_same(outputs(module, inputs), wanted, "topi", 0)
    run_passes(module, "topi-expand-named,convert-topi-to-loop")
    assert_same(outputs(module, inputs), wanted, "loop", 0)
