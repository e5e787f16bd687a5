"""The operations and bytes of a kernel, as texts over its extents."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64

from xrelay.dialects.shared.attribute_names import SCHEDULE_CYCLES, SCHEDULE_REASON
from xrelay.lowering.kernel_work import kernel_work
from xrelay.lowering.topi_to_loop.schedule_kernels import LoopScheduleKernelsPass
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.runtime.dim_text import evaluate

SUM = """
func.func private @sum(%x: memref<8x16xf32>, %i: memref<8xi64>, %y: memref<8xf32>) attributes {loop.kernel} {
  loop.for "i" %i0 to 8 {
    loop.for "k" %k0 to 16 {
      loop.block "sum" (%vi : spatial 8 = %i0, %vk : reduce 16 = %k0) reads(%x) writes(%y) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %y[%vi] : memref<8xf32>
      } {
        %a = loop.load %x[%vi, %vk] : memref<8x16xf32>
        %b = loop.load %y[%vi] : memref<8xf32>
        %p = arith.mulf %a, %a : f32
        %c = arith.addf %b, %p : f32
        loop.store %c, %y[%vi] : memref<8xf32>
      }
    }
  }
  func.return
}"""
TABLE = """
func.func private @row(
    %t: memref<100x?xf32> {loop.extents = array<i64: 0>}, %y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index
) attributes {loop.kernel} {
  loop.for "i" %i to %n {
    loop.block "row" (%vi : spatial %n = %i) reads(%t) writes(%y) {
      %a = loop.load %t[3, %vi] : memref<100x?xf32>
      %e = math.exp %a : f32
      loop.store %e, %y[%vi] : memref<?xf32>
    }
  }
  func.return
}"""


def test_each_iteration_counts_and_buffers_count_once():
    (kernel,) = kernels_of(parse_module(full_context(), SUM, "test.mlir"))
    work = kernel_work(kernel)
    assert (work.operations, work.bytes) == (str(2 * 8 * 16), str(4 * (8 * 16 + 8)))
    assert (work.cycles, work.schedule) == (0, "")


@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_table_counts_with_the_elements_that_are_read(size: int):
    (kernel,) = kernels_of(parse_module(full_context(), TABLE, "test.mlir"))
    work = kernel_work(kernel)
    assert evaluate(work.operations, {"d0": size}) == size
    assert evaluate(work.bytes, {"d0": size}) == 4 * (size + size)


@pytest.mark.parametrize("text", [SUM, TABLE], ids=["fixed", "dynamic"])
def test_a_scheduled_kernel_keeps_the_work_of_its_loops(text: str):
    module = parse_module(full_context(), text, "test.mlir")
    (kernel,) = kernels_of(module)
    before = kernel_work(kernel)
    LoopScheduleKernelsPass(target="cpu -mcpu=znver4 -num-threads=1").apply(full_context(), module)
    (kernel,) = kernels_of(module)
    after = kernel_work(kernel)
    assert replace(after, cycles=0, schedule="") == before
    assert after.cycles > 0


@pytest.mark.parametrize(
    ("reason", "schedule"),
    [
        ("reduction: 8 rows; 16 lanes", "reduction: 8 rows"),
        ("reduction: 8 rows; 16 lanes; parallel over all iterations of i", "reduction: parallel, 8 rows"),
        ("reduction: parallel over 4 iterations of i; 8 rows", "reduction: parallel, 8 rows"),
        (
            "conv2d: parallel over 4 iterations of i; parallel over 8 iterations of j; 8 rows",
            "conv2d: parallel, 8 rows",
        ),
        ("injective: parallel over 4 iterations of i", "injective: parallel over 4 iterations of i"),
        ("scheduled by hand", "scheduled by hand"),
    ],
)
def test_the_schedule_has_the_first_decision_and_whether_a_loop_is_parallel(reason: str, schedule: str):
    (kernel,) = kernels_of(parse_module(full_context(), SUM, "test.mlir"))
    kernel.attributes[SCHEDULE_REASON] = StringAttr(reason)
    kernel.attributes[SCHEDULE_CYCLES] = IntegerAttr(42, i64)
    work = kernel_work(kernel)
    assert (work.schedule, work.cycles) == (schedule, 42)
