"""Writes ONNX graphs in the style of PyTorch's exporter of captured programs (dynamo).

Constants are initializers, an extent is a Shape of one axis, shapes are concatenated from vectors of one element, and
activations are calls of functions that the model defines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from support.exported_graph import ExportedGraph, Extent

OPSET = 20
DOMAIN = "pkg.onnxscript.torch_lib"


class DynamoGraph(ExportedGraph):
    """A graph of opset 20, and the functions that its nodes call."""

    def __init__(self, seed: int = 0, prefix: str = ""):
        super().__init__(OPSET, seed, prefix)
        self._functions: dict[str, onnx.FunctionProto] = {}

    def model(self, inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[str]) -> onnx.ModelProto:
        proto = super().model(inputs, outputs)
        proto.functions.extend(self._functions.values())
        proto.opset_import.append(helper.make_opsetid(DOMAIN, 1))
        return proto

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        return self.stored(np.array(value, dtype))

    def extent(self, value: str, axis: int) -> str:
        return self.node("Squeeze", self.node("Shape", value, start=axis, end=axis + 1))

    def shape(self, *extents: Extent) -> str:
        if all(isinstance(extent, int) for extent in extents):
            return self.constant(extents, np.int64)
        one = self.constant([-1], np.int64)
        parts = [
            self.constant([extent], np.int64)
            if isinstance(extent, int)
            else self.node("Reshape", extent, one, allowzero=0)
            for extent in extents
        ]
        return self.node("Concat", *parts, axis=0)

    def reshape(self, value: str, *extents: Extent) -> str:
        return self.node("Reshape", value, self.shape(*extents), allowzero=1)

    def expand(self, value: str, *extents: Extent) -> str:
        return self.node("Expand", value, self.shape(*(1 if extent == -1 else extent for extent in extents)))

    def linear(self, value: str, inputs: int, outputs: int) -> str:
        """A product with the transpose of a weight, as torch stores it."""
        product = self.node("MatMul", value, self.transpose(self.weight(outputs, inputs), 1, 0))
        return self.node("Add", product, self.weight(outputs))

    def gelu(self, value: str) -> str:
        self._define("aten_gelu", [("Gelu", ["x"], ["y"])])
        return self.node("aten_gelu", value, domain=DOMAIN)

    def silu(self, value: str) -> str:
        self._define("aten_silu", [("Sigmoid", ["x"], ["s"]), ("Mul", ["x", "s"], ["y"])])
        return self.node("aten_silu", value, domain=DOMAIN)

    def _define(self, name: str, nodes: Sequence[tuple[str, list[str], list[str]]]) -> None:
        """Adds a function from `x` to `y` to the model."""
        body = [helper.make_node(op, inputs, outputs) for op, inputs, outputs in nodes]
        imports = [helper.make_opsetid("", OPSET)]
        self._functions[name] = helper.make_function(DOMAIN, name, ["x"], ["y"], body, imports)
