"""Ops that a pass has replaced are freed at once."""

from __future__ import annotations

import gc
import weakref

from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue

from xrelay.passes.infra.conversion import dispose
from xrelay.passes.infra.source import full_context, parse_module

NESTED = """
"test.op"() ({
^bb0(%x: f32):
  %y = "test.op"(%x) : (f32) -> f32
  "test.op"(%x, %y) ({
    "test.op"() [^bb1] : () -> ()
  ^bb1:
    "test.op"(%x, %y) : (f32, f32) -> ()
  }, {
  }) : (f32, f32) -> ()
}) : () -> ()
"""


def nested() -> ModuleOp:
    return parse_module(full_context(), NESTED, "test.mlir")


def test_what_ops_held_is_free_at_once() -> None:
    (holder,) = nested().ops
    ops = [op for op in holder.walk() if op is not holder]
    blocks = list(holder.walk_blocks())
    values: list[SSAValue] = [*(argument for block in blocks for argument in block.args)]
    values += [result for op in ops for result in op.results]
    counts = len(ops), len(blocks), len(values)
    uses = [use for value in (*values, *blocks) for use in value.uses]
    content = [weakref.ref(each) for each in (*blocks, *values, *uses)]
    del blocks, values, uses
    assert (*counts, len(content)) == (4, 3, 2, 11)
    gc.disable()
    try:
        dispose(holder.detach_region(0))
        assert not any(map(vars, ops))
        assert not any(each() for each in content)
    finally:
        gc.enable()
    assert not holder.regions


def test_an_empty_region_is_one() -> None:
    dispose(Region())


def test_depth_costs_no_stack() -> None:
    region = Region()
    for _ in range(5_000):
        block = Block()
        block.add_op(test.TestOp(regions=[region]))
        region = Region(block)
    dispose(region)
