"""The engines of a comparison: each opens a model and returns a function that runs it once.

An engine is imported when it is opened, in its own process:

    python -m xrelay.tools.comparison.engines FOLDER ENGINE THREADS CORE…

It opens the model, runs it once, then runs a round for each line that it reads. Answers are lines of JSON on standard
output; other output of the engine is redirected to stderr. The first answer has the costs of opening the model and of
its first run, and each later one the milliseconds of the runs of a round.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Run: TypeAlias = Callable[[], list[Array]]


@dataclass(frozen=True)
class Workload:
    """A model and its compile options; its inputs are saved in a separate file."""

    path: str
    """The .onnx file."""
    names: tuple[str, ...]
    """The names of the inputs, in the order of the arrays."""
    shapes: Mapping[str, tuple[int | str, ...]]
    """Shapes of inputs, and (minimum, maximum, typical) sizes of dynamic dimensions, as in `--shapes`."""
    opt_level: int = 3
    target: str | None = None
    integers: bool = False
    exact: bool = False
    records: str | None = None
    """The path of a file of tuning records."""

    def save(self, folder: Path, inputs: Sequence[Array]) -> None:
        """Writes the workload and its inputs into `folder`, for `load`."""
        (folder / "workload.json").write_text(json.dumps(asdict(self)))
        np.savez(folder / "inputs.npz", *inputs)

    @staticmethod
    def load(folder: Path) -> tuple[Workload, dict[str, Array]]:
        """Returns the workload in `folder` and its inputs by name."""
        fields: dict[str, Any] = json.loads((folder / "workload.json").read_text())
        shapes = {name: tuple(shape) for name, shape in fields.pop("shapes").items()}
        workload = Workload(fields.pop("path"), tuple(fields.pop("names")), shapes, **fields)
        with np.load(folder / "inputs.npz", allow_pickle=False) as arrays:
            return workload, dict(zip(workload.names, arrays.values(), strict=True))


def open_xrelay(workload: Workload, inputs: Mapping[str, Array], threads: int) -> Run:
    """Opens xrelay, with the cache folder of the environment."""
    from xrelay.api.compile import compile

    model = compile(
        workload.path,
        threads=threads,
        shapes=dict(workload.shapes),
        target=workload.target,
        opt_level=workload.opt_level,
        integers=workload.integers,
        exact=workload.exact,
        records=workload.records,
        specialize=False,
    )
    return lambda: [np.asarray(output) for output in model.run(inputs)]


def open_onnxruntime(workload: Workload, inputs: Mapping[str, Array], threads: int) -> Run:
    """Opens onnxruntime with its default optimisations and one thread pool of `threads` threads."""
    onnxruntime: Any = import_module("onnxruntime")  # optional: the type checker may not find it
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(workload.path, options, providers=["CPUExecutionProvider"])
    return lambda: [np.asarray(output) for output in session.run(None, dict(inputs))]


def open_openvino(workload: Workload, inputs: Mapping[str, Array], threads: int) -> Run:
    """Opens OpenVINO for one stream in f32, compiled for the shapes of the inputs if the model can be reshaped.

    By default it rounds activations to 8 bits before products with quantised weights, which is disabled here.
    """
    openvino: Any = import_module("openvino")
    core = openvino.Core()
    model = core.read_model(workload.path)
    try:
        model.reshape({name: list(array.shape) for name, array in inputs.items()})
    except RuntimeError:
        model = core.read_model(workload.path)
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "ENABLE_CPU_PINNING": False,
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0,
    }
    compiled = core.compile_model(model, "CPU", settings)
    request = compiled.create_infer_request()
    for port in compiled.inputs:
        name = next(name for name in port.names if name in inputs)
        request.set_tensor(port, openvino.Tensor(inputs[name]))

    def run() -> list[Array]:
        request.infer()
        return [request.get_output_tensor(index).data for index in range(len(compiled.outputs))]

    return run


ENGINES: dict[str, Callable[[Workload, Mapping[str, Array], int], Run]] = {
    "xrelay": open_xrelay,
    "onnxruntime": open_onnxruntime,
    "openvino": open_openvino,
}
"""The engines by their names in `--against`."""

PEERS = tuple(name for name in ENGINES if name != "xrelay")


WARMUP = 2
"""The unmeasured runs after the first."""
LEAST_RUNS, MAX_RUNS = 3, 1000
"""The minimum and maximum number of runs of a round."""


def main() -> None:
    """Serves one engine until standard input ends."""
    folder, engine, threads = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    cores = {int(core) for core in sys.argv[4:]}
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    workload, inputs = Workload.load(folder)
    start, cpu = time.perf_counter(), cpu_seconds()
    run = ENGINES[engine](workload, inputs, threads)
    outputs = run()
    costs = {"seconds": time.perf_counter() - start, "cpu": cpu_seconds() - cpu, "peak": peak_megabytes()}
    np.savez(folder / f"{engine}.npz", *outputs)
    for _ in range(WARMUP):
        run()
    answers.write(json.dumps(costs) + "\n")
    answers.flush()
    for line in sys.stdin:
        answers.write(json.dumps(round_of_runs(run, float(line))) + "\n")
        answers.flush()


def round_of_runs(run: Run, seconds: float) -> dict[str, list[float]]:
    """Returns the milliseconds of wall and of CPU time of each run, for about `seconds`."""
    wall: list[float] = []
    cpu: list[float] = []
    end = time.perf_counter() + seconds
    run()  # reloads the caches that another engine used
    while len(wall) < LEAST_RUNS or (time.perf_counter() < end and len(wall) < MAX_RUNS):
        started, start = time.process_time_ns(), time.perf_counter_ns()
        run()
        wall.append((time.perf_counter_ns() - start) / 1e6)
        cpu.append((time.process_time_ns() - started) / 1e6)
    return {"wall": wall, "cpu": cpu}


def cpu_seconds() -> float:
    """Returns the CPU time of this process and of its children that have ended."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_megabytes() -> float:
    """Returns the peak resident memory of this process."""
    try:
        # Linux does not reset ru_maxrss on exec, so it may be the parent's.
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    main()
