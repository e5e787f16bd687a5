"""Kernels with extents that are values compute the same at every size: scheduled or not, interpreted or native."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from xdsl.dialects import func

from xrelay.interpreters.loop import run_kernel
from xrelay.passes.loop.lower_blocks import lower_blocks

sys.path.insert(0, str(Path(__file__).parent))
from dynamic_kernels import DYNAMIC_GEMM, DYNAMIC_KERNELS, DynamicKernel, arguments_for
from loop_kernels import kernel_of, parse
from random_schedules import random_schedule

SIZES = (0, 1, 7, 16, 17)


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


@pytest.mark.parametrize("seed", range(24))
def test_random_schedules(seed: int):
    """Whatever primitives are legal, in whatever order, compute the same, before and after blocks are lowered."""
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
