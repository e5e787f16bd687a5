"""xrelay: a deep-learning compiler you can read from end to end.

    model = xrelay.compile("resnet50.onnx")
    outputs = model.run({"data": x})

`compile` takes ONNX files, text and modules. `relay` builds graphs in Python; `build` and `GraphModule` compile and run
them through Relay's API. `quantize` turns a float model into int8. `parse` reads text, `interpret` runs a program
without compiling it, and `same` decides whether two programs, at any levels, compute the same results. `tune` measures
schedules. Public names are imported on first use, so `import xrelay` is cheap.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from xrelay.version import __version__

if TYPE_CHECKING:
    from xrelay import errors as errors
    from xrelay import instrument as instrument
    from xrelay import ir as ir
    from xrelay import nd as nd
    from xrelay import onnx_backend as onnx_backend
    from xrelay import onnxruntime as onnxruntime
    from xrelay import relay as relay
    from xrelay import target as target
    from xrelay import te as te
    from xrelay import topi as topi
    from xrelay import transform as transform
    from xrelay.api.build_schedule import BuiltFunction as BuiltFunction
    from xrelay.api.comparison import Comparison as Comparison
    from xrelay.api.compile import compile as compile
    from xrelay.api.graph_module import GraphModule as GraphModule
    from xrelay.api.model import CompiledModel as CompiledModel
    from xrelay.api.model import load as load
    from xrelay.api.programs import interpret as interpret
    from xrelay.api.programs import parse as parse
    from xrelay.api.same import same as same
    from xrelay.api.tuning.tuner import tune as tune
    from xrelay.frontend.onnx.importer import import_onnx as import_onnx
    from xrelay.nd import cpu as cpu
    from xrelay.onnxruntime.session import InferenceSession as InferenceSession
    from xrelay.relay.build_module import build as build
    from xrelay.relay.library import Library as Library
    from xrelay.relay.library import load_module as load_module
    from xrelay.relay.module import IRModule as IRModule
    from xrelay.relay.quantize.model import quantize as quantize
    from xrelay.relay.registered_functions import get_global_func as get_global_func
    from xrelay.relay.registered_functions import register_func as register_func
    from xrelay.target.target import Target as Target
    from xrelay.te.lower import lower as lower
    from xrelay.transform import PassContext as PassContext

_PUBLIC: dict[str, str] = {
    "BuiltFunction": "xrelay.api.build_schedule",
    "Comparison": "xrelay.api.comparison",
    "CompiledModel": "xrelay.api.model",
    "GraphModule": "xrelay.api.graph_module",
    "IRModule": "xrelay.relay.module",
    "InferenceSession": "xrelay.onnxruntime.session",
    "Library": "xrelay.relay.library",
    "PassContext": "xrelay.transform",
    "Target": "xrelay.target.target",
    "build": "xrelay.relay.build_module",
    "compile": "xrelay.api.compile",
    "cpu": "xrelay.nd",
    "errors": "xrelay",
    "get_global_func": "xrelay.relay.registered_functions",
    "import_onnx": "xrelay.frontend.onnx",
    "instrument": "xrelay",
    "interpret": "xrelay.api.programs",
    "ir": "xrelay",
    "load": "xrelay.api.model",
    "load_module": "xrelay.relay.library",
    "lower": "xrelay.te.lower",
    "nd": "xrelay",
    "onnx_backend": "xrelay",
    "onnxruntime": "xrelay",
    "parse": "xrelay.api.programs",
    "quantize": "xrelay.relay.quantize.model",
    "register_func": "xrelay.relay.registered_functions",
    "relay": "xrelay",
    "same": "xrelay.api.same",
    "target": "xrelay",
    "te": "xrelay",
    "topi": "xrelay",
    "transform": "xrelay",
    "tune": "xrelay.api.tuning.tuner",
}
"""Maps a public name to its module. A name whose module is `xrelay` is itself a submodule."""

__all__ = [
    "BuiltFunction",
    "Comparison",
    "CompiledModel",
    "GraphModule",
    "IRModule",
    "InferenceSession",
    "Library",
    "PassContext",
    "Target",
    "__version__",
    "build",
    "compile",
    "cpu",
    "errors",
    "get_global_func",
    "import_onnx",
    "instrument",
    "interpret",
    "ir",
    "load",
    "load_module",
    "lower",
    "nd",
    "onnx_backend",
    "onnxruntime",
    "parse",
    "quantize",
    "register_func",
    "relay",
    "same",
    "target",
    "te",
    "topi",
    "transform",
    "tune",
]


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'xrelay' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    # Imported here because contextlib and threading would double the time of `import xrelay`.
    from xrelay.shortage import NUMPY, check_memory, reporting_shortage

    with reporting_shortage():
        if "numpy" not in sys.modules:
            check_memory(NUMPY, "importing numpy")
        from xrelay.passes.infra.gc_pause import gc_pause, keep_imported

        path = f"xrelay.{name}" if module == "xrelay" else module
        is_new = path not in sys.modules
        with gc_pause():
            found = import_module(path)
            if is_new:
                keep_imported()
        return found if module == "xrelay" else getattr(found, name)


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
