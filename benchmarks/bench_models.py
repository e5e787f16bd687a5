"""Whole networks compared with onnxruntime and OpenVINO: the tables of `xrelay bench --against`, one per network.

Numbers of different runs are not comparable. Engines that are not installed are skipped.

    python benchmarks/bench_models.py [--models resnet50 …] [--threads 1 2] [--rounds N]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx

from xrelay.frontend.onnx.light_models import light_model
from xrelay.frontend.onnx.signature import graph_inputs
from xrelay.tools.comparison.compare import compare, table
from xrelay.tools.comparison.engines import PEERS, Array, Workload

MODELS = ("resnet50", "squeezenet", "vgg19")


def random_inputs(model: onnx.ModelProto) -> dict[str, Array]:
    """Returns seeded random images for the inputs of a model."""
    rng = np.random.default_rng(0)
    shapes = {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in graph_inputs(model.graph)
    }
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(MODELS), help=f"light models ({' '.join(MODELS)})")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], help="numbers of threads (1 2)")
    parser.add_argument("--rounds", type=int, default=10, help="rounds of each engine (10)")
    args = parser.parse_args()
    engines = ["xrelay", *(peer for peer in PEERS if find_spec(peer) is not None)]
    with tempfile.TemporaryDirectory() as folder:
        for name in args.models:
            model = light_model(name)
            path = Path(folder) / f"{name}.onnx"
            path.write_bytes(model.SerializeToString())
            inputs = random_inputs(model)
            workload = Workload(str(path), tuple(inputs), {})
            for threads in args.threads:
                rows = compare(workload, list(inputs.values()), engines, threads, args.rounds)
                print(f"{name}, {table(rows)}", flush=True)
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
