"""Costs of dynamic sizes: a ResNet-18 compiled once for all batch sizes, compared with one compiled for each.

Both run in turns in one process on one thread, so that disturbances affect both, and times are CPU times. For each
batch size the table shows the fastest round of either, their ratio, the bytes that a run allocates besides inputs,
outputs and weights, and the compile time without a cache. Outputs are compared bit by bit.

    python benchmarks/bench_dynamic.py [--batches 1 8] [--rounds N] [--size 224]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
import onnx
from networks import resnet18
from numpy.typing import NDArray

import xrelay
from xrelay.api.model import CompiledModel
from xrelay.lowering.registry import ALL_PASSES, load_pass


def seconds(model: CompiledModel, image: NDArray[np.float32]) -> float:
    """Returns the CPU time of one run on the calling thread."""
    start = time.thread_time()
    model.run([image])
    return time.thread_time() - start


def compiled(proto: onnx.ModelProto, shapes: dict[str, Sequence[int]] | None = None) -> tuple[CompiledModel, float]:
    """Returns the model and the CPU time of compiling it."""
    start = time.process_time()
    model = xrelay.compile(proto, threads=1, cache=False, shapes=shapes)
    return model, time.process_time() - start


def bench(batches: Sequence[int], rounds: int, size: int) -> None:
    """Prints the table."""
    # Imports happen once per process and are not a cost of the model.
    for name in ALL_PASSES:
        load_pass(name)
    proto = resnet18(size)
    dynamic, cost = compiled(proto)
    print(f"compiled with open batch in {cost:.1f} s")
    heads = ("batch", "static ms", "open ms", "ratio", "static MB", "open MB", "ratio", "equal", "compile s")
    print(" ".join(f"{head:>10}" for head in heads), flush=True)
    for batch in batches:
        static, cost = compiled(proto, {"data": (batch, 3, size, size)})
        image = np.random.default_rng(batch).standard_normal((batch, 3, size, size)).astype(np.float32)
        equal = all(map(np.array_equal, static.run([image]), dynamic.run([image])))
        times = [(seconds(static, image), seconds(dynamic, image)) for _ in range(rounds)]
        first, second = (1e3 * min(column) for column in zip(*times, strict=True))
        memory = static.memory() / 1e6, dynamic.memory({"batch": batch}) / 1e6
        ratios = second / first, memory[1] / memory[0]
        row = f"{batch:10} {first:10.1f} {second:10.1f} {ratios[0]:10.3f} {memory[0]:10.1f} {memory[1]:10.1f}"
        print(f"{row} {ratios[1]:10.3f} {equal!s:>10} {cost:10.1f}", flush=True)


def main() -> int:
    """Reads the command line and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 8], help="batches (1 8)")
    parser.add_argument("--rounds", type=int, default=10, help="rounds of each (10)")
    parser.add_argument("--size", type=int, default=224, help="height and width of the images (224)")
    args = parser.parse_args()
    bench(args.batches, args.rounds, args.size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
