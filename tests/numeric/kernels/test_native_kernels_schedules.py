"""Scheduled kernels in native code compute the same as the interpreter on the unscheduled ones."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from numeric.kernels.test_loop_schedules import check_same
from support.kernels.loop_kernels import CONV, GEMM, KERNELS, KernelText, arguments_for, kernel_of, parse
from support.kernels.random_schedules import random_schedule
from support.native_kernels import NativeKernel

from xrelay.dialects.loop import Tail
from xrelay.interpreters.loop import run_kernel
from xrelay.passes.loop.schedule import Schedule


def check_native(text: KernelText, schedule: Schedule) -> None:
    """Inputs are small integers: sums are exact, so every order yields the same bits; exp is not exact."""
    reference = kernel_of(parse(text.text))
    expected = arguments_for(reference, 3)
    run_kernel(reference, expected)
    found = arguments_for(reference, 3)
    source = str(schedule.kernel).replace("func.func private", "func.func")
    NativeKernel(source, schedule.kernel.sym_name.data)(*found)
    np.testing.assert_allclose(found[-1], expected[-1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("tail", list(Tail))
def test_gemm_in_registers(tail: Tail):
    schedule = Schedule(kernel_of(parse(GEMM.text))).cache_write("gemm", names=("r", "c"))
    schedule.tile("r", "c", 3, 4, tail=tail).compute_at("gemm", "c_o").reorder("k", "i", "j")
    schedule.vectorize("j").unroll("i").vectorize("c_i").parallelize("r_o")
    check_native(GEMM, schedule)


@pytest.mark.parametrize("tail", list(Tail))
def test_convolution_with_epilogue_and_padding(tail: Tail):
    schedule = Schedule(kernel_of(parse(CONV.text))).split("w", 3, tail=tail).split("o", 2)
    schedule.reorder("o_o", "h", "w_o", "w_i", "o_i").compute_at("conv", "w_o")
    schedule.reorder("ci", "kh", "kw", "cw", "co").compute_at("pad", "ci").unroll("cw")
    schedule.fuse("o_o", "h").parallelize("o_o_h")
    check_native(CONV, schedule)


@pytest.mark.grid(10)
@pytest.mark.parametrize("seed", range(30))
def test_random_schedules(seed: int):
    """All legal primitives in any order can be lowered and preserve the results, interpreted and native."""
    random = Random(seed)
    text = KERNELS[seed % len(KERNELS)]
    schedule = random_schedule(kernel_of(parse(text.text)), random)
    schedule.kernel.verify()
    check_native(text, schedule)
    check_same(text, schedule)
