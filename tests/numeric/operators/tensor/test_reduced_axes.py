"""The axes of reductions, in native code and the interpreter: the named axes, all axes, or all others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

Array = NDArray[Any]

TEXT = """
func.func @main(%x: tensor<2x3x4xf32>) -> !relay.incomplete {{
  %y = relay.{op}(%x) {{{axis}exclude = {exclude}, keepdims = {keepdims}}} : (tensor<2x3x4xf32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}}
"""
NUMPY = {"sum": np.sum, "max": np.max}
X = np.random.default_rng(0).integers(-9, 9, (2, 3, 4)).astype(np.float32)


@pytest.mark.grid(2)
@pytest.mark.parametrize("op", NUMPY)
@pytest.mark.parametrize("axis", [None, (), (1,), (0, -1), (0, 1, 2)], ids=str)
def test_axes(op: str, axis: tuple[int, ...] | None) -> None:
    for exclude, keepdims in product((False, True), repeat=2):
        named = {place % 3 for place in (range(3) if axis is None else axis)}
        reduced = tuple(place for place in range(3) if (place in named) != exclude)
        text = TEXT.format(
            op=op,
            axis="" if axis is None else f"axis = {list(axis)}, ",
            exclude=str(exclude).lower(),
            keepdims=str(keepdims).lower(),
        )
        module = parse_module(full_context(), text, "axes.mlir")
        infer_types(module)
        wanted = NUMPY[op](X, axis=reduced, keepdims=keepdims)
        for found in (xrelay.interpret(module, [X]), xrelay.compile(module, cache=False, threads=1).run([X])):
            np.testing.assert_array_equal(found[0], wanted)


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("op", "of_numpy"), [("sum", np.any), ("prod", np.all), ("max", np.any), ("min", np.all), ("mean", np.all)]
)
def test_truth_values(op: str, of_numpy: Callable[..., Array]) -> None:
    """Sums and products stay booleans; a mean is truncated to an integer, so it is true if all elements are."""
    x = relay.var("x", shape=(3, 2, 4), dtype="bool")
    module = relay.Module.from_expr(relay.op_function(op)(x, axis=(0, 2)))
    rng = np.random.default_rng(0)
    for data in (*(rng.random((5, 3, 2, 4)) < 0.5), np.zeros((3, 2, 4), bool), np.ones((3, 2, 4), bool)):
        wanted = of_numpy(data, axis=(0, 2))
        for found in (xrelay.interpret(module, [data]), xrelay.compile(module, cache=False, threads=1).run([data])):
            np.testing.assert_array_equal(found[0], wanted, strict=True)
