"""Texts at the topi and the loop level that access memory out of bounds."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay.errors import ExecutionError, XRelayError

LOOP = """
func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {{loop.num_outputs = 1 : i64, loop.kernel}} {{
  %two = arith.constant 2 : index
  %far = arith.constant 100000000 : index
  loop.for "i" %i to 4 {{
    loop.block "b" (%v : spatial 4 = %i) reads(%x) writes(%y) {{
      %c = arith.cmpi ult, %v, %two : index
      %z = scf.if %c -> (f32) {{
        %a = loop.load %x[%v] : memref<4xf32>
        scf.yield %a : f32
      }} else {{
        {computed}
        %b = loop.load %x[{index}] : memref<4xf32>
        scf.yield %b : f32
      }}
      loop.store %z, %y[%v] : memref<4xf32>
    }}
  }}
  func.return
}}
"""
TOPI = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %y = func.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}}
func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {{relay.primitive}} {{
  %y = topi.compute "c" [%i : 4] : tensor<4xf32> {{
    %two = arith.constant 2 : index
    %p = arith.cmpi ult, %i, %two : index
    %v = topi.guard(%p) -> f32 {{
      %a = topi.read %x[{index}] : tensor<4xf32>
      topi.yield %a : f32
    }} else {{
      %z = arith.constant 0.0 : f32
      topi.yield %z : f32
    }}
    topi.yield %v : f32
  }}
  func.return %y : tensor<4xf32>
}}
"""
DATA = np.arange(4, dtype=np.float32)


def _ran(text: str) -> list[float]:
    return xrelay.compile(xrelay.parse(text), cache=False).run([DATA])[0].tolist()


@pytest.mark.parametrize("index", ["%v", "%v - 2", "3 - %v"])
def test_reads_under_conditions(index: str) -> None:
    assert _ran(LOOP.format(index=index, computed=""))[:2] == [0, 1]


@pytest.mark.parametrize(
    ("index", "computed"),
    [
        ("%v + 100000000", ""),
        ("%v - 4", ""),
        ("%v + 1", ""),
        ("%k", "%k = arith.addi %v, %far : index"),
        ("%k", "%k = arith.muli %v, %far : index"),
        ("%k", "%k = arith.subi %two, %far : index"),
        ("%k", "%l = loop.load %x[%v] : memref<4xf32>\n %n = arith.fptosi %l : f32 to i64\n"
         "%m = arith.index_cast %n : i64 to index\n %k = arith.muli %m, %far : index"),
    ],
)  # fmt: skip
def test_reads_outside_of_a_buffer_fail(index: str, computed: str) -> None:
    with pytest.raises(ExecutionError, match="index out of range"):
        _ran(LOOP.format(index=index, computed=computed))


def test_indices_that_wrap_around_are_refused() -> None:
    computed = "%l = arith.constant 6917529027641081856 : index\n %k = arith.muli %v, %l : index"
    with pytest.raises(XRelayError, match="keep indices below 2"):
        _ran(LOOP.format(index="%k", computed=computed))


def test_a_weight_fills_its_buffer() -> None:
    text = LOOP.format(index="%v", computed="").replace("private @k(%x: memref<4xf32>, %y", "@main(%y")
    text = text.replace("%two =", "%x = WEIGHT : memref<4xf32>\n %two =")
    right = text.replace("WEIGHT", "loop.weight dense<[4.0, 5.0, 6.0, 7.0]> : tensor<4xf32>")
    assert xrelay.compile(xrelay.parse(right), cache=False).run([])[0].tolist() == [4, 5, 6, 7]
    for data in ("dense<1.0> : tensor<3xf32>", "dense<1.0> : tensor<4xf16>"):
        with pytest.raises(XRelayError, match="its buffer is tensor<4xf32>"):
            xrelay.compile(xrelay.parse(text.replace("WEIGHT", f"loop.weight {data}")), cache=False)


def test_reads_under_guards_of_topi() -> None:
    assert _ran(TOPI.format(index="%i + 2")) == [2, 3, 0, 0]
    with pytest.raises(ExecutionError, match="index out of range"):
        _ran(TOPI.format(index="%i + 100000000"))
