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
    """Import what the engine needs, without a model.

    For ours that is the compiler with what it knows of operators, and the library of LLVM: the peers' `import` loads
    their libraries too.
    """
    import_module(engine)
    if engine == "xrelay":
        import_module("xrelay.api.build_artifact")
        import_module("xrelay.frontend.onnx.importer")
        import_module("xrelay.frontend.onnx.converters").load()
        import_module("xrelay.lowering.relay_to_topi.strategies").load()
        registry = import_module("xrelay.lowering.registry")
        for name in registry.ALL_PASSES:
            registry.load_pass(name)
        import_module("xrelay.runtime.llvm").binding()
    elif engine == "openvino":
        import_module(engine).Core().get_property("CPU", "FULL_DEVICE_NAME")


class ChildrenPeak:
    """The peak memory of the processes that help this one to compile, added up; looked at every few milliseconds."""

    def __init__(self) -> None:
        self._peaks: dict[str, int] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def megabytes(self) -> float:
        """The sum of the peaks; nobody looks any more."""
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
                return  # another one, or still a copy of this process
            self._peaks[child.name] = kilobytes(child)


def kilobytes(process: Path, field: str = "VmHWM") -> int:
    """What the system says of a process's memory: by default the peak since its program began.

    `getrusage` counts what the one that forked it had, too. `RssFile` is what it holds of files, now: code and data of
    libraries, and models that are mapped.
    """
    lines = (process / "status").read_text().splitlines()
    return max(int(line.split()[1]) for line in lines if line.startswith(field))


SELF = Path("/proc/self")

NUMPY = import_module("numpy")
"""Every program that runs models has imported it."""


def main() -> None:
    """Measure once."""
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
