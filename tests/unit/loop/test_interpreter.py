"""The interpreter of the loop level: order, guards, errors, graphs of kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, memref, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.parser import Parser

from xrelay.dialects.loop import LOOP
from xrelay.errors import InputError, InterpreterError
from xrelay.interpreters.loop import run_kernel, run_loop_module


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (builtin.Builtin, arith.Arith, scf.Scf, memref.MemRef, func.Func, LOOP):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def run(text: str, arguments: Sequence[np.ndarray | int], *, lanes: bool = True) -> None:
    kernel = next(op for op in parse(text).ops if isinstance(op, func.FuncOp))
    run_kernel(kernel, arguments, lanes=lanes)


GATHER = """
func.func private @gather(%X: memref<4xf32>, %I: memref<3xi64>, %Y: memref<3xf32>) {
  loop.for "i" %i to 3 {
    loop.block "gather" (%v : spatial 3 = %i) reads(%I, %X) writes(%Y) {
      %p = loop.load %I[%v] : memref<3xi64>
      %q = arith.index_cast %p : i64 to index
      %x = loop.load %X[%q] : memref<4xf32>
      loop.store %x, %Y[%v] : memref<3xf32>
    }
  }
  func.return
}
"""


@pytest.mark.parametrize("lanes", [True, False])
def test_computed_indices_are_checked(lanes: bool):
    table, result = np.arange(4, dtype=np.float32), np.zeros(3, np.float32)
    run(GATHER, [table, np.array([3, 0, 1]), result], lanes=lanes)
    np.testing.assert_array_equal(result, [3, 0, 1])
    with pytest.raises(InterpreterError, match=r"'loop.load' is out of the bounds of its buffer: index 0 is .*4,"):
        run(GATHER, [table, np.array([3, 4, 1]), result], lanes=lanes)


SHIFT = """
func.func private @shift(%X: memref<5xf32>, %Y: memref<5xf32>) {
  loop.for "i" %i to 4 {
    loop.block "shift" (%v : spatial 4 = %i) reads(%X) writes(%Y) {
      %x = loop.load %X[%v] : memref<5xf32>
      loop.store %x, %Y[%v + 1] : memref<5xf32>
    }
  }
  func.return
}
"""


def test_arguments_that_share_memory_are_run_in_the_order_of_the_text():
    """In place, each iteration reads the result of the previous one."""
    shared = np.array([1, 2, 3, 4, 5], np.float32)
    run(SHIFT, [shared, shared])
    np.testing.assert_array_equal(shared, [1, 1, 1, 1, 1])


def test_dynamic_extents_and_domains():
    text = """
    func.func private @scale(%X: memref<?xf32>, %n: index, %Y: memref<?xf32>) {
      loop.for "i" %i to %n {
        loop.block "scale" (%v : spatial ? = %i) reads(%X) writes(%Y) {
          %x = loop.load %X[%v] : memref<?xf32>
          %y = arith.addf %x, %x : f32
          loop.store %y, %Y[%v] : memref<?xf32>
        }
      }
      func.return
    }
    """
    result = np.zeros(5, np.float32)
    run(text, [np.arange(5, dtype=np.float32), 3, result])
    np.testing.assert_array_equal(result, [0, 2, 4, 0, 0])


def test_reading_what_was_never_written_shows():
    text = """
    func.func private @k(%Y: memref<f32>) {
      %T = memref.alloc() : memref<f32, "local">
      loop.block "copy" () reads(%T) writes(%Y) {
        %t = loop.load %T[] : memref<f32, "local">
        loop.store %t, %Y[] : memref<f32>
      }
      func.return
    }
    """
    result = np.zeros((), np.float32)
    run(text, [result])
    assert np.isnan(result)


def test_wrong_arguments():
    with pytest.raises(InputError, match="@shift takes 2 arguments, got 1"):
        run(SHIFT, [np.zeros(5, np.float32)])
    with pytest.raises(InputError, match=r"argument 0 of @shift must be float32\[5\], got float64\[5\]"):
        run(SHIFT, [np.zeros(5), np.zeros(5, np.float32)])


GRAPH = """
func.func private @add(%a: memref<4xf32>, %b: memref<4xf32>, %y: memref<4xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 4 {
    loop.block "add" (%v : spatial 4 = %i) reads(%a, %b) writes(%y) {
      %p = loop.load %a[%v] : memref<4xf32>
      %q = loop.load %b[%v] : memref<4xf32>
      %s = arith.addf %p, %q : f32
      loop.store %s, %y[%v] : memref<4xf32>
    }
  }
  func.return
}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {loop.num_outputs = 1 : i64} {
  %w = loop.weight "w" : memref<4xf32>
  %t = memref.alloc() : memref<4xf32>
  func.call @add(%x, %w, %t) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  func.call @add(%t, %t, %y) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
"""


def resolve(weight: object) -> np.ndarray:
    assert weight == StringAttr("w")
    return np.ones(4, np.float32)


def test_graph_of_kernels():
    (result,) = run_loop_module(parse(GRAPH), "main", [np.arange(4, dtype=np.float32)], resolve)
    np.testing.assert_array_equal(result, [2, 4, 6, 8])


def test_planned_graph_gets_its_arena():
    planned = GRAPH.replace(
        "%y: memref<4xf32>) attributes {loop.num", "%y: memref<4xf32>, %r: memref<64xi8>) attributes {loop.num"
    ).replace(
        "%t = memref.alloc() : memref<4xf32>",
        "%c = arith.constant 0 : index\n  %t = memref.view %r[%c][] : memref<64xi8> to memref<4xf32>",
    )
    (result,) = run_loop_module(parse(planned), "main", [np.arange(4, dtype=np.float32)], resolve)
    np.testing.assert_array_equal(result, [2, 4, 6, 8])


def test_errors_of_graphs():
    module = parse(GRAPH)
    with pytest.raises(InterpreterError, match='weight "w" has no data'):
        run_loop_module(module, "main", [np.zeros(4, np.float32)])
    with pytest.raises(InputError, match=r"input 0 of @main must be float32\[4\], got float32\[3\]"):
        run_loop_module(module, "main", [np.zeros(3, np.float32)], resolve)
    with pytest.raises(InputError, match="@main takes 1 inputs, got 2"):
        run_loop_module(module, "main", [np.zeros(4, np.float32)] * 2, resolve)
    with pytest.raises(InterpreterError, match="no function @other with a body"):
        run_loop_module(module, "other", [])
    with pytest.raises(InterpreterError, match=r"weight \"w\" must be float32\[4\], got float64\[4\]"):
        run_loop_module(module, "main", [np.zeros(4, np.float32)], lambda weight: np.zeros(4))
