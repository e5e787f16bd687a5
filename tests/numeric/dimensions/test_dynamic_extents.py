"""Kernels with dynamic extents compute the same at every size: scheduled or not, interpreted or native."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from support.kernels.dynamic_kernels import DYNAMIC_GEMM, DYNAMIC_KERNELS, DynamicKernel, arguments_for
from support.kernels.loop_kernels import kernel_of, parse
from support.kernels.random_schedules import random_schedule
from support.native_kernels import NativeKernel
from xdsl.dialects import func

from xrelay.dialects.loop import Tail
from xrelay.interpreters.loop import run_kernel
from xrelay.passes.loop.lower_blocks import lower_blocks
from xrelay.passes.loop.schedule import Schedule

SIZES = (0, 1, 7, 16, 17)
NATIVE_SIZES = (0, 1, 7, 16, 17, 100)


def run(kernel: func.FuncOp, sizes: list[int], *, lanes: bool = True) -> np.ndarray:
    arguments = arguments_for(kernel, sizes)
    run_kernel(kernel, arguments, lanes=lanes)
    return np.asarray(arguments[-1 - len(sizes)])


def drawn_sizes(text: DynamicKernel, random: Random) -> list[int]:
    free = len(text.names) - len(text.relations)
    return list(text.sizes(*(random.choice(SIZES) for _ in range(free))).values())


@pytest.mark.parametrize("text", DYNAMIC_KERNELS, ids=lambda text: text.name)
def test_lanes_give_what_single_iterations_give(text: DynamicKernel):
    kernel, random = kernel_of(parse(text.text)), Random(0)
    for _ in range(3):
        sizes = drawn_sizes(text, random)
        np.testing.assert_array_equal(run(kernel, sizes), run(kernel, sizes, lanes=False))


def test_meaning_of_a_product():
    kernel = kernel_of(parse(DYNAMIC_GEMM.text))
    for sizes in ([7, 5, 6], [1, 17, 3], [0, 4, 4], [3, 0, 5]):
        a, b, c, *_ = arguments = arguments_for(kernel, sizes)
        run_kernel(kernel, arguments)
        assert sizes[1] == 0 or np.array_equal(np.asarray(a) @ np.asarray(b), np.asarray(c))


@pytest.mark.grid(12)
@pytest.mark.parametrize("seed", range(24))
def test_random_schedules(seed: int):
    """All legal primitives in any order preserve the results, before and after blocks are lowered."""
    random = Random(seed)
    text = DYNAMIC_KERNELS[seed % len(DYNAMIC_KERNELS)]
    plain = kernel_of(parse(text.text))
    schedule = random_schedule(kernel_of(parse(text.text)), random)
    schedule.kernel.verify()
    lowered = schedule.kernel.clone()
    lower_blocks(lowered)
    lowered.verify()
    for _ in range(3):
        sizes = drawn_sizes(text, random)
        expected = run(plain, sizes)
        np.testing.assert_array_equal(run(schedule.kernel, sizes), expected)
        np.testing.assert_array_equal(run(lowered, sizes, lanes=False), expected)


def check_native(text: DynamicKernel, schedule: Schedule, sizes: list[list[int]]) -> None:
    plain = kernel_of(parse(text.text))
    name = schedule.kernel.sym_name.data
    native = NativeKernel(str(schedule.kernel).replace("func.func private", "func.func"), name)
    for each in sizes:
        arguments = arguments_for(plain, each)
        native(*arguments)
        np.testing.assert_array_equal(np.asarray(arguments[-1 - len(each)]), run(plain, each))


@pytest.mark.grid(4)
@pytest.mark.parametrize("tail", [Tail.PEEL, Tail.MASK])
@pytest.mark.parametrize("parallel", [False, True])
def test_native_product_in_registers(tail: Tail, parallel: bool):
    schedule = Schedule(kernel_of(parse(DYNAMIC_GEMM.text))).cache_write("gemm", names=("r", "c"))
    schedule.tile("r", "c", 3, 4, tail=tail).compute_at("gemm", "c_o").reorder("k", "i", "j")
    schedule.vectorize("j").unroll("i").vectorize("c_i").disable_unroll("k")
    if parallel:
        schedule.parallelize("r_o")
    pairs = zip(NATIVE_SIZES, reversed(NATIVE_SIZES), strict=True)
    check_native(DYNAMIC_GEMM, schedule, [*([rows, 5, columns] for rows, columns in pairs), [7, 0, 6]])


def test_native_scratch_of_threads():
    """Each thread has its own rows of sums, whose length is a value."""
    schedule = Schedule(kernel_of(parse(DYNAMIC_GEMM.text))).cache_write("gemm", names=("r", "c")).split("r", 3)
    schedule.compute_at("gemm", "r_o").parallelize("r_o")
    assert 'memref<3x?xf32, "local">' in str(schedule.kernel)
    check_native(DYNAMIC_GEMM, schedule, [[40, 5, 70], [41, 3, 1], [0, 4, 4], [7, 0, 6]])


@pytest.mark.parametrize("tail", [Tail.PEEL, Tail.MASK])
def test_native_product_in_blocks_of_the_reduction(tail: Tail):
    """Rows, columns and terms are values; without terms, the sums are 0."""
    schedule = Schedule(kernel_of(parse(DYNAMIC_GEMM.text))).split("k", 3, tail=tail).split("i", 3, tail=tail)
    schedule.split("j", 4, tail=tail).reorder("k_o", "i_o", "j_o", "k_i", "i_i", "j_i").vectorize("j_i").unroll("i_i")
    schedule.cache_inplace("gemm", "j_o")
    sizes = [[rows, terms, 5] for rows, terms in ((1, 1), (7, 2), (0, 3), (3, 7), (11, 13))]
    check_native(DYNAMIC_GEMM, schedule, [*sizes, [7, 0, 6], [4, 5, 1], [5, 4, 0]])


@pytest.mark.grid(3)
@pytest.mark.parametrize("seed", range(6))
def test_native_random_schedules(seed: int):
    random = Random(seed)
    text = DYNAMIC_KERNELS[seed % len(DYNAMIC_KERNELS)]
    schedule = random_schedule(kernel_of(parse(text.text)), random)
    free = len(text.names) - len(text.relations)
    sizes = [*(drawn_sizes(text, random) for _ in range(3)), list(text.sizes(*[40] * free).values())]
    check_native(text, schedule, sizes)
