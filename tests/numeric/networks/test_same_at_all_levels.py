"""`same` compares any two levels: relay, topi, loop, scheduled, planned, without blocks; and each kernel separately."""

from __future__ import annotations

from itertools import combinations

import pytest
from support.levels import STEPS, run_passes
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import xrelay
from xrelay.passes.infra.source import full_context, parse_module

ROWS, IMAGE, KERNEL = "tensor<3x10xf32>", "tensor<1x2x4x5xf32>", "tensor<2x2x3x3xf32>"
SOFTMAX = f"""
func.func @main(%x: {ROWS}) -> ({ROWS}, {ROWS}) {{
  %y = relay.nn.softmax(%x) : ({ROWS}) -> {ROWS}
  func.return %y, %x : {ROWS}, {ROWS}
}}
"""
CONVOLUTIONS = f"""
func.func @main(%x: {IMAGE}) -> {IMAGE} {{
  %w = relay.constant dense<0.5> : {KERNEL}
  %y = relay.nn.conv2d(%x, %w) {{padding = [1, 1, 1, 1]}} : ({IMAGE}, {KERNEL}) -> {IMAGE}
  %r = relay.nn.relu(%y) : ({IMAGE}) -> {IMAGE}
  %z = relay.nn.conv2d(%r, %w) {{padding = [1, 1, 1, 1]}} : ({IMAGE}, {KERNEL}) -> {IMAGE}
  %s = relay.add(%z, %x) : ({IMAGE}, {IMAGE}) -> {IMAGE}
  func.return %s : {IMAGE}
}}
"""
LEVELS = [
    *STEPS[:-2],
    ("loop with its memory planned", "loop-plan-memory"),
    ("loop without blocks", "loop-lower-blocks"),
    STEPS[-1],
]


def levels_of(text: str) -> list[tuple[str, ModuleOp]]:
    """The program at each level, from relay down."""
    module = parse_module(full_context(), text, "test.mlir")
    levels = [("relay", module.clone())]
    for name, passes in LEVELS:
        run_passes(module, passes)
        levels.append((name, module.clone()))
    return levels


@pytest.mark.parametrize("text", [SOFTMAX, CONVOLUTIONS], ids=["softmax", "convolutions"])
def test_any_two_levels_are_comparable_and_the_same(text: str):
    for (first, a), (second, b) in combinations(levels_of(text), 2):
        answer = xrelay.same(a, b)
        assert answer, f"{first} and {second}: {answer}"


def test_kernels_are_comparable_once_their_scratch_is_an_argument():
    levels = dict(levels_of(CONVOLUTIONS))
    topi, planned = levels["topi expanded"], levels["loop with its memory planned"]
    kernels = {op.sym_name.data: op for op in planned.ops if isinstance(op, FuncOp) and "loop.kernel" in op.attributes}
    assert any("loop.num_scratch" in kernel.attributes for kernel in kernels.values())
    for name in kernels:
        for level in ("loop with its memory planned", "loop without blocks"):
            assert xrelay.same(topi, levels[level], function=name)
