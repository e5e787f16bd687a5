"""onnxruntime's Python API on compiled models: `import xrelay.onnxruntime as ort`.

    session = ort.InferenceSession("model.onnx")
    (scores,) = session.run(None, {session.get_inputs()[0].name: image})

A program that imports onnxruntime itself, or uses a package that does, sets `sys.modules["onnxruntime"]` to this module
first. docs/onnxruntime.md lists the supported names and the differences.
"""

from __future__ import annotations

from typing import Final, NoReturn

from xrelay.onnxruntime.binding import IOBinding
from xrelay.onnxruntime.options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from xrelay.onnxruntime.session import PROVIDER, InferenceSession
from xrelay.onnxruntime.signature import ModelMetadata, NodeArg
from xrelay.onnxruntime.values import OrtValue, copy_tensors

__version__ = "1.32.0"
"""The version of onnxruntime whose API this module has."""

__all__ = [
    "ExecutionMode",
    "ExecutionOrder",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "ModelMetadata",
    "NodeArg",
    "OrtValue",
    "RunOptions",
    "SessionOptions",
    "__version__",
    "copy_tensors",
    "disable_telemetry_events",
    "enable_telemetry_events",
    "get_all_providers",
    "get_available_providers",
    "get_device",
    "get_version_string",
    "preload_dlls",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
]

_REFUSED: Final[dict[str, str]] = {
    "quantization": "xrelay.quantize quantises a model, docs/quantization.md",
    "tools": "`xrelay --help` lists the tools of xrelay",
    "transformers": "xrelay fuses attention and normalisations itself",
    "training": "relay.transform.gradient differentiates a program, docs/gradient.md",
    "set_seed": "import the model inside of xrelay.extend.random_numbers.drawn_numbers(seed)",
    "set_default_logger_callback": "xrelay logs with Python's logging module",
    "SparseTensor": "convert it to a dense array",
    "LoraAdapter": "merge the adapter into the weights of the model",
    "AdapterFormat": "merge the adapter into the weights of the model",
    "ModelCompiler": "xrelay.compile(…).save(path) saves a compiled model, which InferenceSession reads",
    "register_execution_provider_library": "the CPU is the only device",
}
"""Name of onnxruntime → the alternative."""


def __getattr__(name: str) -> NoReturn:
    help = f": {_REFUSED[name]}" if name in _REFUSED else ""
    raise AttributeError(f"xrelay.onnxruntime has no {name!r}{help}")


def get_available_providers() -> list[str]:
    """Returns the execution provider, that of the CPU."""
    return [PROVIDER]


def get_all_providers() -> list[str]:
    """Returns the execution provider, that of the CPU."""
    return [PROVIDER]


def get_device() -> str:
    """Returns `CPU`."""
    return "CPU"


def get_version_string() -> str:
    """Returns the version of onnxruntime whose API this module has."""
    return __version__


def set_default_logger_severity(severity: int) -> None:
    """Does nothing, because xrelay logs with Python's `logging`."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Does nothing, because xrelay logs with Python's `logging`."""


def enable_telemetry_events() -> None:
    """Does nothing: xrelay sends no telemetry."""


def disable_telemetry_events() -> None:
    """Does nothing: xrelay sends no telemetry."""


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: object = None) -> None:
    """Does nothing: models run on the CPU."""
