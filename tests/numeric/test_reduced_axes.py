"""Which axes reductions reduce, natively and interpreted: those named, all, or the others."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import xrelay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

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
