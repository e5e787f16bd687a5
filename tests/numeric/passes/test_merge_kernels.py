"""Kernels that differ in extents alone compute the same after they are merged."""

from __future__ import annotations

import numpy as np
from support.levels import assert_same, outputs, run_passes
from xdsl.dialects.func import FuncOp

from xrelay.api.compile import compile
from xrelay.passes.infra.source import full_context, parse_module

LENGTHS = (1, *range(3, 35), 64)


def program() -> str:
    """Returns a program that normalises and sums rows of each length."""
    types = [f"tensor<2x{n}xf32>" for n in LENGTHS]
    body: list[str] = []
    for k, type in enumerate(types):
        body.append(f"%y{k} = relay.nn.softmax(%x{k}) {{axis = -1}} : ({type}) -> {type}")
        body.append(f"%z{k} = relay.sum(%y{k}) {{axis = [0]}} : ({type}) -> tensor<{LENGTHS[k]}xf32>")
    parameters = ", ".join(f"%x{k}: {type}" for k, type in enumerate(types))
    results = [f"%y{k}" for k in range(len(types))] + [f"%z{k}" for k in range(len(types))]
    result_types = ", ".join([*types, *(f"tensor<{n}xf32>" for n in LENGTHS)])
    lines = "\n".join([*body, f"func.return {', '.join(results)} : {result_types}"])
    return f"func.func @main({parameters}) -> ({result_types}) {{\n{lines}\n}}"


def test_merged_kernels_compute_the_same() -> None:
    module = parse_module(full_context(), program(), "test")
    random = np.random.default_rng(0)
    inputs = [random.standard_normal((2, n)).astype(np.float32) for n in LENGTHS]
    wanted = outputs(module, inputs)
    native = compile(module.clone(), cache=False, threads=2)
    # Kernels of the length 1 stay: it is no extent that varies.
    assert len(native.artifact.metadata.kernels) == 4
    assert_same(native.run(inputs), wanted, "native", 1e-5)
    run_passes(module, "relay-fuse-ops,relay-outline-fused,relay-merge-kernels")
    assert sum(isinstance(op, FuncOp) for op in module.ops) == 5
    assert_same(outputs(module, inputs), wanted, "relay", 1e-5)
    run_passes(module, "convert-relay-to-topi")
    assert_same(outputs(module, inputs), wanted, "topi", 1e-5)
    run_passes(module, "topi-expand-named,convert-topi-to-loop")
    assert_same(outputs(module, inputs), wanted, "loop", 1e-5)
