"""Opens one model in one engine and prints seconds and megabytes as JSON: a process of `bench_compile.py`.

python benchmarks/open_model.py xrelay|onnxruntime|openvino model.onnx [--warm]
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path


def open_xrelay(path: Path) -> object:
    """Compiles a model with xrelay."""
    return import_module("xrelay").compile(path)


def open_onnxruntime(path: Path) -> object:
    """Opens a session with the default optimisations."""
    engine = import_module("onnxruntime")
    engine.set_default_logger_severity(3)
    return engine.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def open_openvino(path: Path) -> object:
    """Compiles a model for the CPU."""
    return import_module("openvino").Core().compile_model(str(path), "CPU")


OPEN: dict[str, Callable[[Path], object]] = {
    "xrelay": open_xrelay,
    "onnxruntime": open_onnxruntime,
    "openvino": open_openvino,
}


def warm(engine: str) -> None:
    """Imports the engine without a model.

    For xrelay this includes the compiler with its operator tables, and LLVM's library: the `import` of the peers loads
    their libraries too.
    """
    import_module(engine)
    if engine == "xrelay":
        import_module("xrelay.api.build_artifact")
        import_module("xrelay.frontend.onnx.importer")
        import_module("xrelay.frontend.onnx.converters").load()
        import_module("xrelay.lowering.relay_to_topi.registry").load()
        registry = import_module("xrelay.lowering.registry")
        for name in registry.ALL_PASSES:
            registry.load_pass(name)
        import_module("xrelay.runtime.llvm").binding()
    elif engine == "openvino":
        import_module(engine).Core().get_property("CPU", "FULL_DEVICE_NAME")


class ChildrenPeak:
    """The sum of the peak memory of worker processes, sampled every few milliseconds."""

    def __init__(self) -> None:
        self._peaks: dict[str, int] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def megabytes(self) -> float:
        """Stops sampling; returns the sum of the peaks."""
        self._done.set()
        self._thread.join()
        return sum(self._peaks.values()) / 1024

    def _watch(self) -> None:
        while not self._done.wait(0.01):
            for task in Path("/proc/self/task").glob("*/children"):
                with suppress(OSError):
                    for child in task.read_text().split():
                        self._look(Path("/proc") / child)

    def _look(self, child: Path) -> None:
        with suppress(OSError):
            if b"worker_process" not in (child / "cmdline").read_bytes():
                return  # another process, or a fork of this one before its exec
            self._peaks[child.name] = kilobytes(child)


def kilobytes(process: Path, field: str = "VmHWM") -> int:
    """Returns a memory figure of a process, by default its peak since its program began.

    Unlike `getrusage` this does not include the memory of the process that forked it. `RssFile` is the current size of
    mapped files: code and data of libraries, and mapped models.
    """
    lines = (process / "status").read_text().splitlines()
    return max(int(line.split()[1]) for line in lines if line.startswith(field))


SELF = Path("/proc/self")

NUMPY = import_module("numpy")
"""numpy, which every program that runs models has imported."""


def main() -> None:
    """Measures once."""
    engine, path = sys.argv[1], Path(sys.argv[2])
    if "--warm" in sys.argv:
        warm(engine)
    before, files, children = kilobytes(SELF), kilobytes(SELF, "RssFile"), ChildrenPeak()
    start = time.perf_counter()
    model = OPEN[engine](path)
    seconds = time.perf_counter() - start
    own, helpers = (kilobytes(SELF) - before) / 1024, children.megabytes()
    mapped = (kilobytes(SELF, "RssFile") - files) / 1024
    print(json.dumps({"seconds": seconds, "megabytes": own + helpers, "helpers": helpers, "files": mapped}))
    del model


if __name__ == "__main__":
    main()
