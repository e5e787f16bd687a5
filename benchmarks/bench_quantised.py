"""Quantised operators and short int8 networks, compared with onnxruntime on one thread, in one process, in turns.

The columns are those of `bench_ops.py`. Results are compared without scaling, so 1e-02 may be one quantisation step.
The networks between QuantizeLinear and DequantizeLinear are compiled with `integers=True`, as onnxruntime runs them.

    python benchmarks/bench_quantised.py [--only TEXT …] [--milliseconds N]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from math import exp, log
from typing import Any

import numpy as np
import onnx
from bench_ops import Attribute, Row, compared
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[Any]
Shape = tuple[int, ...]


@dataclass
class Network:
    """The nodes of a quantised model, in order, and its constants."""

    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    constants: list[onnx.TensorProto] = field(default_factory=list[onnx.TensorProto])

    def constant(self, array: Array | np.generic) -> str:
        """Adds a constant; returns its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op: str, *inputs: str, **attributes: Attribute) -> str:
        """Adds a node; returns the name of its result."""
        name = f"y{len(self.nodes)}"
        node = helper.make_node(op, inputs, [name])
        node.attribute.extend(helper.make_attribute(*pair) for pair in attributes.items())
        self.nodes.append(node)
        return name

    def bytes(self, shape: Shape) -> Array:
        """Returns a random int8 weight."""
        return self.random.integers(-127, 128, shape).astype(np.int8)

    def model(self, data: Shape, kind: int, result: str, result_kind: int) -> onnx.ModelProto:
        """Returns the nodes as a model."""
        x = helper.make_tensor_value_info("x", kind, data)
        y = helper.make_tensor_value_info(result, result_kind, None)
        graph = helper.make_graph(self.nodes, "case", [x], [y], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def qlinear_conv(net: Network, x: str, shape: tuple[int, int], kernel: int, groups: int = 1) -> str:
    """Adds a convolution of uint8 by int8 with a scale for each filter."""
    channels, filters = shape
    scale, zero = net.constant(np.float32(0.05)), net.constant(np.uint8(100))
    weight = net.constant(net.bytes((filters, channels // groups, kernel, kernel)))
    scales, zeros = net.constant(np.full(filters, 0.004, np.float32)), net.constant(np.zeros(filters, np.int8))
    bias = net.constant(np.arange(filters, dtype=np.int32))
    operands = (x, scale, zero, weight, scales, zeros, scale, zero, bias)
    return net.node("QLinearConv", *operands, pads=[kernel // 2] * 4, group=groups)


def convolutions(data: Shape, layers: Sequence[tuple[tuple[int, int], int, int]]) -> onnx.ModelProto:
    """Returns consecutive QLinearConv nodes; a layer is its channels in and out, kernel and groups."""
    net, x = Network(), "x"
    for shape, kernel, groups in layers:
        x = qlinear_conv(net, x, shape, kernel, groups)
    return net.model(data, TensorProto.UINT8, x, TensorProto.UINT8)


def qlinear_matmul(rows: int, depth: int, units: int) -> onnx.ModelProto:
    """Returns a product of uint8 by int8, requantised."""
    net = Network()
    scale, zero, none = net.constant(np.float32(0.02)), net.constant(np.uint8(128)), net.constant(np.int8(0))
    weight = net.constant(net.bytes((depth, units)))
    y = net.node("QLinearMatMul", "x", scale, zero, weight, scale, none, scale, zero)
    return net.model((rows, depth), TensorProto.UINT8, y, TensorProto.UINT8)


def dynamic_matmul(rows: int, depth: int, units: int) -> onnx.ModelProto:
    """Returns a product of dynamically quantised floats by int8, in the form of dynamically quantised transformers."""
    net = Network()
    net.nodes.append(helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]))
    weight, none = net.constant(net.bytes((depth, units))), net.constant(np.int8(0))
    total = net.node("Cast", net.node("MatMulInteger", "q", weight, "z", none), to=TensorProto.FLOAT)
    y = net.node("Mul", total, net.node("Mul", "s", net.constant(np.float32(0.01))))
    return net.model((rows, depth), TensorProto.FLOAT, y, TensorProto.FLOAT)


def between_steps(layers: int, channels: int, size: int) -> onnx.ModelProto:
    """Returns float convolutions, each between DequantizeLinear and QuantizeLinear."""
    net = Network()
    step, zero = net.constant(np.float32(0.05)), net.constant(np.uint8(0))
    x = net.node("QuantizeLinear", "x", step, zero)
    for _ in range(layers):
        weight = net.constant(net.bytes((channels, channels, 3, 3)))
        scales = net.constant(np.full(channels, 0.0005, np.float32)), net.constant(np.zeros(channels, np.int8))
        filters = net.node("DequantizeLinear", weight, *scales, axis=0)
        y = net.node("Conv", net.node("DequantizeLinear", x, step, zero), filters, pads=[1] * 4)
        x = net.node("QuantizeLinear", net.node("Relu", y), step, zero)
    y = net.node("DequantizeLinear", x, step, zero)
    return net.model((1, channels, size, size), TensorProto.FLOAT, y, TensorProto.FLOAT)


CASES: dict[str, Callable[[], onnx.ModelProto]] = {
    "conv 3x3 64>64 56x56": partial(convolutions, (1, 64, 56, 56), [((64, 64), 3, 1)]),
    "conv 3x3 256>256 14x14": partial(convolutions, (1, 256, 14, 14), [((256, 256), 3, 1)]),
    "conv 3x3 512>512 7x7": partial(convolutions, (1, 512, 7, 7), [((512, 512), 3, 1)]),
    "conv 1x1 256>64 28x28": partial(convolutions, (1, 256, 28, 28), [((256, 64), 1, 1)]),
    "conv 7x7 3>64 112x112": partial(convolutions, (1, 3, 112, 112), [((3, 64), 7, 1)]),
    "7 conv 3x3 64 56x56": partial(convolutions, (1, 64, 56, 56), [((64, 64), 3, 1)] * 7),
    "3 inverted bottlenecks 32 28x28": partial(
        convolutions, (1, 32, 28, 28), [((32, 192), 1, 1), ((192, 192), 3, 192), ((192, 32), 1, 1)] * 3
    ),
    "7 conv between steps 64 56x56": partial(between_steps, 7, 64, 56),
    "matmul 128x768 > 768": partial(qlinear_matmul, 128, 768, 768),
    "matmul 1x2048 > 1000": partial(qlinear_matmul, 1, 2048, 1000),
    "dynamic matmul 128x768 > 3072": partial(dynamic_matmul, 128, 768, 3072),
    "dynamic matmul 1x768 > 768": partial(dynamic_matmul, 1, 768, 768),
}
"""The cases in the order of the table."""


def random_data(model: onnx.ModelProto) -> Array:
    """Returns random values for the model's input."""
    tensor, random = model.graph.input[0].type.tensor_type, np.random.default_rng(1)
    shape = [dim.dim_value for dim in tensor.shape.dim]
    if tensor.elem_type == TensorProto.UINT8:
        return random.integers(0, 256, shape).astype(np.uint8)
    return random.standard_normal(shape).astype(np.float32)


def rows(only: Sequence[str], milliseconds: float) -> Iterator[Row]:
    """Yields the rows of the cases whose names contain one of the texts, or of all cases without texts."""
    peer = find_spec("onnxruntime") is not None
    for name, make in CASES.items():
        if not only or any(text in name for text in only):
            model, integers = make(), "between steps" in name
            yield compared(name, model, random_data(model), milliseconds, peer=peer, integers=integers)


def main() -> int:
    """Prints the table and the geometric mean of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], help="cases whose name holds one of these texts")
    parser.add_argument("--milliseconds", type=float, default=200, help="how long each case is measured (200)")
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"{'one thread, 8 bits':44} {'ours ms':>9} {'ort ms':>9} {'ratio':>7} {'differ':>8}", flush=True)
    ratios: list[float] = []
    for row in rows(args.only, args.milliseconds):
        print(row, flush=True)
        ratios += [] if row.ratio is None else [row.ratio]
    if ratios:
        mean = exp(sum(map(log, ratios)) / len(ratios))
        print(f"{'geometric mean of ' + str(len(ratios)):44} {'':9} {'':9} {mean:7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
