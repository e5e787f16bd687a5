"""onnxruntime's Python API on compiled models: `import xrelay.onnxruntime as ort`.

    session = ort.InferenceSession("model.onnx")
    (scores,) = session.run(None, {session.get_inputs()[0].name: image})

A program that imports onnxruntime itself, or uses a package that does, sets `sys.modules["onnxruntime"]` to this module
first. docs/onnxruntime.md lists the supported names and the differences.
"""

from __future__ import annotations

import sys
from typing import Final, NoReturn

from xrelay.onnxruntime.binding import IOBinding
from xrelay.onnxruntime.functions import (
    __version__,
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_available_providers,
    get_device,
    get_version_string,
    preload_dlls,
    set_default_logger_severity,
    set_default_logger_verbosity,
)
from xrelay.onnxruntime.options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from xrelay.onnxruntime.session import InferenceSession
from xrelay.onnxruntime.signature import ModelMetadata, NodeArg
from xrelay.onnxruntime.values import OrtValue, copy_tensors

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
    raise AttributeError(f"xrelay.onnxruntime has no {name!r}{help}", name=name, obj=sys.modules[__name__])
