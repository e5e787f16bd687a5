"""The engines of a comparison: each opens a model and returns a function that runs it once.

An engine is imported when it is opened, in its own process.
"""

from __future__ import annotations

import json
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
    shapes: Mapping[str, tuple[int, ...]]
    """Shapes of inputs, and (minimum, maximum, typical) sizes of dynamic dimensions, as in `--shapes`."""
    opt_level: int = 3
    target: str | None = None
    integers: bool = False

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
