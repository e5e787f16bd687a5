"""A failing kernel frees its allocations."""

from __future__ import annotations

import numpy as np
import pytest
from support.heap import COUNTED, REASON, kept_bytes
from support.native_kernels import NativeKernel

KERNEL = """
func.func @k(%i: memref<4xi32>, %y: memref<4xf32>) {
  %outer = memref.alloc() : memref<2097152xf32>
  loop.for "f" %f to 2097152 {
    %one = arith.constant 1.0 : f32
    loop.store %one, %outer[%f] : memref<2097152xf32>
  }
  loop.for "a" %a to 4 {
    %inner = memref.alloc() : memref<2097152xf32>
    loop.for "g" %g to 2097152 {
      %v = loop.load %outer[%g] : memref<2097152xf32>
      loop.store %v, %inner[%g] : memref<2097152xf32>
    }
    %place = loop.load %i[%a] : memref<4xi32>
    %zero = arith.constant 0 : i32
    %fine = arith.cmpi sge, %place, %zero : i32
    cf.assert %fine, "index out of range: below zero"
    %at = arith.index_cast %place : i32 to index
    %r = loop.load %inner[%at] : memref<2097152xf32>
    loop.store %r, %y[%a] : memref<4xf32>
  }
  func.return
}
"""
RUNS, BUFFER = 8, 8 << 20


@pytest.mark.skipif(not COUNTED, reason=REASON)
def test_buffers_of_a_failing_kernel_are_freed():
    kernel = NativeKernel(KERNEL)
    good, bad = np.array([0, 1, 2, 3], np.int32), np.array([0, 1, -1, 3], np.int32)
    out = np.zeros(4, np.float32)
    kernel(good, out)
    assert out.tolist() == [1, 1, 1, 1]

    def runs() -> None:
        for _ in range(RUNS):
            assert kernel.status(bad, out) == 2

    assert kept_bytes(runs, rounds=1) < BUFFER
