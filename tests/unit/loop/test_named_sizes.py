"""The interpreter of the loop level derives the sizes of names from its inputs."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import InputError, InterpreterError
from xrelay.interpreters.loop import run_loop_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop.memory.plan_memory import plan_memory

TEXT = """
func.func private @double(%a: memref<?x8xf32> {loop.extents = array<i64: 0>},
    %b: memref<?x8xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to %n {
    loop.for "j" %j to 8 {
      %v = loop.load %a[%i, %j] : memref<?x8xf32>
      %w = arith.addf %v, %v : f32
      loop.store %w, %b[%i, %j] : memref<?x8xf32>
    }
  }
  func.return
}
func.func @main(%x: memref<?x8xf32> {loop.dims = #relay.dims<n>}, %z: memref<?xf32> {loop.dims = #relay.dims<2 * n>},
    %y: memref<?x8xf32> {loop.dims = #relay.dims<n>}, %n: index {xrelay.dim = "n"})
    attributes {loop.num_outputs = 1 : i64} {
  %most = arith.constant 5 : index
  %ok = arith.cmpi sge, %most, %n : index
  cf.assert %ok, "[relay.double C1] rows: 5 >= n" {relay.requires = #relay.requirements<5 >= n "C1 rows">}
  %s = memref.alloc(%n) : memref<?x8xf32>
  %t = memref.alloc(%n) : memref<?x8xf32>
  func.call @double(%x, %s, %n) : (memref<?x8xf32>, memref<?x8xf32>, index) -> ()
  func.call @double(%s, %t, %n) : (memref<?x8xf32>, memref<?x8xf32>, index) -> ()
  func.call @double(%t, %y, %n) : (memref<?x8xf32>, memref<?x8xf32>, index) -> ()
  func.return
}
"""


def inputs(n: int) -> list[np.ndarray]:
    return [np.random.default_rng(n).random((n, 8), np.float32), np.zeros(2 * n, np.float32)]


@pytest.fixture(params=[False, True], ids=["allocations", "planned"])
def module(request: pytest.FixtureRequest) -> ModuleOp:
    module = parse_module(full_context(), TEXT, "named.mlir")
    if request.param:
        plan_memory(module)
    return module


def test_the_sizes_of_names_follow_from_the_inputs(module: ModuleOp) -> None:
    for n in (0, 1, 5):
        (y,) = run_loop_module(module, "main", inputs(n))
        np.testing.assert_array_equal(y, 8 * inputs(n)[0])


def test_assertions_tell_both_sides(module: ModuleOp) -> None:
    with pytest.raises(InterpreterError, match=r"\[relay.double C1\] rows: 5 >= n is 5 >= 6 \(n = 6\)"):
        run_loop_module(module, "main", inputs(6))


def test_inputs_agree_on_the_sizes(module: ModuleOp) -> None:
    with pytest.raises(InputError, match=r"input 1 of @main has shape \[6\], must be \(2 \* n\) \(n = 2\)"):
        run_loop_module(module, "main", [inputs(2)[0], inputs(3)[1]])


def test_a_kernel_alone_takes_its_extents_from_its_buffers(module: ModuleOp) -> None:
    (y,) = run_loop_module(module, "double", inputs(3)[:1])
    np.testing.assert_array_equal(y, 2 * inputs(3)[0])
