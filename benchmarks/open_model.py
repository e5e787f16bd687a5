"""Opens one model in one engine and prints seconds and megabytes as JSON: a process of `bench_compile.py`.

python benchmarks/open_model.py xrelay|onnxruntime|openvino model.onnx [--warm]
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def open_xrelay(path: Path) -> object:
    """A compiled model."""
    return import_module("xrelay").compile(path)


def open_onnxruntime(path: Path) -> object:
    """A session with the default optimisations."""
    engine = import_module("onnxruntime")
    engine.set_default_logger_severity(3)
    return engine.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def open_openvino(path: Path) -> object:
    """A model compiled for the CPU."""
    return import_module("openvino").Core().compile_model(str(path), "CPU")


OPEN: dict[str, Callable[[Path], object]] = {
    "xrelay": open_xrelay,
    "onnxruntime": open_onnxruntime,
    "openvino": open_openvino,
}


def warm(engine: str) -> None:
    """Import what the engine needs, without a model."""
    import_module(engine)
    if engine == "xrelay":
        for name in ("xrelay.api.build_artifact", "xrelay.frontend.onnx.importer"):
            import_module(name)
        registry = import_module("xrelay.lowering.registry")
        for name in registry.ALL_PASSES:
            registry.load_pass(name)
    elif engine == "openvino":
        import_module(engine).Core().get_property("CPU", "FULL_DEVICE_NAME")


def megabytes() -> float:
    """The peak memory of this process and, added up, of those that it has ended."""
    own, children = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return (own + children) / 1024


NUMPY = import_module("numpy")
"""Every program that runs models has imported it."""


def main() -> None:
    """Measure once."""
    engine, path = sys.argv[1], Path(sys.argv[2])
    if "--warm" in sys.argv:
        warm(engine)
    before = megabytes()
    start = time.perf_counter()
    model = OPEN[engine](path)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "megabytes": megabytes() - before}))
    del model


if __name__ == "__main__":
    main()
