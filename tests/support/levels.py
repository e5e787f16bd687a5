"""Lowers a program level by level, and compares its results at each level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms import get_all_passes

from support.examples import THOROUGH, chance
from support.op_cases import OpCase
from xrelay.api.comparison import compare_outputs
from xrelay.api.compile import compile
from xrelay.api.programs import ModuleProgram
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.types.infer_type import infer_types

UNKNOWN = "!relay.incomplete"

STEPS = [
    ("relay fused", "relay-infer-type,relay-name-extents,relay-fuse-ops,relay-outline-fused"),
    ("topi", "convert-relay-to-topi"),
    ("topi inlined", "topi-inline-injective"),
    ("topi expanded", "topi-expand-named,topi-inline-injective"),
    ("loop", "convert-topi-to-loop"),
    ("loop scheduled", "loop-assign-schedules,loop-apply-schedules"),
    ("loop without blocks", "loop-plan-memory,loop-lower-blocks"),
    ("loop without conditions in tiles", "loop-split-conditions"),
]
"""The name of each level, and the passes that lower the previous level to it."""


def graph_of(case: OpCase) -> ModuleOp:
    """The case without the kernel mark, so that fusion forms the kernels as in any model."""
    module = case.module()
    for function in module.ops:
        del function.attributes["relay.primitive"]
    return module


def run_passes(module: ModuleOp, passes: str) -> None:
    context = full_context()
    run_pipeline(module, parse_passes(passes, {**get_all_passes(), **pass_thunks()}), context=context)


def outputs(module: ModuleOp, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    return list(ModuleProgram(module, "main").run([array.copy() for array in inputs]))


def program(signature: str, results: str, body: str) -> ModuleOp:
    """A module of an `@main` whose ops are written with `U` for inferred types."""
    outputs = ", ".join(["U"] * len(results.split(",")))
    text = f"func.func @main({signature}) -> ({outputs}) {{\n{body}\nfunc.return {results} : {outputs}\n}}"
    module = parse_module(full_context(), text.replace("U", UNKNOWN), "program.mlir")
    infer_types(module)
    return module


def assert_same(found: Sequence[NDArray[Any]], expected: Sequence[NDArray[Any]], level: str, rtol: float) -> None:
    names = [f"result{number}" for number in range(len(expected))]
    comparison = compare_outputs(names, found, expected, levels=(level, "relay"), rtol=rtol, atol=rtol)
    assert comparison, str(comparison)


def check_levels(module: ModuleOp, inputs: Sequence[NDArray[Any]], rtol: float = 1e-5, *, every: bool = False) -> None:
    """Checks that the levels with an interpreter compute the same as relay; `module` is lowered in place.

    Without `every`, `make test` checks the last level and one in `THOROUGH` of the others, by the program's text.
    """
    expected, number = outputs(module, inputs), chance(str(module))
    for level, passes in STEPS:
        run_passes(module, passes)
        number += 1
        if every or number % THOROUGH == 0 or level == STEPS[-1][0]:
            verify_module(module)
            assert_same(outputs(module, inputs), expected, level, rtol)


def check_native(module: ModuleOp, inputs: Sequence[NDArray[Any]], rtol: float = 1e-5, *, exact: bool = False) -> None:
    """Checks that native code computes the same as relay; `exact` forbids approximations, as products of parts are."""
    found = compile(module, cache=False, threads=2, exact=exact).run(list(inputs))
    assert_same(found, outputs(module, inputs), "native", rtol)


def check_exact(module: ModuleOp, inputs: Sequence[NDArray[Any]], *expected: NDArray[Any]) -> None:
    """Checks that the interpreter, native code and the levels compute exactly `expected`; `module` is lowered in
    place."""
    for found, wanted in zip(outputs(module, inputs), expected, strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    check_native(module, inputs, rtol=0)
    check_levels(module, inputs, rtol=0)


def check_refused(module: ModuleOp, inputs: Sequence[NDArray[Any]], message: str, *, node: str | None = None) -> None:
    """Checks that native code, the interpreter and every level fail with this message; `module` is lowered in place.

    The error of native code also contains `node`.
    """
    with pytest.raises(ExecutionError, match=node) as failure:
        compile(module, threads=2, cache=False).run(list(inputs))
    assert message in str(failure.value)
    for _, passes in [("relay", ""), *STEPS]:
        run_passes(module, passes)
        with pytest.raises(InterpreterError) as refusal:
            outputs(module, inputs)
        assert message in str(refusal.value)
