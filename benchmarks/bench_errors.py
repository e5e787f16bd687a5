"""Errors of Winograd's algorithm and of products by parts of bf16, for each network.

    python benchmarks/bench_errors.py [NAME | MODEL.onnx]… [--target 'cpu -mcpu=skylake-avx512']

A name is that of a light model of the onnx package, with random weights; all of them by default. A network is compiled
as usual and with `exact=True`, which forbids both, and runs on random inputs; dynamic extents are 1. The results of its
convolutions and products are compared with those of the interpreter, which sums in f32. The table has the greatest
absolute error, divided by the largest result of the same node, and that node. Errors add up from node to node.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, helper

import xrelay
from xrelay.frontend.onnx.light_models import light_model, light_models
from xrelay.passes.graph.remarks import Remark, listening

NODES: Final = ("Conv", "ConvTranspose", "Gemm", "MatMul")
COUNTED: Final = {
    "relay-apply-winograd": "by Winograd's algorithm",
    "relay-split-convolutions": "by parts",
    "relay-split-products": "by parts",
    "relay-split-attention": "by parts",
}
"""The passes whose rewrites the table counts."""

Array = NDArray[Any]


def network(name: str) -> ModelProto:
    """Returns a light model or the model in a file."""
    path = Path(name)
    return ModelProto.FromString(path.read_bytes()) if path.suffix == ".onnx" else light_model(name)


def compared(proto: ModelProto) -> list[NodeProto]:
    """Returns the nodes whose results are compared."""
    return [node for node in proto.graph.node if node.op_type in NODES]


def random_inputs(model: xrelay.CompiledModel) -> dict[str, Array]:
    """Returns random inputs by name."""
    random = np.random.default_rng(1)
    shapes = [[extent if isinstance(extent, int) else 1 for extent in spec.shape] for spec in model.inputs]
    arrays = [random.standard_normal(s).astype(i.numpy_dtype) for s, i in zip(shapes, model.inputs, strict=True)]
    return dict(zip(model.input_names, arrays, strict=True))


def relative_errors(found: Sequence[Any], expected: Sequence[Any]) -> list[float]:
    """Returns the greatest absolute error of each result, divided by its largest number."""
    pairs = [(np.asarray(a, np.float64), np.asarray(b, np.float64)) for a, b in zip(found, expected, strict=True)]
    return [float(np.abs(a - b).max(initial=0) / np.abs(b).max(initial=np.finfo(np.float32).tiny)) for a, b in pairs]


def print_errors(name: str, target: str | None) -> None:
    """Prints the rows of a network."""
    proto = network(name)
    nodes = compared(proto)
    del proto.graph.output[:]
    proto.graph.output.extend(helper.make_empty_tensor_value_info(node.output[0]) for node in nodes)
    for exact in (False, True):
        remarks: list[Remark] = []
        with listening(remarks.append):
            model = xrelay.compile(proto, target=target, exact=exact, cache=False)
        inputs = random_inputs(model)
        errors = relative_errors(model.run(inputs), xrelay.interpret(xrelay.import_onnx(proto), inputs))
        worst = int(np.argmax(errors))
        counts = Counter(COUNTED[each.pass_name] for each in remarks if each.applied and each.pass_name in COUNTED)
        used = ", ".join(f"{number} {kind}" for kind, number in counts.items()) or "none"
        node = nodes[worst].name or nodes[worst].output[0]
        print(f"{Path(name).stem:18} {'exact' if exact else '':6} {errors[worst]:9.1e}  {node:24} {used}", flush=True)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", help="names of light models, or files (default: all light models)")
    parser.add_argument("--target", help="the CPU, e.g. 'cpu -mcpu=skylake-avx512' (default: this machine)")
    given = parser.parse_args()
    print(f"{'':25} {'error':>9}  {'node':24} not summed in plain f32")
    for name in given.networks or light_models():
        print_errors(name, given.target)


if __name__ == "__main__":
    main()
