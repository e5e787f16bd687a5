"""Schedules change the order of a kernel's work and never its result."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.kernels.loop_kernels import CONV, GEMM, KERNELS, POOL, SOFTMAX, KernelText, arguments_for, kernel_of, parse
from xdsl.dialects import func

from xrelay.dialects.loop import SchedulePrimitive, Tail
from xrelay.dialects.loop.schedule import (
    CacheInplace,
    CacheWrite,
    ComputeAt,
    Cut,
    DisableUnroll,
    Fuse,
    Parallelize,
    PartialSums,
    Reorder,
    ReverseComputeAt,
    Rfactor,
    SetTail,
    ShareResult,
    Split,
    StorageAlign,
    Tile,
    Unroll,
    Vectorize,
)
from xrelay.errors import ScheduleError
from xrelay.interpreters.loop import run_kernel
from xrelay.passes.loop.lower_blocks import lower_blocks
from xrelay.passes.loop.nest_queries import blocks_of, loops_of
from xrelay.passes.loop.schedule import Schedule

TAILS = list(Tail)


def run(kernel: func.FuncOp, *, lanes: bool) -> np.ndarray:
    arguments = arguments_for(kernel, 3)
    run_kernel(kernel, arguments, lanes=lanes)
    return arguments[-1]


def check_same(text: KernelText, schedule: Schedule) -> None:
    """Checks that the scheduled kernel is valid and bit-equal to the unscheduled one, vectorized and one by one."""
    schedule.kernel.verify()
    expected = run(kernel_of(parse(text.text)), lanes=False)
    np.testing.assert_array_equal(run(schedule.kernel, lanes=False), expected)
    np.testing.assert_array_equal(run(schedule.kernel, lanes=True), expected)


def scheduled(text: KernelText) -> Schedule:
    return Schedule(kernel_of(parse(text.text)))


@pytest.mark.parametrize("text", KERNELS, ids=lambda text: text.name)
def test_lanes_give_what_single_iterations_give(text: KernelText):
    check_same(text, scheduled(text))


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("factor", [1, 2, 3, 7, 10])
def test_split(tail: Tail, factor: int):
    check_same(GEMM, scheduled(GEMM).split("i", factor, tail=tail))


@pytest.mark.parametrize("tail", TAILS)
def test_split_of_a_reduction(tail: Tail):
    check_same(GEMM, scheduled(GEMM).split("k", 2, tail=tail).reorder("k_o", "i", "j", "k_i"))


@pytest.mark.grid(3)
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("factor", [1, 2, 3])
def test_partial_sums_of_a_register_tile(factor: int, tail: Tail):
    """Rows, columns and the reduction have tails."""
    schedule = (
        scheduled(GEMM)
        .cache_write("gemm", names=("r", "c"))
        .tile("r", "c", 3, 4, tail=tail)
        .compute_at("gemm", "c_o")
        .reorder("k", "i", "j")
        .vectorize("j")
        .unroll("i")
        .split("k", factor)
        .partial_sums("gemm", "k_o")
    )
    check_same(GEMM, schedule)
    lower_blocks(schedule.kernel)
    check_same(GEMM, schedule)


@pytest.mark.grid(3)
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("factor", [1, 2, 3])
def test_reduction_in_blocks(factor: int, tail: Tail):
    """Parts of the reduction run for all register tiles; rows, columns and the reduction have tails."""
    schedule = scheduled(GEMM).cache_read("gemm", 1).split("k", factor, tail=tail).split("i", 3, tail=tail)
    schedule.split("j", 4, tail=tail).reorder("k_o", "i_o", "j_o", "k_i", "i_i", "j_i").vectorize("j_i").unroll("i_i")
    schedule.cache_inplace("gemm", "j_o").compute_at("gemm_read1", "k_o")
    check_same(GEMM, schedule)
    lower_blocks(schedule.kernel)
    check_same(GEMM, schedule)


def test_reduction_in_blocks_of_several_variables():
    """A part of a convolution is one channel, with the tile of its consumer around all channels."""
    schedule = scheduled(CONV).split("h", 2).reorder("h_o", "o", "h_i", "w").compute_at("conv", "h_o")
    schedule.split("cw", 3).reorder("ci", "co", "ch", "cw_o", "kh", "kw", "cw_i").cache_inplace("conv", "cw_o")
    check_same(CONV, schedule)
    lower_blocks(schedule.kernel)
    check_same(CONV, schedule)


def test_partial_sums_in_a_loop_of_a_spatial_and_a_reduce_variable():
    """The result is initialised at the first term of each element, not only in the first iteration of the loop."""
    check_same(GEMM, scheduled(GEMM).guard("k").split("k", 3).fuse("j", "k_o").partial_sums("gemm", "k_i"))


def test_partial_sums_of_columns_that_are_split_later():
    schedule = scheduled(GEMM).reorder("k", "i", "j").partial_sums("gemm", "k").split("j", 5)
    check_same(GEMM, schedule)


def test_parts_of_a_reduction_as_an_axis():
    """Threads share the parts, which have tiles of their own."""
    schedule = scheduled(POOL).rfactor("max", "x").reorder("x", "c", "h", "w", "y").cache_write("max")
    schedule.parallelize("max_write_0").compute_at("max", "max_write_1").reorder("y", "h", "w").unroll("w")
    check_same(POOL, schedule)
    lower_blocks(schedule.kernel)
    check_same(POOL, schedule)


def test_parts_of_a_part():
    """The new axis is a spatial one, and its parts are reduced again."""
    schedule = scheduled(CONV).reorder("ci", "kh", "kw", "co", "ch", "cw").rfactor("conv", "kh").rfactor("conv", "ci")
    schedule.rfactor("conv_total", "kh_total").parallelize("ci")
    check_same(CONV, schedule)
    lower_blocks(schedule.kernel)
    check_same(CONV, schedule)


def test_partial_sums_inside_of_another_reduction():
    """The init of the result runs once, before all loops of the reduction."""
    schedule = scheduled(CONV).reorder("ci", "kh", "kw", "ch", "cw", "co")
    check_same(CONV, schedule.partial_sums("conv", "kw").partial_sums("conv_total", "kh"))


def test_fuse_then_split_by_what_does_not_divide():
    check_same(GEMM, scheduled(GEMM).fuse("i", "j").split("i_j", 4).parallelize("i_j_o"))


@pytest.mark.parametrize("tail", TAILS)
def test_tile_with_tails(tail: Tail):
    check_same(GEMM, scheduled(GEMM).tile("i", "j", 3, 4, tail=tail))


@pytest.mark.parametrize("tail", TAILS)
def test_gemm_in_registers(tail: Tail):
    """The register-tiled product: a tile of accumulators inside the reduction loop."""
    schedule = (
        scheduled(GEMM)
        .cache_write("gemm", names=("r", "c"))
        .tile("r", "c", 3, 4, tail=tail)
        .compute_at("gemm", "c_o")
        .reorder("k", "i", "j")
        .vectorize("j")
        .unroll("i")
        .disable_unroll("k")
        .vectorize("c_i")
        .parallelize("r_o")
    )
    check_same(GEMM, schedule)


@pytest.mark.parametrize("tail", TAILS)
def test_convolution_with_epilogue_and_padding(tail: Tail):
    """The consumer is tiled, convolution and padding are computed at loops of their consumers."""
    schedule = (
        scheduled(CONV)
        .split("w", 3, tail=tail)
        .split("o", 2)
        .reorder("o_o", "h", "w_o", "w_i", "o_i")
        .compute_at("conv", "w_o")
        .reorder("ci", "kh", "kw", "cw", "co")
        .compute_at("pad", "ci")
        .unroll("cw")
        .fuse("o_o", "h")
        .parallelize("o_o_h")
    )
    assert 'memref<3x5xf32, "local">' in str(schedule.kernel)
    assert 'memref<2x3xf32, "local">' in str(schedule.kernel)
    check_same(CONV, schedule)


@pytest.mark.grid(2)
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("width", [2, 3, 7])
def test_epilogue_in_a_tile_of_its_producer(width: int, tail: Tail):
    schedule = scheduled(CONV).split("cw", width, tail=tail).reorder("co", "cw_o", "ch", "ci", "kh", "kw", "cw_i")
    schedule.reverse_compute_at("relu", "cw_o").parallelize("co")
    assert f'memref<6x{width}xf32, "local">' in str(schedule.kernel)
    check_same(CONV, schedule)
    lower_blocks(schedule.kernel)
    check_same(CONV, schedule)


def test_rows_of_the_consumer_in_the_reduction_of_a_row():
    schedule = scheduled(SOFTMAX).reverse_compute_at("shift", "i").parallelize("i").split("c", 4).vectorize("c_i")
    check_same(SOFTMAX, schedule)


@pytest.mark.parametrize("tail", TAILS)
def test_sums_in_the_result_of_their_consumer(tail: Tail):
    """The consumer's loops have tails, which must not run twice for an element."""
    schedule = scheduled(CONV).share_result("conv").split("cw", 4, tail=tail).split("w", 4, tail=tail)
    schedule.vectorize("w_i").parallelize("co")
    check_same(CONV, schedule)
    lower_blocks(schedule.kernel)
    check_same(CONV, schedule)


def test_padded_rows_of_a_copy():
    schedule = scheduled(GEMM).cache_read("gemm", 0).storage_align("gemm_read0", 0, 8, offset=3).split("i", 3)
    schedule.compute_at("gemm_read0", "i_o").storage_align("gemm_read0", 0, 8)
    assert "memref<3x8xf32" in str(schedule.kernel)
    check_same(GEMM, schedule)


def test_a_loop_of_a_spatial_and_a_reduce_variable_moves_as_a_whole():
    """The parts keep their order, so that each element is initialised before the first addition."""
    schedule = scheduled(GEMM).fuse("j", "k").split("j_k", 4)
    check_same(GEMM, schedule.reorder("j_k_o", "j_k_i", "i"))


def test_padding_at_a_reduction_that_is_masked_later():
    """The extent of an access depends on the binding of one variable and the domain of the other."""
    schedule = scheduled(CONV).compute_at("pad", "ci").split("kw", 5, tail=Tail.MASK)
    check_same(CONV, schedule)


def test_reduction_at_its_consumer_in_tiles():
    check_same(SOFTMAX, scheduled(SOFTMAX).split("r", 2).compute_at("max", "r_o").split("k", 4))


def primitives(kernel: func.FuncOp, draw: st.DrawFn) -> SchedulePrimitive:
    loop = st.sampled_from(sorted(loops_of(kernel)))
    block = st.sampled_from(sorted(blocks_of(kernel)))
    tail, factor = st.sampled_from(TAILS), st.integers(1, 5)
    reorder = st.lists(loop, min_size=2, max_size=4, unique=True).map(tuple) if len(loops_of(kernel)) > 1 else None
    return draw(
        st.one_of(
            st.builds(Split, loop, factor, tail),
            st.builds(Cut, loop, factor, factor),
            st.builds(Fuse, loop, loop),
            st.builds(Reorder, reorder) if reorder is not None else st.builds(Unroll, loop),
            st.builds(Tile, loop, loop, factor, factor, tail),
            st.builds(Unroll, loop),
            st.builds(Vectorize, loop),
            st.builds(Parallelize, loop),
            st.builds(CacheWrite, block),
            st.builds(ComputeAt, block, loop),
            st.builds(ComputeAt, block, loop),
            st.builds(PartialSums, block, loop, st.booleans()),
            st.builds(CacheInplace, block, loop),
            st.builds(Rfactor, block, loop),
            st.builds(ReverseComputeAt, block, loop),
            st.builds(ShareResult, block),
            st.builds(StorageAlign, block, st.integers(0, 2), st.just(6), factor),
            st.builds(SetTail, loop, tail),
            st.builds(DisableUnroll, loop),
        )
    )


@settings(max_examples=examples(6, more=2), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(KERNELS), st.data())
def test_random_schedules(text: KernelText, data: st.DataObject):
    """All legal primitives in any order; an illegal primitive leaves the kernel unchanged.

    The result stays the same, also with blocks erased and with tails peeled or masked.
    """
    schedule = scheduled(text)
    for _ in range(data.draw(st.integers(1, 8))):
        before = str(schedule.kernel)
        step = primitives(schedule.kernel, data.draw)
        refusal: ScheduleError | None = None
        try:
            schedule.apply(step)
        except ScheduleError as error:
            refusal = error
        if refusal is not None:
            assert step.primitive in refusal.message
            assert str(schedule.kernel) == before
    check_same(text, schedule)
    lower_blocks(schedule.kernel)
    check_same(text, schedule)
