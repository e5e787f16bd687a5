"""Single operators in shapes of real networks, compared with onnxruntime on one thread, in one process, in turns.

Each row shows the fastest round of both in CPU time of the thread (other load on the machine does not count), the ratio
(below 1: xrelay is faster) and the largest difference of the results as a fraction of the largest value. A model of one
operator includes layout changes: a convolution is measured with the change to blocked channels and back, for both
engines.

    python benchmarks/bench_ops.py [--only TEXT …] [--milliseconds N] [--quantised] [--sort]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from math import exp, log
from time import thread_time_ns
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import xrelay

Array = NDArray[Any]
Run = Callable[[], list[Array]]
Shape = tuple[int, ...]
Attribute = int | float | Sequence[int]

ROUNDS = 5
"""The minimum number of rounds."""


class Network:
    """A builder of models with random weights."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(0)

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node; returns the name of its output."""
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def weight(self, *shape: int) -> str:
        """Adds a random weight that keeps the variance of its operand."""
        values = self.random.standard_normal(shape) / np.sqrt(max(1, np.prod(shape[1:])))
        return self.stored(values.astype(np.float32))

    def bytes(self, *shape: int) -> str:
        """Adds a random int8 weight."""
        return self.stored(self.random.integers(-127, 128, shape).astype(np.int8))

    def stored(self, array: NDArray[Any] | np.generic) -> str:
        """Adds an initializer."""
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def model(
        self, name: str, shape: Sequence[int | str], output: str, kind: int = TensorProto.FLOAT
    ) -> onnx.ModelProto:
        """Returns the network from the input `data` to an output."""
        data = helper.make_tensor_value_info("data", kind, shape)
        ends = [helper.make_empty_tensor_value_info(output)]
        graph = helper.make_graph(self.nodes, name, [data], ends, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def qlinear_conv(net: Network, x: str, shape: tuple[int, int], kernel: int, groups: int = 1) -> str:
    """Adds a convolution of uint8 by int8 with a scale for each filter."""
    channels, filters = shape
    scale, zero = net.stored(np.float32(0.05)), net.stored(np.uint8(100))
    weight = net.bytes(filters, channels // groups, kernel, kernel)
    scales, zeros = net.stored(np.full(filters, 0.004, np.float32)), net.stored(np.zeros(filters, np.int8))
    bias = net.stored(np.arange(filters, dtype=np.int32))
    operands = (x, scale, zero, weight, scales, zeros, scale, zero, bias)
    return net.add("QLinearConv", *operands, pads=[kernel // 2] * 4, group=groups)


def convolutions(data: Sequence[int], layers: Sequence[tuple[tuple[int, int], int, int]]) -> onnx.ModelProto:
    """Returns consecutive QLinearConv nodes; a layer is its channels in and out, kernel and groups."""
    net, x = Network(), "data"
    for shape, kernel, groups in layers:
        x = qlinear_conv(net, x, shape, kernel, groups)
    return net.model("case", data, x, TensorProto.UINT8)


def qlinear_matmul(rows: int, depth: int, units: int) -> onnx.ModelProto:
    """Returns a product of uint8 by int8, requantised."""
    net = Network()
    scale, zero, none = net.stored(np.float32(0.02)), net.stored(np.uint8(128)), net.stored(np.int8(0))
    weight = net.bytes(depth, units)
    y = net.add("QLinearMatMul", "data", scale, zero, weight, scale, none, scale, zero)
    return net.model("case", (rows, depth), y, TensorProto.UINT8)


def dynamic_matmul(rows: int, depth: int, units: int) -> onnx.ModelProto:
    """Returns a product of dynamically quantised floats by int8, in the form of dynamically quantised transformers."""
    net = Network()
    net.nodes.append(helper.make_node("DynamicQuantizeLinear", ["data"], ["q", "s", "z"]))
    weight, none = net.bytes(depth, units), net.stored(np.int8(0))
    total = net.add("Cast", net.add("MatMulInteger", "q", weight, "z", none), to=TensorProto.FLOAT)
    y = net.add("Mul", total, net.add("Mul", "s", net.stored(np.float32(0.01))))
    return net.model("case", (rows, depth), y)


def between_steps(layers: int, channels: int, size: int) -> onnx.ModelProto:
    """Returns float convolutions, each between DequantizeLinear and QuantizeLinear."""
    net = Network()
    step, zero = net.stored(np.float32(0.05)), net.stored(np.uint8(0))
    x = net.add("QuantizeLinear", "data", step, zero)
    for _ in range(layers):
        weight = net.bytes(channels, channels, 3, 3)
        scales = net.stored(np.full(channels, 0.0005, np.float32)), net.stored(np.zeros(channels, np.int8))
        filters = net.add("DequantizeLinear", weight, *scales, axis=0)
        y = net.add("Conv", net.add("DequantizeLinear", x, step, zero), filters, pads=[1] * 4)
        x = net.add("QuantizeLinear", net.add("Relu", y), step, zero)
    y = net.add("DequantizeLinear", x, step, zero)
    return net.model("case", (1, channels, size, size), y)


@dataclass(frozen=True)
class Case:
    """A node: its input, its weights in order, and its attributes."""

    op: str
    name: str
    data: Shape
    weights: tuple[Shape, ...]
    attributes: dict[str, Attribute]

    def model(self) -> onnx.ModelProto:
        """Returns the node as a model."""
        net = Network()
        weights = [net.weight(*shape) for shape in self.weights]
        return net.model("case", self.data, net.add(self.op, "data", *weights, **self.attributes))


def conv(
    channels: int, size: int, filters: int, kernel: int, *, stride: int = 1, groups: int = 1, batch: int = 1
) -> Case:
    """Returns a convolution with bias, padded to keep the size except for the stride."""
    attributes: dict[str, Attribute] = {
        "kernel_shape": [kernel, kernel],
        "strides": [stride, stride],
        "pads": [kernel // 2] * 4,
        "group": groups,
    }
    name = f"conv {kernel}x{kernel}/{stride} {channels}>{filters} {size}x{size}"
    name += (f" groups {groups}" if groups > 1 else "") + (f" batch {batch}" if batch > 1 else "")
    weights = ((filters, channels // groups, kernel, kernel), (filters,))
    return Case("Conv", name, (batch, channels, size, size), weights, attributes)


def pool(op: str, channels: int, size: int, kernel: int, stride: int, pad: int = 0) -> Case:
    """Returns a pooling of NCHW images."""
    attributes: dict[str, Attribute] = {
        "kernel_shape": [kernel, kernel],
        "strides": [stride, stride],
        "pads": [pad] * 4,
    }
    name = f"{op} {kernel}x{kernel}/{stride} {channels} {size}x{size}"
    return Case(op, name, (1, channels, size, size), (), attributes)


def dense(rows: int, depth: int, units: int) -> Case:
    """Returns a fully connected layer with bias."""
    return Case("Gemm", f"dense {rows}x{depth} > {units}", (rows, depth), ((units, depth), (units,)), {"transB": 1})


def plain(op: str, shape: Shape, **attributes: Attribute) -> Case:
    """Returns an operator without weights."""
    details = " ".join(f"{key}={value}" for key, value in attributes.items())
    return Case(op, f"{op} {'x'.join(map(str, shape))} {details}", shape, (), attributes)


CASES = (
    conv(3, 224, 64, 7, stride=2),
    conv(3, 224, 32, 3, stride=2),
    conv(3, 224, 64, 3),
    conv(64, 56, 64, 3),
    conv(128, 28, 128, 3),
    conv(256, 14, 256, 3),
    conv(512, 7, 512, 3),
    conv(96, 14, 208, 3),
    conv(17, 28, 17, 3),
    conv(64, 56, 256, 1),
    conv(1024, 14, 256, 1),
    conv(2048, 7, 512, 1),
    conv(512, 13, 1000, 1),
    conv(232, 7, 232, 1),
    conv(256, 14, 256, 1, batch=4),
    conv(144, 56, 144, 3, groups=144),
    conv(96, 112, 96, 3, stride=2, groups=96),
    conv(58, 28, 58, 3, groups=58),
    conv(128, 56, 128, 3, groups=32),
    conv(272, 14, 272, 1, groups=4),
    pool("MaxPool", 64, 112, 3, 2, 1),
    pool("MaxPool", 192, 28, 3, 1, 1),
    pool("AveragePool", 128, 56, 2, 2),
    plain("GlobalAveragePool", (1, 1000, 13, 13)),
    plain("ReduceMean", (1, 512, 28, 28), axes=[2, 3], keepdims=0),
    plain("ReduceMean", (1024, 1024), axes=[0], keepdims=0),
    dense(1, 2048, 1000),
    dense(1, 25088, 4096),
    dense(4, 2048, 1000),
    dense(128, 768, 3072),
    dense(128, 512, 10),
    dense(100, 300, 500),
    plain("Softmax", (1, 1000), axis=1),
    plain("Softmax", (128, 512), axis=1),
    plain("Softmax", (4, 50000), axis=1),
    plain("Softmax", (1, 21, 64, 64), axis=1),
    plain("Transpose", (1024, 1024), perm=[1, 0]),
    plain("Transpose", (1, 64, 56, 56), perm=[0, 2, 3, 1]),
    plain("Relu", (1, 64, 112, 112)),
    plain("Sigmoid", (1, 64, 112, 112)),
)
"""The cases in the order of the table."""


QUANTISED: dict[str, Callable[[], onnx.ModelProto]] = {
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
"""Quantised operators and short int8 networks.

Results are compared without scaling, so 1e-02 may be one quantisation step. The networks between QuantizeLinear and
DequantizeLinear are compiled with `integers=True`, as onnxruntime runs them.
"""


def load_onnxruntime(model: onnx.ModelProto, data: Array) -> Run:
    """Loads the peer, on one thread."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {session.get_inputs()[0].name: data})


def fastest(runs: Sequence[Run], milliseconds: float) -> list[float]:
    """Returns the milliseconds of each run's fastest round; they take turns for `milliseconds` in total."""
    best = [float("inf")] * len(runs)
    end = thread_time_ns() + int(milliseconds * 1e6)
    rounds = 0
    while rounds < ROUNDS or thread_time_ns() < end:
        rounds += 1
        for number, run in enumerate(runs):
            start = thread_time_ns()
            run()
            best[number] = min(best[number], (thread_time_ns() - start) / 1e6)
    return best


@dataclass(frozen=True)
class Row:
    """The times of a case and the difference of the results; without a peer, its fields are `None`."""

    name: str
    ours: float
    theirs: float | None
    difference: float | None

    @property
    def ratio(self) -> float | None:
        """The time of xrelay as a multiple of the peer's."""
        return None if self.theirs is None else self.ours / self.theirs

    def __str__(self) -> str:
        if self.theirs is None or self.ratio is None:
            return f"{self.name:44} {self.ours:9.4f} {'—':>9} {'—':>7} {'—':>8}"
        return f"{self.name:44} {self.ours:9.4f} {self.theirs:9.4f} {self.ratio:7.2f} {self.difference:8.0e}"


def random_data(model: onnx.ModelProto) -> Array:
    """Returns random values for the model's input."""
    tensor, random = model.graph.input[0].type.tensor_type, np.random.default_rng(1)
    shape = [dim.dim_value for dim in tensor.shape.dim]
    if tensor.elem_type == TensorProto.UINT8:
        return random.integers(0, 256, shape).astype(np.uint8)
    return random.standard_normal(shape).astype(np.float32)


def compared(
    name: str, model: onnx.ModelProto, data: Array, milliseconds: float, *, peer: bool, integers: bool = False
) -> Row:
    """Times a compiled model of one input; with `peer`, also times onnxruntime on `data` and compares the results."""
    compiled = xrelay.compile(model, threads=1, integers=integers)
    runs: list[Run] = [lambda: compiled.run([data])]
    if peer:
        runs.append(load_onnxruntime(model, data))
    first, *others = [run()[0].astype(np.float64) for run in runs]
    times = fastest(runs, milliseconds)
    if not others:
        return Row(name, times[0], None, None)
    return Row(name, times[0], times[1], float(np.abs(first - others[0]).max() / np.abs(others[0]).max()))


def rows(only: Sequence[str], milliseconds: float, *, quantised: bool) -> Iterator[Row]:
    """Yields the rows of the cases whose names contain one of the texts, or of all cases without texts."""
    peer = find_spec("onnxruntime") is not None
    cases = QUANTISED if quantised else {case.name: case.model for case in CASES}
    for name, make in cases.items():
        if not only or any(text in name for text in only):
            model, integers = make(), "between steps" in name
            yield compared(name, model, random_data(model), milliseconds, peer=peer, integers=integers)


def main() -> int:
    """Prints the table and the geometric mean of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], help="cases whose name holds one of these texts")
    parser.add_argument("--milliseconds", type=float, default=200, help="how long each case is measured (200)")
    parser.add_argument("--quantised", action="store_true", help="quantised operators instead of float ones")
    parser.add_argument("--sort", action="store_true", help="the largest ratio first, once all are measured")
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    kind = "8 bits" if args.quantised else "f32"
    print(f"{'one thread, ' + kind:44} {'ours ms':>9} {'ort ms':>9} {'ratio':>7} {'differ':>8}", flush=True)
    measured: list[Row] = []
    for row in rows(args.only, args.milliseconds, quantised=args.quantised):
        measured.append(row)
        if not args.sort:
            print(row, flush=True)
    if args.sort:
        print("\n".join(map(str, sorted(measured, key=lambda row: -(row.ratio or row.ours)))))
    ratios = [row.ratio for row in measured if row.ratio is not None]
    if ratios:
        mean = exp(sum(map(log, ratios)) / len(ratios))
        print(f"{'geometric mean of ' + str(len(ratios)):44} {'':9} {'':9} {mean:7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
