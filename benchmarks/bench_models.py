"""Whole networks, against onnxruntime: latency, difference of the outputs, and what compiling costs.

Each engine lives in a process of its own, pinned to as many cores as it has threads; the two take turns, so that what
disturbs the machine disturbs both. A pause comes before each turn: onnxruntime's threads go on looking for work when a
run is over, for milliseconds, and would keep the other engine from its cores. The table gives the fastest and the
median round; numbers of different runs do not compare. Without onnxruntime its columns stay empty.

    python benchmarks/bench_models.py [--models resnet50 …] [--threads 1 2] [--rounds N]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MODELS = ("resnet50", "squeezenet", "vgg19")
WARMUP = 3
PAUSE = 0.03
"""Seconds before a turn, in which the threads of the other engine fall asleep."""

Array = NDArray[Any]
Inputs = dict[str, Array]
Run = Callable[[], list[Array]]


@dataclass(frozen=True)
class Costs:
    """Seconds to compile: the first time, and from the cache on disk (0 for a peer)."""

    cold: float
    cached: float


def load_xrelay(path: Path, threads: int, inputs: Inputs) -> tuple[Run, Costs]:
    """Our engine; the cache of this process starts empty."""
    import xrelay

    # What a process imports once is no cost of a model.
    from xrelay.lowering.registry import ALL_PASSES, load_pass

    for name in ALL_PASSES:
        load_pass(name)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XRELAY_CACHE_DIR"] = cache
        start = time.perf_counter()
        model = xrelay.compile(path, threads=threads)
        cold = time.perf_counter() - start
        start = time.perf_counter()
        xrelay.compile(path, threads=threads)
        cached = time.perf_counter() - start
    return lambda: model.run(inputs), Costs(cold, cached)


def load_onnxruntime(path: Path, threads: int, inputs: Inputs) -> tuple[Run, Costs]:
    """The peer, with its default optimisations."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    start = time.perf_counter()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs), Costs(time.perf_counter() - start, 0.0)


ENGINES = {"xrelay": load_xrelay, "onnxruntime": load_onnxruntime}


def serve(connection: Connection, engine: str, path: Path, threads: int, inputs: Inputs) -> None:
    """The life of an engine's process: load, then one round for each message."""
    cores = sorted(os.sched_getaffinity(0))[:threads] if hasattr(os, "sched_getaffinity") else []
    if cores:
        os.sched_setaffinity(0, cores)
    run, costs = ENGINES[engine](path, threads, inputs)
    for _ in range(WARMUP):
        outputs = run()
    connection.send((costs, outputs))
    while connection.recv():
        start = time.perf_counter()
        run()
        connection.send(time.perf_counter() - start)


class Worker:
    """An engine in a process of its own."""

    def __init__(self, engine: str, path: Path, threads: int, inputs: Inputs):
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other, engine, path, threads, inputs), daemon=True)
        self._process.start()
        other.close()
        self.costs, self.outputs = self._connection.recv()
        self.seconds: list[float] = []

    def round(self) -> None:
        """Run once and note how long it took."""
        time.sleep(PAUSE)
        self._connection.send(True)
        self.seconds.append(self._connection.recv())

    def close(self) -> None:
        """Let the process end."""
        self._connection.send(False)
        self._process.join()

    def columns(self) -> str:
        """The fastest and the median round in milliseconds."""
        return f"{1e3 * min(self.seconds):10.2f} {1e3 * statistics.median(self.seconds):10.2f}"


def random_inputs(path: Path) -> Inputs:
    """Seeded random images for the inputs of a model."""
    from xrelay.frontend.onnx.load import load_model
    from xrelay.frontend.onnx.signature import graph_inputs

    rng = np.random.default_rng(0)
    model = load_model(path).proto
    shapes = {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in graph_inputs(model.graph)
    }
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def difference(first: list[Array], second: list[Array]) -> float:
    """The largest difference of two outputs as a share of the largest value."""
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(first, second, strict=True))


def bench(name: str, path: Path, threads: int, rounds: int) -> str:
    """One row of the table."""
    inputs = random_inputs(path)
    ours = Worker("xrelay", path, threads, inputs)
    peer = Worker("onnxruntime", path, threads, inputs) if find_spec("onnxruntime") is not None else None
    for _ in range(rounds):
        ours.round()
        if peer is not None:
            peer.round()
    ours.close()
    row = f"{name:12} {threads:7} {ours.columns()}"
    if peer is not None:
        peer.close()
        ratio = min(ours.seconds) / min(peer.seconds)
        row += f" {peer.columns()} {ratio:7.2f} {difference(ours.outputs, peer.outputs):10.1e}"
    else:
        row += f" {'—':>10} {'—':>10} {'—':>7} {'—':>10}"
    return f"{row} {ours.costs.cold:8.1f} {ours.costs.cached:8.2f}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(MODELS), help=f"light models ({' '.join(MODELS)})")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], help="numbers of threads (1 2)")
    parser.add_argument("--rounds", type=int, default=20, help="rounds of each engine (20)")
    args = parser.parse_args()
    from xrelay.frontend.onnx.light_models import light_model

    heads = ("ours min", "median", "ort min", "median")
    title = f"{'model':12} {'threads':>7} " + " ".join(f"{head:>10}" for head in heads)
    print(f"{title} {'ratio':>7} {'difference':>10} {'cold s':>8} {'cache s':>8}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in args.models:
            path = Path(folder) / f"{name}.onnx"
            path.write_bytes(light_model(name).SerializeToString())
            for threads in args.threads:
                print(bench(name, path, threads, args.rounds), flush=True)
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
