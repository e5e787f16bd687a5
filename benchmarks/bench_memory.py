"""Memory of processes that compile an ONNX model, or load its artifact; a model of one node for comparison.

    python benchmarks/bench_memory.py MODEL.onnx

Each process runs the model once, on zeros, with 1 for dynamic extents. The table shows
the resident memory after that, and the greatest, in MiB.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from onnx import TensorProto, helper

MIB = 1 << 20
COMPILE = """
import sys, xrelay
model = xrelay.compile(sys.argv[1], cache=False, threads=1)
model.save(sys.argv[2])
"""
LOAD = """
import sys, xrelay
model = xrelay.load(sys.argv[2])
"""
RUN = """
import numpy as np
model.run([np.zeros([n if isinstance(n, int) else 1 for n in spec.shape], spec.numpy_dtype) for spec in model.inputs])
print(open("/proc/self/status").read())
"""


def write_tiny_model(path: Path) -> None:
    """Writes a model of one addition."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "tiny", [x], [y])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.write_bytes(proto.SerializeToString())


def measure(program: str, *arguments: str) -> tuple[float, float]:
    """Returns the resident memory at the end of a program, and the greatest, in MiB."""
    command = [sys.executable, "-c", program + RUN, *arguments]
    status = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    now, most = (int(re.findall(rf"{name}:\s+(\d+) kB", status)[0]) / 1024 for name in ("VmRSS", "VmHWM"))
    return now, most


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tiny, artifact = Path(folder) / "tiny.onnx", Path(folder) / "model.xrelay"
        write_tiny_model(tiny)
        print(f"{'':24} resident  greatest  (MiB)")
        for model in (tiny, given.model):
            for step, program in (("compiled", COMPILE), ("loaded", LOAD)):
                now, most = measure(program, str(model), str(artifact))
                print(f"{model.name:15} {step:8} {now:8.0f}  {most:8.0f}")
        print(f"file {given.model.stat().st_size / MIB:.0f} MiB, artifact {artifact.stat().st_size / MIB:.0f} MiB")


if __name__ == "__main__":
    main()
