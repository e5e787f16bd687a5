"""`make demo`: ResNet-50 from ONNX to native code, with the cost of each stage and the path of its text.

The model is the light ResNet-50 of onnx's own test data: the original graph with weights from a seeded He
initialisation. The classes are therefore meaningless, but all numbers are compared with the interpreter.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import xrelay
from xrelay import environment
from xrelay.lowering.pipelines import Phase
from xrelay.tools.command_line import progress_bar
from xrelay.tools.commands.base import add_threads

RUNS = 30
MAX_SECONDS = 5.0


OTHER_STEPS = {
    "import": "ONNX to relay",
    "kernels": "lower each kernel from loops to LLVM IR while LLVM compiles earlier ones",
    "native code": "compile the remaining kernels",
}
"""Steps that are not phases, and their descriptions."""


def main() -> int:
    """Compiles, runs, checks and prints; the exit code is 1 if native code and the interpreter differ."""
    parser = argparse.ArgumentParser(prog="xrelay.tools.demo", description=__doc__)
    parser.add_argument("--model", default="resnet50", help="another example model, e.g. squeezenet")
    parser.add_argument("--output", type=Path, default=Path("build/demo"), help="output folder (build/demo)")
    add_threads(parser)
    args = parser.parse_args()
    folder: Path = args.output
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # A fresh cache makes the first compilation always cold.
    environment.use_cache_folder(folder / "cache")
    path = _write_model(args.model, folder)
    model = _compile(path, args.threads)
    same = _run(path, model)
    _dump(path, folder / "stages")
    return 0 if same else 1


def _write_model(name: str, folder: Path) -> Path:
    from xrelay.frontend.onnx.light_models import light_model

    model = light_model(name)
    path = folder / f"{name}.onnx"
    path.write_bytes(model.SerializeToString())
    ops = len({node.op_type for node in model.graph.node})
    _print(f"model     {path}: {len(model.graph.node)} nodes of {ops} ops, {path.stat().st_size / 1e6:.0f} MB")
    return path


def _compile(path: Path, threads: int | None) -> xrelay.CompiledModel:
    """Compiles twice, cold and from the cache, and prints the cost of each stage of the first compilation."""
    start = time.perf_counter()
    with progress_bar("compiling") as draw:
        model = xrelay.compile(path, threads=threads, progress=draw)
    cold = time.perf_counter() - start
    kernels = model.artifact.metadata.kernels
    _print(f"compiled  in {cold:.1f} s to {len(kernels)} kernels for {model.artifact.metadata.cpu}")
    _print_costs(model, cold)
    warm = _seconds(lambda: xrelay.compile(path, threads=threads))
    _print(f"again     in {warm:.2f} s, from the cache")
    return model


def _print_costs(model: xrelay.CompiledModel, total: float) -> None:
    """Prints one line per stage and one for all kernels."""
    meanings = {phase.name.lower(): phase.value for phase in Phase} | OTHER_STEPS
    timing = model.timing
    assert timing is not None, "the cache is empty"
    steps = {step.name: step.seconds for step in timing.clock.root.steps}
    for stage, seconds in {"import": total - timing.total, **steps}.items():
        _print(f"  {seconds:6.2f} s  {stage:11} {meanings[stage]}")


def _run(path: Path, model: xrelay.CompiledModel) -> bool:
    """Runs the model on a random image; compares, times, and prints the best classes."""
    (spec,) = model.inputs
    image = np.random.default_rng(0).standard_normal(spec.known_shape).astype(spec.numpy_dtype)
    inputs = {spec.name: image}
    (scores,) = model.run(inputs)
    comparison = xrelay.same(path, model, inputs=inputs)
    verdict = "equals the interpreter" if comparison else "DIFFERS from the interpreter"
    _print(f"checked   {verdict}: largest difference {comparison.max_abs:.1e}, the largest value is {scores.max():.1e}")
    times = _latencies(model, inputs)
    best, median = 1e3 * min(times), 1e3 * statistics.median(times)
    _print(f"latency   {best:.1f} ms minimum, {median:.1f} ms median of {len(times)}, threads: {model.num_threads}")
    top = np.argsort(scores.reshape(-1))[::-1][:5]
    _print("top 5     " + ", ".join(f"class {index} {scores.flat[index]:.4f}" for index in top))
    return bool(comparison)


def _latencies(model: xrelay.CompiledModel, inputs: dict[str, NDArray[Any]]) -> list[float]:
    times: list[float] = []
    while len(times) < RUNS and sum(times) < MAX_SECONDS:
        times.append(_seconds(lambda: model.run(inputs)))
    return times


def _dump(path: Path, folder: Path) -> None:
    with progress_bar("writing the stages") as draw:
        xrelay.compile(path, dump_stages=folder, progress=draw)
    _print(f"stages    {folder}/")
    for file in sorted(folder.glob("[0-9]*")):
        lines = len(file.read_bytes().splitlines())
        _print(f"          {file.name:18} {lines:6d} lines")


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
