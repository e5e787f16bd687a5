"""The tiles of the benchmark kernels stay in registers: one fused multiply-add per accumulator, and no spills.

A CPU without this instruction multiplies and adds vectors; `llvm.fma` would become a call per lane there.
"""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest
from support.native_kernels import host_ir

from xrelay.runtime.native import assembly

KERNELS = Path(__file__).parents[3] / "benchmarks" / "kernels"
PASSES = ("loop-apply-schedules", "loop-lower-blocks", "loop-plan-memory", "convert-loop-to-scf")
LABEL = re.compile(r"^(\.L\w+):")
BRANCH_BACK = re.compile(r"^\s+j\w+\s+(\.L\w+)")


def innermost_loops(text: str) -> list[list[str]]:
    """The lines from a label to its backward branch, for loops without inner loops."""
    lines = text.splitlines()
    labels = {match[1]: number for number, line in enumerate(lines) if (match := LABEL.match(line))}
    loops: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        if (match := BRANCH_BACK.match(line)) and labels.get(match[1], number) < number:
            loops.append((labels[match[1]], number))
    inner = [a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return [lines[first : last + 1] for first, last in inner]


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads x86 assembly")
@pytest.mark.parametrize(("kernel", "accumulators"), [("gemm_6x64", 24), ("conv3x3_nchw16c", 28)])
def test_register_tile_has_no_spills(kernel: str, accumulators: int):
    source = (KERNELS / f"{kernel}.mlir").read_text(encoding="utf-8")
    text = assembly(host_ir(source, PASSES), cpu="skylake-avx512", features="")
    loops = [loop for loop in innermost_loops(text) if any("vfmadd" in line for line in loop)]
    assert loops, "callers may hold the kernel inlined, but there is one of its own"
    for loop in loops:
        assert sum("vfmadd" in line and "zmm" in line for line in loop) == accumulators
        assert not any("zmm" in line and "(%rsp)" in line for line in loop)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads x86 assembly")
def test_products_on_a_cpu_without_fma_are_no_calls():
    source = (KERNELS / "gemm_6x64.mlir").read_text(encoding="utf-8")
    text = assembly(host_ir(source, PASSES), cpu="x86-64", features="")
    assert "fmaf" not in text
    assert "mulps" in text
    assert "addps" in text
