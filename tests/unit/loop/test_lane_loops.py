"""Loops of the interpreter that run in lanes: which ones, and that results and errors equal those one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest
from support.kernels.loop_kernels import kernel_of, parse
from xdsl.dialects.func import FuncOp

from xrelay.dialects.loop.base import memref_type
from xrelay.errors import InterpreterError
from xrelay.interpreters.loop import run_kernel
from xrelay.interpreters.loop.lane_loops import MAX_LANES, lane_loops


@dataclass(frozen=True)
class Case:
    """A kernel on a buffer %x, which writes a buffer %y, and the loops that run in lanes."""

    body: str
    x: str
    y: str
    lanes: dict[str, int]

    def kernel(self) -> FuncOp:
        """Parses the kernel."""
        text = self.body.replace("!x", self.x).replace("!y", self.y)
        return kernel_of(parse(f"func.func @f(%x: {self.x}, %y: {self.y}) {{ {text} func.return }}"))


LOCAL = """
loop.for "p" %p to 12 {
  %t = memref.alloc() : memref<3xf32, "local">
  loop.for "i" %i to 3 { %c = arith.constant 0.0 : f32 loop.store %c, %t[%i] : memref<3xf32, "local"> }
  loop.for "k" %k to 4 {
    loop.for "j" %j to 3 {
      %a = loop.load %t[%j] : memref<3xf32, "local">
      %b = loop.load %x[%p mod 6 + %k, %j] : !x
      %s = arith.addf %a, %b : f32
      loop.store %s, %t[%j] : memref<3xf32, "local">
    }
  }
  loop.for "o" %o to 3 {
    %r = loop.load %t[%o] : memref<3xf32, "local">
    loop.store %r, %y[%o + %p floordiv 6 * 3, %p mod 6] : !y
  }
}
"""

CONDITION = """
loop.for "i" %i to 4 {
  %c = arith.constant 2 : index
  %p = arith.cmpi ult, %i, %c : index
  loop.for "j" %j to 5 {
    %t = memref.alloc() : memref<1xf32, "local">
    %b = loop.load %x[%j] : !x
    %r = scf.if %p -> (f32) {
      loop.store %b, %t[0] : memref<1xf32, "local">
      %d = loop.load %t[0] : memref<1xf32, "local">
      %e = arith.addf %b, %d : f32
      scf.yield %e : f32
    } else { scf.yield %b : f32 }
    loop.store %r, %y[%i, %j] : !y
  }
}
"""

INNER = """
loop.for "i" %i to 4 {
  %c = arith.constant 2 : index
  %p = arith.cmpi ult, %i, %c : index
  scf.if %p {
    loop.for "j" %j to 5 { %b = loop.load %x[%j] : !x loop.store %b, %y[%i, %j] : !y }
  }
}
"""

COPY = 'loop.for "i" %i to {extent} {{ %b = loop.load %x[%i] : !x loop.store %b, %y[{index}] : !y }}'

CASES = {
    "local": Case(LOCAL, "memref<9x3xf32>", "memref<6x6xf32>", {"p": 12, "i": 3, "j": 3, "o": 3}),
    "condition": Case(CONDITION, "memref<5xf32>", "memref<4x5xf32>", {"i": 4, "j": 5}),
    "loop in condition": Case(INNER, "memref<5xf32>", "memref<4x5xf32>", {"j": 5}),
    "pieces": Case(
        COPY.format(extent=MAX_LANES + 9, index="%i"),
        f"memref<{MAX_LANES + 9}xf32>", f"memref<{MAX_LANES + 9}xf32>", {"i": MAX_LANES},
    ),
    "backwards": Case(COPY.format(extent=8, index="7 - %i"), "memref<8xf32>", "memref<8xf32>", {"i": 8}),
    "one element": Case(COPY.format(extent=8, index="0"), "memref<8xf32>", "memref<1xf32>", {}),
    "quotients": Case(COPY.format(extent=8, index="%i floordiv 2"), "memref<8xf32>", "memref<4xf32>", {}),
}  # fmt: skip


def result(kernel: FuncOp, *, lanes: bool, order: Literal["C", "F"] = "C") -> np.ndarray:
    """Runs a kernel on random numbers."""
    shapes = [memref_type(argument).get_shape() for argument in kernel.body.block.args]
    x, y = (np.zeros(shape, np.float32, order) for shape in shapes)
    x[...] = np.random.default_rng(0).standard_normal(x.shape)
    run_kernel(kernel, [x, y], lanes=lanes)
    assert y.any()
    return y


@pytest.mark.parametrize("name", CASES)
def test_chosen_loops(name: str):
    loops = lane_loops(CASES[name].kernel().body.block, {})
    assert {op.loop_name: count for op, count in loops.items()} == CASES[name].lanes


@pytest.mark.parametrize("name", CASES)
def test_results_equal_those_one_by_one(name: str):
    kernel = CASES[name].kernel()
    expected = result(kernel, lanes=False)
    np.testing.assert_array_equal(result(kernel, lanes=True), expected)
    np.testing.assert_array_equal(result(kernel, lanes=True, order="F"), expected)


@pytest.mark.parametrize("at_once", [2, 5, 15, 33])
def test_pieces_of_any_size(at_once: int, monkeypatch: pytest.MonkeyPatch):
    kernel = CASES["local"].kernel()
    expected = result(kernel, lanes=False)
    monkeypatch.setattr("xrelay.interpreters.loop.lane_loops.MAX_LANES", at_once)
    np.testing.assert_array_equal(result(kernel, lanes=True), expected)


OVERWRITTEN = """
func.func @f(%x: memref<6xf32>, %y: memref<6xf32>) {
  loop.for "i" %i to 6 {
    %a = loop.load %x[%i] : memref<6xf32>
    %c = arith.constant 1.0 : f32
    loop.store %c, %y[%i] : memref<6xf32>
    %b = loop.load %x[%i] : memref<6xf32>
    %s = arith.addf %a, %b : f32
    loop.store %s, %y[%i] : memref<6xf32>
  }
  func.return
}
"""


@pytest.mark.parametrize("lanes", [False, True])
def test_a_buffer_that_is_passed_twice(lanes: bool):
    """The first load is of the old element, the second of the stored one."""
    kernel, shared = kernel_of(parse(OVERWRITTEN)), np.arange(6, dtype=np.float32)
    run_kernel(kernel, [shared, shared], lanes=lanes)
    np.testing.assert_array_equal(shared, np.arange(1, 7))


GUARDED = """
loop.for "i" %i to 8 {
  %b = loop.load %x[%i] : !x
  %c = arith.constant 6 : index
  %p = arith.cmpi GUARD : index
  scf.if %p { loop.store %b, %y[INDEX] : !y }
}
"""
FOR_SOME, FOR_ALL = "ult, %i, %c", "eq, %c, %c"


@pytest.mark.parametrize("lanes", [False, True])
@pytest.mark.parametrize("guard", [FOR_SOME, FOR_ALL])
@pytest.mark.parametrize("index", ["%i + 3", "%i - 1", "(%i * 3) mod 20"])
def test_index_out_of_bounds(index: str, guard: str, lanes: bool):
    case = Case(GUARDED.replace("GUARD", guard).replace("INDEX", index), "memref<8xf32>", "memref<8xf32>", {})
    with pytest.raises(InterpreterError, match=r"'loop\.store' is out of the bounds"):
        run_kernel(case.kernel(), [np.zeros(8, np.float32), np.zeros(8, np.float32)], lanes=lanes)
