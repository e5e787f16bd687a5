"""The work of `loop-split-conditions`: each comparison is checked once, also if a cut of its loop decides it."""

from __future__ import annotations

from unittest.mock import patch

from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop import split_conditions
from xrelay.passes.loop.index_conditions import Limits, limits_of

TEXT = """
func.func private @rows(%X: memref<16x16xf32>, %Y: memref<16x16xf32>) attributes {loop.kernel} {
  %one = arith.constant 1 : index
  %most = arith.constant 14 : index
  loop.for "y" %y to 16 {
    %row = arith.cmpi sge, %y, %one : index
    %low = arith.cmpi slt, %y, %most : index
    loop.for "w" %w to 14 unrolled {
      %left = arith.cmpi sge, %w, %one : index
      %here = arith.andi %row, %left : i1
      %both = arith.andi %here, %low : i1
      scf.if %both {
        %x = loop.load %X[%y, %w] : memref<16x16xf32>
        loop.store %x, %Y[%y, %w] : memref<16x16xf32>
      }
    }
  }
  func.return
}
"""


def asked(text: str) -> list[CmpiOp]:
    """The comparisons whose limits are computed."""
    tests: list[CmpiOp] = []

    def noted(test: CmpiOp) -> Limits | None:
        tests.append(test)
        return limits_of(test)

    module = parse_module(full_context(), text, "test")
    with patch.object(split_conditions, "limits_of", noted):
        split_conditions.LoopSplitConditionsPass().apply(full_context(), module)
    return tests


def test_a_comparison_is_asked_once() -> None:
    tests = asked(TEXT.replace("sge, %w", "sge, %y"))
    assert len(tests) == len(set(tests)) >= 3


def test_a_comparison_that_a_cut_decides_is_asked_once() -> None:
    tests = asked(TEXT)
    assert [tests.count(test) for test in set(tests)] == [1, 1, 1]


def test_nothing_is_asked_without_unrolled_loops() -> None:
    assert asked(TEXT.replace(" unrolled", "")) == []
