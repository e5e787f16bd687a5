"""Kernels compiled from loop nests and schedules, compared with the same kernels handwritten in LLVM IR.

Both run in turns in one process, on one thread pinned to one core. The table shows the fastest and the median round,
and the ratio of the fastest rounds. Outputs are compared in the same run.

    python benchmarks/bench_kernels.py [--reference DIR] [--rounds N] [--core N]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import XRelayError
from xrelay.lowering.emit_llvm import emit_llvm_ir
from xrelay.lowering.pipelines import LLVM_PIPELINE
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.runtime import llvm
from xrelay.runtime.abi import Context
from xrelay.runtime.arena import align
from xrelay.runtime.object_code.llvm_compiler import compile_ir
from xrelay.runtime.object_code.native_library import NativeLibrary

ROOT = Path(__file__).resolve().parents[1]
KERNELS = Path(__file__).resolve().parent / "kernels"
DEFAULT_REFERENCE = ROOT.parent / "shared" / "reference" / "kernels"
PASSES = ("loop-apply-schedules", "loop-lower-blocks", "loop-plan-memory", "convert-loop-to-scf", *LLVM_PIPELINE)
GOAL = 0.85

Array = NDArray[Any]
Run = Callable[[], None]


@dataclass(frozen=True)
class Pair:
    """A kernel of xrelay and its reference.

    `shapes` are the arguments of xrelay's kernel, the output last; `reference_arguments` are the positions of the
    reference's arguments among them. `finish` computes xrelay's output from the reference's output and all arguments.
    """

    name: str
    source: str
    reference: str
    symbol: str
    shapes: tuple[tuple[int, ...], ...]
    reference_arguments: tuple[int, ...]
    flops: int
    finish: Callable[[Sequence[Array], Array], Array]


PAIRS = (
    Pair(
        name="gemm 510x512x512, packed B",
        source="gemm_6x64.mlir",
        reference="gemm_6x64_rolled.ll",
        symbol="gemm",
        shapes=((510, 512), (8, 512, 64), (510, 512)),
        reference_arguments=(0, 1, 2),
        flops=2 * 510 * 512 * 512,
        finish=lambda _, product: product,
    ),
    Pair(
        name="conv 3x3 64->64 56x56, bias, relu",
        source="conv3x3_nchw16c.mlir",
        reference="conv3x3_nchw16c_rolled.ll",
        symbol="conv",
        shapes=((4, 58, 58, 16), (4, 4, 3, 3, 16, 16), (4, 16), (4, 56, 56, 16)),
        reference_arguments=(0, 1, 3),
        flops=2 * 64 * 64 * 9 * 56 * 56,
        finish=lambda arguments, product: np.maximum(product + arguments[2][:, None, None, :], 0),
    ),
)


def kernel_ir(source: Path) -> str:
    """Returns the LLVM IR text of a module at the loop level whose kernels have schedules."""
    context = full_context()
    module = parse_module(context, source.read_text(encoding="utf-8"), source.name)
    module.verify()
    run_pipeline(module, parse_passes(",".join(PASSES), pass_thunks()), context=context)
    return emit_llvm_ir(module)


def load(ir: str, symbol: str) -> tuple[NativeLibrary, int]:
    """Compiles code for this machine; returns the library and the address of a function."""
    native = llvm.binding()
    code = compile_ir(ir, cpu=native.get_host_cpu_name(), features=native.get_host_cpu_features().flatten())
    library = NativeLibrary.load([code], exports=[symbol])
    return library, library.address(symbol)


def caller(address: int, pointers: Sequence[int], *, status: bool) -> Run:
    """Returns a function that calls native code with these arguments."""
    function = ctypes.CFUNCTYPE(ctypes.c_int32 if status else None, *[ctypes.c_void_p] * len(pointers))(address)
    arguments = list(pointers)

    def run() -> None:
        function(*arguments)

    return run


def interleaved(runs: Sequence[Run], rounds: int) -> list[list[float]]:
    """Returns the milliseconds of each run in each round; the runs take turns."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, measured in zip(runs, times, strict=True):
            start = perf_counter_ns()
            run()
            measured.append((perf_counter_ns() - start) / 1e6)
    return times


def measure(pair: Pair, reference: Path | None, rounds: int) -> str:
    """Measures one pair; returns the lines of the table."""
    random = np.random.default_rng(0)
    arguments = [align(random.standard_normal(shape, dtype=np.float32)) for shape in pair.shapes]
    context = Context(0, 1)
    library, address = load(kernel_ir(KERNELS / pair.source), pair.symbol)
    runs = [caller(address, [ctypes.addressof(context), *(a.ctypes.data for a in arguments)], status=True)]
    keep: list[object] = [library]
    their_output = align(np.zeros(pair.shapes[-1], np.float32))
    if reference is not None:
        library, address = load((reference / pair.reference).read_text(encoding="utf-8"), pair.symbol)
        keep.append(library)
        theirs = [*arguments[:-1], their_output]
        runs.append(caller(address, [theirs[n].ctypes.data for n in pair.reference_arguments], status=False))
    ours, *others = interleaved(runs, rounds)
    lines = [_row(pair.name, "xrelay", ours, pair.flops)]
    for times in others:
        difference = float(np.max(np.abs(arguments[-1] - pair.finish(arguments, their_output))))
        ratio = min(times) / min(ours)
        verdict = "" if ratio >= GOAL else f"  BELOW {GOAL}"
        lines.append(_row("", "reference", times, pair.flops))
        lines.append(f"{'':36} speed against the reference {ratio:.2f}, largest difference {difference:.1e}{verdict}")
    return "\n".join(lines)


def _row(name: str, what: str, times: Sequence[float], flops: int) -> str:
    best, median = min(times), statistics.median(times)
    return f"{name:36} {what:10} {best:8.3f} {median:8.3f} {flops / best / 1e6:9.1f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; the exit code is 1 if a kernel cannot be compiled."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--reference", type=Path, default=DEFAULT_REFERENCE, help="folder of the .ll files")
    parser.add_argument("--rounds", type=int, default=200, help="how often each kernel runs (200)")
    parser.add_argument("--core", type=int, help="the core to run on (the last one allowed)")
    options = parser.parse_args(arguments)
    if hasattr(os, "sched_setaffinity"):
        core = max(os.sched_getaffinity(0)) if options.core is None else options.core
        os.sched_setaffinity(0, {core})
    reference: Path | None = options.reference
    if reference is None or not all((reference / pair.reference).is_file() for pair in PAIRS):
        print(f"reference kernels are absent from {reference}: only ours are measured")
        reference = None
    print(f"{'one thread, f32':36} {'':10} {'min ms':>8} {'med ms':>8} {'GFLOP/s':>9}")
    for pair in PAIRS:
        try:
            print(measure(pair, reference, max(options.rounds, 1)))
        except XRelayError as error:
            print(f"{pair.name}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
