"""Detectors: two grids of boxes, and non-maximum suppression."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from support.exported_graph import ExportedGraph
from support.onnx_networks.layers import convolution
from support.onnx_networks.network import IMAGE, Input, Network, images

ANCHORS, KINDS = 2, 3
ROW = 5 + KINDS
"""The numbers of a box: centre, size, confidence, and a score per kind."""


def yolo(graph: ExportedGraph) -> list[str]:
    """Non-maximum suppression of each kind separately."""
    boxes, scores = _boxes_of_grids(graph)
    scores = graph.transpose(scores, 0, 2, 1)
    bounds = graph.constant([50], np.int64), graph.constant([0.45]), graph.constant([0.5])
    kept = graph.node("NonMaxSuppression", boxes, scores, *bounds)
    places = graph.node("Gather", kept, graph.constant([0, 2], np.int64), axis=1)
    return _named(
        graph,
        graph.node("GatherND", boxes, places),
        graph.node("GatherND", scores, kept),
        graph.node("Gather", kept, graph.constant(1, np.int64), axis=1),
    )


def yolo_of_sure_boxes(graph: ExportedGraph) -> list[str]:
    """Suppresses the boxes whose score suffices, selected by masks; an offset per kind keeps boxes of kinds apart."""
    boxes, scores = (graph.node("Squeeze", each, *_axis(graph)) for each in _boxes_of_grids(graph))
    best = graph.node("ReduceMax", scores, axes=[1], keepdims=0) if graph.opset < 18 else _greatest(graph, scores)
    kinds = graph.node("ArgMax", scores, axis=1, keepdims=0)
    sure = graph.node("Greater", best, graph.constant(0.5))
    boxes, best, kinds = (_taken(graph, each, sure) for each in (boxes, best, kinds))
    apart = graph.node("Mul", graph.node("Cast", kinds, to=TensorProto.FLOAT), graph.constant(1000.0))
    moved = graph.unsqueeze(graph.node("Add", boxes, graph.unsqueeze(apart, 1)), 0)
    bounds = graph.constant([np.iinfo(np.int64).max], np.int64), graph.constant([0.45])
    kept = graph.node("NonMaxSuppression", moved, graph.unsqueeze(graph.unsqueeze(best, 0), 0), *bounds)
    places = graph.node("Squeeze", graph.slice(kept, 2, 3, 1), *_axis(graph, 1))
    return _named(graph, *(graph.node("Gather", each, places, axis=0) for each in (boxes, best, kinds)))


def _axis(graph: ExportedGraph, axis: int = 0) -> list[str]:
    return [graph.constant([axis], np.int64)]


def _greatest(graph: ExportedGraph, scores: str) -> str:
    return graph.node("ReduceMax", scores, *_axis(graph, 1), keepdims=0)


def _taken(graph: ExportedGraph, data: str, mask: str) -> str:
    """torch's `data[mask]`."""
    return graph.node("GatherND", data, graph.transpose(graph.node("NonZero", mask), 1, 0))


def _named(graph: ExportedGraph, *found: str) -> list[str]:
    return [graph.named(name, value) for name, value in zip(("boxes", "scores", "kinds"), found, strict=True)]


def _boxes_of_grids(graph: ExportedGraph) -> tuple[str, str]:
    """Corners and scores of the boxes at each position of a fine and a coarse grid: batch, box, number."""
    features = graph.silu(convolution(graph, "image", 3, 8, 3, stride=2))
    fine = graph.silu(convolution(graph, features, 8, 16, 3, stride=2))
    coarse = graph.silu(convolution(graph, fine, 16, 16, 3, stride=2))
    grids = ((fine, 4), (coarse, 8))
    rows = [_decoded(graph, convolution(graph, each, 16, ANCHORS * ROW), step) for each, step in grids]
    centre, size, sure, kinds = graph.split(graph.node("Concat", *rows, axis=1), [2, 2, 1, KINDS], 2)
    half = graph.node("Div", size, graph.constant(2.0))
    boxes = graph.node("Concat", graph.node("Sub", centre, half), graph.node("Add", centre, half), axis=2)
    return boxes, graph.node("Mul", kinds, sure)


def _decoded(graph: ExportedGraph, data: str, step: int) -> str:
    """Decodes boxes from sigmoids: centres relative to the grid, sizes relative to the anchors; batch, box, number."""
    batch, rows, columns = (graph.extent(data, axis) for axis in (0, 2, 3))
    apart = graph.transpose(graph.reshape(data, batch, ANCHORS, ROW, rows, columns), 0, 1, 3, 4, 2)
    centre, size, rest = graph.split(graph.node("Sigmoid", apart), [2, 2, ROW - 4], 4)
    moved = graph.node("Add", graph.node("Mul", centre, graph.constant(2.0)), _grid(graph, rows, columns))
    centre = graph.node("Mul", graph.node("Sub", moved, graph.constant(0.5)), graph.constant(float(step)))
    anchors = graph.stored(np.linspace(3, 9, 2 * ANCHORS, dtype=np.float32).reshape(1, ANCHORS, 1, 1, 2))
    size = graph.node("Pow", graph.node("Mul", size, graph.constant(2.0)), graph.constant(2.0))
    whole = graph.node("Concat", centre, graph.node("Mul", size, anchors), rest, axis=4)
    return graph.reshape(whole, batch, -1, ROW)


def _grid(graph: ExportedGraph, rows: str, columns: str) -> str:
    """Column and row of each grid position: 1, anchor, row, column, 2."""
    parts: list[str] = []
    for count, axis in ((columns, 0), (rows, 1)):
        line = graph.node("Range", graph.constant(0, np.int64), count, graph.constant(1, np.int64))
        parts.append(graph.unsqueeze(graph.expand(graph.unsqueeze(line, axis), rows, columns), 2))
    grid = graph.node("Cast", graph.node("Concat", *parts, axis=2), to=TensorProto.FLOAT)
    return graph.expand(graph.unsqueeze(grid, 0, 1), 1, ANCHORS, rows, columns, 2)


SINGLE = Input((1, 3, "height", "width"))
DETECTORS = [
    Network(yolo, {"image": IMAGE}, images((1, 32, 32), (2, 40, 24)), opset=13),
    Network(yolo_of_sure_boxes, {"image": SINGLE}, images((1, 32, 32), (1, 40, 24)), opset=17),
]
