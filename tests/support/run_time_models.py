"""ONNX models with sizes known only at run time: dynamic batch, image and length, loops, results of unknown length.

Each is a model with random inputs, compiled once and run at several tuples of sizes. Weights are random with a fixed
seed and widths are small, so that compilation takes most of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from support.exported_graph import ExportedGraph
from support.onnx_models import value

Array = NDArray[Any]
Sizes = tuple[int, ...]
OPSET = 17


@dataclass(frozen=True)
class RunTimeModel:
    """A model, the sizes at which it is tested, and its inputs at these sizes."""

    build: Callable[[], onnx.ModelProto]
    inputs: Callable[[np.random.Generator, Sizes], dict[str, Array]]
    sizes: Sequence[Sizes]

    @property
    def id(self) -> str:
        return self.build.__name__

    def arrays(self, sizes: Sizes) -> Mapping[str, Array]:
        """The inputs at `sizes`, the same each time."""
        return self.inputs(np.random.default_rng((3, *sizes)), sizes)


def _floats(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


# --- networks ---------------------------------------------------------------------------------------------------------


def resnet18() -> onnx.ModelProto:
    """A ResNet-18 of an eighth of the original width."""
    return resnet(8, [2, 2, 2, 2])


def small_resnet() -> onnx.ModelProto:
    """A stage of one block, with a convolution in its shortcut."""
    return resnet(8, [0, 1])


def resnet(width: int, blocks: Sequence[int], classes: int = 10) -> onnx.ModelProto:
    """A residual network with the given number of blocks per stage, and dynamic batch, height and width."""
    graph = ExportedGraph(OPSET)
    features = _conv_norm(graph, "data", 3, width, 7, 2)
    features = graph.node("Relu", features)
    features = graph.node("MaxPool", features, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inputs = width
    for stage, count in enumerate(blocks):
        outputs = width << stage
        for block in range(count):
            stride = 2 if stage and not block else 1
            features = _basic_block(graph, features, inputs, outputs, stride)
            inputs = outputs
    pooled = graph.node("Flatten", graph.node("GlobalAveragePool", features))
    logits = graph.node("Gemm", pooled, graph.weight(classes, inputs, scale=0.1), graph.weight(classes), transB=1)
    return graph.model([value("data", ("batch", 3, "height", "width"))], [graph.named("logits", logits)])


def _basic_block(graph: ExportedGraph, data: str, inputs: int, outputs: int, stride: int) -> str:
    first = graph.node("Relu", _conv_norm(graph, data, inputs, outputs, 3, stride))
    second = _conv_norm(graph, first, outputs, outputs, 3, 1)
    shortcut = data if inputs == outputs else _conv_norm(graph, data, inputs, outputs, 1, stride)
    return graph.node("Relu", graph.node("Add", second, shortcut))


def _conv_norm(graph: ExportedGraph, data: str, inputs: int, outputs: int, size: int, stride: int) -> str:
    scale = float(1 / np.sqrt(inputs * size * size))
    weight = graph.weight(outputs, inputs, size, size, scale=scale)
    conv = graph.node("Conv", data, weight, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[size // 2] * 4)
    variance = graph.stored(np.linspace(0.5, 1.5, outputs, dtype=np.float32))
    return graph.node(
        "BatchNormalization", conv, graph.weight(outputs, shift=1.0), *(graph.weight(outputs) for _ in "12"), variance
    )


WIDTH, HEADS, WORDS, POSITIONS = 16, 2, 30, 40
HEAD = WIDTH // HEADS


def bert() -> onnx.ModelProto:
    """A BERT encoder of two layers, with a mask made by Shape, Expand and Where."""
    graph = ExportedGraph(OPSET)
    places = graph.slice(graph.stored(np.arange(POSITIONS)[None]), 0, graph.extent("ids", 1), 1)
    words = graph.node("Gather", graph.weight(WORDS, WIDTH, scale=1.0), "ids", axis=0)
    positions = graph.node("Gather", graph.weight(POSITIONS, WIDTH, scale=1.0), places, axis=0)
    hidden = graph.layer_norm(graph.node("Add", words, positions), WIDTH, 1e-12)
    mask = _expanded_mask(graph)
    for _ in range(2):
        query, key, values = (_heads(graph, graph.linear(hidden, WIDTH, WIDTH)) for _ in range(3))
        attended = graph.transpose(graph.attention(query, key, values, HEAD, mask), 0, 2, 1, 3)
        joined = graph.reshape(attended, graph.extent(attended, 0), graph.extent(attended, 1), WIDTH)
        hidden = graph.layer_norm(graph.node("Add", graph.linear(joined, WIDTH, WIDTH), hidden), WIDTH, 1e-12)
        wide = graph.gelu(graph.linear(hidden, WIDTH, 4 * WIDTH))
        hidden = graph.layer_norm(graph.node("Add", graph.linear(wide, 4 * WIDTH, WIDTH), hidden), WIDTH, 1e-12)
    inputs = [
        value("ids", ("batch", "length"), TensorProto.INT64),
        value("mask", ("batch", "length"), TensorProto.INT64),
    ]
    return graph.model(inputs, [graph.named("hidden", hidden)])


def _expanded_mask(graph: ExportedGraph) -> str:
    """0 at positions that count, the least float at others; axes batch, 1, length, length."""
    batch, length = graph.extent("mask", 0), graph.extent("mask", 1)
    wide = graph.expand(graph.unsqueeze("mask", 1, 2), batch, 1, length, length)
    counts = graph.node("Cast", wide, to=TensorProto.BOOL)
    return graph.node("Where", counts, graph.constant(0.0), graph.constant(np.finfo(np.float32).min))


def _heads(graph: ExportedGraph, hidden: str) -> str:
    """Batch, position, feature → batch, head, position, feature."""
    split = graph.reshape(hidden, graph.extent(hidden, 0), graph.extent(hidden, 1), HEADS, HEAD)
    return graph.transpose(split, 0, 2, 1, 3)


def bert_inputs(rng: np.random.Generator, sizes: Sizes) -> dict[str, Array]:
    mask = rng.integers(0, 2, sizes)
    mask[:, :1] = 1
    return {"ids": rng.integers(0, WORDS, sizes), "mask": mask}


# --- loops ------------------------------------------------------------------------------------------------------------


def lstm(inputs: int = 6, hidden: int = 5) -> onnx.ModelProto:
    """An LSTM written as a Scan over time; the initial states are zeros with the batch as rows."""
    body = ExportedGraph(OPSET, 1, "body_")
    sums = body.node("Add", body.linear("x", inputs, 4 * hidden), body.linear("h", hidden, 4 * hidden))
    first, forget, update, last = body.split(sums, [hidden] * 4, -1)
    kept = body.node("Mul", body.node("Sigmoid", forget), "c")
    added = body.node("Mul", body.node("Sigmoid", first), body.node("Tanh", update))
    cell = body.node("Add", kept, added)
    state = body.node("Mul", body.node("Sigmoid", last), body.node("Tanh", cell))
    row = ("batch", hidden)
    arguments = [value("h", row), value("c", row), value("x", ("batch", inputs))]
    outputs = [body.named("h_next", state), body.named("c_next", cell), body.named("y", state)]
    graph = ExportedGraph(OPSET)
    shape = graph.shape(graph.extent("data", 1), hidden)
    zeros = graph.node("ConstantOfShape", shape, value=numpy_helper.from_array(np.zeros(1, np.float32)))
    scanned = graph.nodes("Scan", zeros, zeros, "data", count=3, num_scan_inputs=1, body=body.graph(arguments, outputs))
    names = [graph.named(name, value) for name, value in zip(("h_last", "c_last", "states"), scanned, strict=True)]
    return graph.model([value("data", ("length", "batch", inputs))], names)


def decoding(width: int = 8, words: int = 11, end: int = 0) -> onnx.ModelProto:
    """Greedy decoding with a cache that grows by a row per step, until the word `end` or `steps` words."""
    body = ExportedGraph(OPSET, 2, "body_")
    embedded = body.node("Gather", body.weight(words, width, scale=1.0), "word", axis=0)
    query, key, values = (body.node("MatMul", embedded, body.weight(width, width)) for _ in range(3))
    keys = body.node("Concat", "keys", key, axis=0)
    all_values = body.node("Concat", "values", values, axis=0)
    scores = body.node("Softmax", body.node("MatMul", query, body.transpose(keys, 1, 0)), axis=-1)
    attended = body.node("Add", body.node("MatMul", scores, all_values), embedded)
    logits = body.node("MatMul", attended, body.weight(width, words, scale=1.0))
    chosen = body.node("ArgMax", logits, axis=-1, keepdims=0)
    goes = body.node("Not", body.node("Equal", body.node("Squeeze", chosen), body.constant(end, np.int64)))
    cache = ("past", width)
    arguments = [
        value("step", (), TensorProto.INT64), value("go", (), TensorProto.BOOL),
        value("word", (1,), TensorProto.INT64), value("keys", cache), value("values", cache),
    ]  # fmt: skip
    outputs = [
        body.named(name, made)
        for name, made in (("goes", goes), ("next", chosen), ("k", keys), ("v", all_values), ("out", chosen))
    ]
    graph = ExportedGraph(OPSET)
    looped = graph.nodes("Loop", "steps", "", "word", "keys", "values", count=4, body=body.graph(arguments, outputs))
    names = [graph.named(name, made) for name, made in zip(("last", "k_all", "v_all", "text"), looped, strict=True)]
    inputs = [
        value("steps", (), TensorProto.INT64), value("word", (1,), TensorProto.INT64),
        value("keys", cache), value("values", cache),
    ]  # fmt: skip
    return graph.model(inputs, names)


def _decoding_inputs(rng: np.random.Generator, sizes: Sizes) -> dict[str, Array]:
    steps, past = sizes
    cache = {name: _floats(rng, past, 8) for name in ("keys", "values")}
    return {"steps": np.array(steps), "word": rng.integers(1, 11, 1), **cache}


def nested_ifs(depth: int = 20) -> onnx.ModelProto:
    """`depth` nested Ifs; each level tests a bit of an input, and computes on a dynamic number of rows."""
    branch, result = _branch("else", f"value_{depth - 1}", depth)
    for level in reversed(range(depth)):
        seen = f"value_{level - 1}" if level else "data"
        graph = ExportedGraph(OPSET, level, f"level_{level}_")
        shifted = graph.node("Div", "bits", graph.constant(1 << level, np.int64))
        bit = graph.node("Cast", graph.node("Mod", shifted, graph.constant(2, np.int64)), to=TensorProto.BOOL)
        raised = graph.named(f"value_{level}", graph.node("Add", seen, graph.constant(0.5 + level)))
        other, _ = _branch("other", seen, level)
        chosen = graph.node("If", bit, then_branch=branch, else_branch=other)
        result = graph.named(f"result_{level}", graph.node("Add", chosen, raised))
        branch = graph.graph([], [result])
    return graph.model([value("bits", (), TensorProto.INT64), value("data", ("rows", 3))], [result])


def _branch(prefix: str, passed: str, level: int) -> tuple[onnx.GraphProto, str]:
    """A branch that passes a value on."""
    graph = ExportedGraph(OPSET, prefix=f"{prefix}_{level}_")
    result = graph.named(f"{prefix}_{level}", passed)
    return graph.graph([], [result]), result


# --- results of unknown length ----------------------------------------------------------------------------------------


def nonzero_rows() -> onnx.ModelProto:
    """The rows of a table whose mark is not zero, and the sum of their squares."""
    graph = ExportedGraph(OPSET)
    places = graph.node("Squeeze", graph.node("NonZero", "marks"), graph.constant([0], np.int64))
    rows = graph.node("Gather", "table", places, axis=0)
    total = graph.node("ReduceSum", graph.node("Mul", rows, rows), graph.constant([0], np.int64), keepdims=0)
    inputs = [value("marks", ("rows",)), value("table", ("rows", 4))]
    return graph.model(inputs, [graph.named("chosen", rows), graph.named("total", total)])


def detector_tail(classes: int = 2) -> onnx.ModelProto:
    """The boxes that non-maximum suppression selects, best first, with class and score."""
    graph = ExportedGraph(OPSET)
    thresholds = graph.constant(0.5), graph.constant(0.2)
    kept = graph.node("NonMaxSuppression", "boxes", "scores", "most", *thresholds)
    number = graph.node("Gather", kept, graph.constant([2], np.int64), axis=1)
    kind = graph.node(
        "Squeeze", graph.node("Gather", kept, graph.constant([1], np.int64), axis=1), graph.constant([1], np.int64)
    )
    number = graph.node("Squeeze", number, graph.constant([1], np.int64))
    chosen = graph.node("Gather", graph.node("Squeeze", "boxes", graph.constant([0], np.int64)), number, axis=0)
    scores = graph.node("GatherND", "scores", kept)
    outputs = {"chosen": chosen, "kinds": kind, "points": scores}
    inputs = [
        value("boxes", (1, "boxes", 4)), value("scores", (1, classes, "boxes")), value("most", (1,), TensorProto.INT64),
    ]  # fmt: skip
    return graph.model(inputs, [graph.named(name, made) for name, made in outputs.items()])


def _detector_inputs(rng: np.random.Generator, sizes: Sizes) -> dict[str, Array]:
    count, most = sizes
    corners = rng.random((1, count, 2)).astype(np.float32) * 4
    boxes = np.concatenate([corners, corners + 0.5 + rng.random((1, count, 2)).astype(np.float32)], axis=2)
    scores = rng.permutation(2 * count).reshape(1, 2, count).astype(np.float32) / max(1, 2 * count)
    return {"boxes": boxes, "scores": scores, "most": np.array([most])}


def best_k() -> onnx.ModelProto:
    """The `k` greatest values of each row, with `k` known at run time, and an op after it."""
    graph = ExportedGraph(OPSET)
    values, places = graph.nodes("TopK", "data", "k", count=2, axis=-1)
    share = graph.node("Softmax", values, axis=-1)
    outputs = [graph.named("share", share), graph.named("places", places)]
    return graph.model([value("data", ("rows", "columns")), value("k", (1,), TensorProto.INT64)], outputs)


def operands() -> onnx.ModelProto:
    """One node of each op whose shape is an input, most next to a node that fuses with it."""
    graph = ExportedGraph(OPSET)
    one = graph.constant([1], np.int64)
    shape = graph.node("Concat", "last", "first", axis=0)
    made = {
        "reshaped": graph.node("Exp", graph.node("Reshape", "data", shape)),
        "expanded": graph.node("Add", graph.node("Expand", "row", graph.node("Concat", "first", one, axis=0)), "row"),
        "filled": graph.node("ConstantOfShape", shape, value=numpy_helper.from_array(np.array([2.5], np.float32))),
        "tiled": graph.node("Tile", graph.node("Neg", "data"), graph.node("Concat", one, "few", axis=0)),
        "cut": graph.node("Slice", graph.node("Exp", "data"), "few", "first", graph.constant([0], np.int64)),
        "padded": graph.node("Pad", "data", graph.node("Concat", one, "few", "few", one, axis=0)),
        "counted": graph.node(
            "Range", graph.constant(0, np.int64), graph.node("Squeeze", "first"), graph.constant(2, np.int64)
        ),
        "unsqueezed": graph.node("Unsqueeze", "data", "few"),
        "kept": graph.node("Compress", "data", "mask", axis=0),
        "size": graph.node("Size", "data"),
        "sums": graph.node("CumSum", "data", graph.constant(1, np.int64)),
        "hot": graph.node("OneHot", "few", graph.constant(4, np.int64), graph.constant([0.0, 1.0])),
    }
    numbers = [value(name, (1,), TensorProto.INT64) for name in ("first", "last", "few")]
    mask = value("mask", ("rows",), TensorProto.BOOL)
    inputs = [value("data", ("rows", "columns")), value("row", (1, "columns")), mask, *numbers]
    return graph.model(inputs, [graph.named(name, output) for name, output in made.items()])


def _operand_inputs(rng: np.random.Generator, sizes: Sizes) -> dict[str, Array]:
    first, last = sizes
    arrays = {"data": _floats(rng, *sizes), "row": _floats(rng, 1, last), "mask": rng.random(first) < 0.5}
    return {**arrays, "first": np.array([first]), "last": np.array([last]), "few": np.array([first % 2])}


IMAGES = [(1, 33, 33), (2, 32, 64), (3, 37, 41), (1, 67, 35), (0, 32, 32)]


def _images(rng: np.random.Generator, sizes: Sizes) -> dict[str, Array]:
    return {"data": _floats(rng, sizes[0], 3, *sizes[1:])}


NETWORKS = [
    RunTimeModel(small_resnet, _images, IMAGES),
    RunTimeModel(
        nested_ifs,
        lambda rng, sizes: {"bits": np.array(sizes[0]), "data": _floats(rng, sizes[1], 3)},
        [(0, 1), ((1 << 20) - 1, 7), (0b10111, 2), (0b1111111111011111111, 13), (1, 0)],
    ),
    RunTimeModel(bert, bert_inputs, [(1, 1), (2, 7), (3, 5), (1, 40), (0, 3)]),
    RunTimeModel(
        lstm,
        lambda rng, sizes: {"data": _floats(rng, *sizes, 6)},
        [(1, 1), (5, 2), (7, 3), (13, 1), (2, 16)],
    ),
    RunTimeModel(decoding, _decoding_inputs, [(1, 1), (2, 3), (7, 1), (0, 5), (13, 2)]),
    RunTimeModel(detector_tail, _detector_inputs, [(1, 1), (7, 3), (13, 20), (0, 2), (5, 0)]),
    RunTimeModel(
        best_k,
        lambda rng, sizes: {"data": _floats(rng, *sizes[:2]), "k": np.array(sizes[2:])},
        [(1, 1, 1), (3, 7, 2), (2, 13, 13), (5, 4, 0), (0, 3, 2)],
    ),
    RunTimeModel(
        nonzero_rows,
        lambda rng, sizes: {
            "marks": (rng.random(sizes[0]) < 0.5).astype(np.float32),
            "table": _floats(rng, sizes[0], 4),
        },
        [(1,), (2,), (7,), (0,), (31,)],
    ),
]
WHOLE = [
    RunTimeModel(resnet18, _images, IMAGES),
    RunTimeModel(operands, _operand_inputs, [(1, 1), (2, 3), (5, 7), (3, 1), (13, 2)]),
]
"""Models that take long to compile."""
