"""Graph passes leave programs of lower levels unchanged, as their results are written to buffers."""

from __future__ import annotations

import pytest
from support.levels import run_passes

import xrelay

LOOPS = """
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {loop.num_outputs = 1 : i64} {
  %a = memref.alloc() : memref<8xf32>
  func.call @double(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  func.call @double(%a, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  func.return
}
func.func private @double(%x: memref<8xf32>, %y: memref<8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 8 {
    loop.block "double" (%v : spatial 8 = %i) reads(%x) writes(%y) {
      %0 = loop.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      loop.store %1, %y[%v] : memref<8xf32>
    }
  }
  func.return
}
"""
TOPI = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = topi.compute "double" [%i : 8] : tensor<8xf32> {
    %0 = topi.read %x[%i] : tensor<8xf32>
    %1 = arith.addf %0, %0 : f32
    topi.yield %1 : f32
  }
  func.return %r : tensor<8xf32>
}
"""
BLOCKS = """
func.func @main(%x: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %p = arith.cmpi eq, %n, %c0 : index
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  func.return
^bb2:
  %v = memref.load %x[%c0] : memref<8xf32>
  memref.store %v, %x[%n] : memref<8xf32>
  func.return
}
"""


@pytest.mark.parametrize("program", [LOOPS, TOPI, BLOCKS], ids=["loop", "topi", "blocks"])
@pytest.mark.parametrize(
    "name",
    [
        "relay-annotate-target",
        "relay-conv2d-to-sparse",
        "relay-fuse-ops",
        "relay-inline",
        "relay-partial-eval",
        "relay-simplify-fc-transpose",
        "relay-to-a-normal-form",
        "relay-to-cps",
    ],
)
def test_a_pass_of_the_graph_leaves_a_lower_level_alone(name: str, program: str):
    """Earlier versions removed calls and loops without results, or failed on regions of several blocks."""
    module = xrelay.parse(program)
    before = str(module)
    run_passes(module, name)
    assert str(module) == before
