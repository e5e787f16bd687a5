"""Kernels of computes that tests write, run at every lower level and as native code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue

import xrelay
from support.examples import FACTOR, THOROUGH, chance
from support.levels import STEPS, outputs, run_passes
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.dtypes import element_type
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.passes.infra.verify import verify_module

Array = NDArray[Any]
TOPI_STEPS = STEPS[2:]
TARGETS = ["cpu -mcpu=x86-64", "cpu"] if FACTOR > 1 else ["cpu"]


def kernel_module(arrays: Sequence[Array], build: Callable[[list[SSAValue]], list[Operation]]) -> ModuleOp:
    """A kernel that `build` writes, with the results of its last op, and the graph that calls it."""
    types = [TensorType(element_type(array.dtype), list(array.shape)) for array in arrays]
    block = Block(arg_types=types)
    ops = build(list(block.args))
    block.add_ops([*ops, func.ReturnOp(*ops[-1].results)])
    results = [result.type for result in ops[-1].results]
    kernel = func.FuncOp("k", (types, results), Region(block), visibility="private")
    kernel.attributes[PRIMITIVE] = UnitAttr()
    graph = Block(arg_types=types)
    call = func.CallOp("k", list(graph.args), results)
    graph.add_ops([call, func.ReturnOp(*call.results)])
    module = ModuleOp([kernel, func.FuncOp("main", (types, results), Region(graph))])
    verify_module(module)
    return module


def check_kernel(module: ModuleOp, arrays: Sequence[Array], expected: Array) -> None:
    """Checks that the levels and native code of all `TARGETS` compute exactly `expected`.

    `make test` checks the first and last level, and one in `THOROUGH` of the others, by the program's text.
    """
    step, number = module.clone(), chance(str(module))
    np.testing.assert_array_equal(outputs(step, arrays)[0], expected, "topi")
    for level, passes in TOPI_STEPS:
        run_passes(step, passes)
        number += 1
        if number % THOROUGH == 0 or level == TOPI_STEPS[-1][0]:
            verify_module(step)
            found = outputs(step, arrays)[0]
            np.testing.assert_array_equal(found, expected, level)
            assert found.dtype == expected.dtype
    for target in TARGETS:
        model = xrelay.compile(module, target=target, threads=2, cache=False)
        np.testing.assert_array_equal(model(*arrays)[0], expected, target)


def check_refused(module: ModuleOp, arrays: Sequence[Array], message: str) -> None:
    """Checks that every level and native code fail with this message, which names the value."""
    step = module.clone()
    for passes in ("", *(passes for _, passes in TOPI_STEPS)):
        if passes:
            run_passes(step, passes)
        with pytest.raises(InterpreterError, match=message):
            outputs(step, arrays)
    for target in TARGETS:
        model = xrelay.compile(module, target=target, threads=2, cache=False)
        with pytest.raises(ExecutionError, match=f"kernel 'k' failed: {message}"):
            model(*arrays)
