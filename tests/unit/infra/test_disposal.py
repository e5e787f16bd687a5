"""What a pass has replaced is freed at once, and leaves no trace in what lives on."""

from __future__ import annotations

import gc
import weakref

from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Block, Operation, Region

from xrelay.passes.infra.disposal import dispose
from xrelay.passes.infra.source import full_context, parse_module

NESTED = """
%x = "test.op"() : () -> f32
"test.op"(%x) ({
  %y = "test.op"(%x) : (f32) -> f32
  "test.op"(%x, %y) ({
    "test.op"() [^bb1] : () -> ()
  ^bb1:
    "test.op"(%x, %y) : (f32, f32) -> ()
  }, {
  }) : (f32, f32) -> ()
}) : (f32) -> ()
"""


def nested() -> ModuleOp:
    return parse_module(full_context(), NESTED, "test.mlir")


def test_nothing_is_left_for_the_collector() -> None:
    outside, holder = nested().ops
    inside: list[weakref.ref[Operation]] = [weakref.ref(op) for op in holder.walk() if op is not holder]
    assert len(inside) == 4
    gc.disable()
    try:
        dispose(holder.detach_region(0))
        assert [op() for op in inside] == [None] * 4
    finally:
        gc.enable()
    assert outside.results[0].type == f32
    assert [use.operation for use in outside.results[0].uses] == [holder]


def test_an_empty_region_is_one() -> None:
    dispose(Region())


def test_depth_costs_no_stack() -> None:
    region = Region()
    for _ in range(5_000):
        block = Block()
        block.add_op(test.TestOp(regions=[region]))
        region = Region(block)
    dispose(region)
