"""A graph of ONNX nodes that is written node by node, with random weights from a fixed seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import DTypeLike, NDArray
from onnx import TensorProto, helper, numpy_helper

Shape = Sequence[int | str]
"""Extents; a text names an extent that is known at run time."""


class NetworkGraph:
    """Nodes and weights; each method that adds a node returns the name of its output."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)
        self._nodes: list[onnx.NodeProto] = []
        self._stored: list[onnx.TensorProto] = []

    # --- nodes ------------------------------------------------------------------------------------------------------

    def node(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Adds a node with one output."""
        return self.nodes(op, *inputs, count=1, domain=domain, **attributes)[0]

    def nodes(self, op: str, *inputs: str, count: int, domain: str = "", **attributes: Any) -> list[str]:
        """Adds a node with `count` outputs."""
        outputs = [f"value_{len(self._nodes)}_{index}" for index in range(count)]
        self._nodes.append(helper.make_node(op, list(inputs), outputs, outputs[0], domain=domain, **attributes))
        return outputs

    def stored(self, array: NDArray[Any]) -> str:
        """Adds an initializer."""
        name = f"stored_{len(self._stored)}"
        self._stored.append(numpy_helper.from_array(array, name))
        return name

    def constant(self, value: Any, dtype: DTypeLike = np.float32) -> str:
        """Adds an initializer with one value or a list of values."""
        return self.stored(np.array(value, dtype))

    def weight(self, *shape: int, mean: float = 0.0, deviation: float | None = None) -> str:
        """Adds random weights. By default a product with them keeps the variance of the other factor."""
        if deviation is None:
            deviation = float(np.prod(shape[:-1])) ** -0.5 if len(shape) > 1 else 0.1
        return self.stored(self._random.standard_normal(shape, np.float32) * np.float32(deviation) + np.float32(mean))

    def integers(self, limit: int, *shape: int, dtype: DTypeLike = np.uint8) -> str:
        """Adds random integers from 0 to `limit` - 1."""
        return self.stored(self._random.integers(0, limit, shape).astype(dtype))

    # --- layers -----------------------------------------------------------------------------------------------------

    def linear(self, data: str, inputs: int, outputs: int) -> str:
        """A product over the last axis, plus a bias."""
        return self.node("Add", self.node("MatMul", data, self.weight(inputs, outputs)), self.weight(outputs))

    def layer_norm(self, data: str, width: int, epsilon: float = 1e-5) -> str:
        """Layer normalization over the last axis."""
        scale, bias = self.weight(width, mean=1.0), self.weight(width)
        return self.node("LayerNormalization", data, scale, bias, axis=-1, epsilon=epsilon)

    def gelu(self, data: str) -> str:
        """GELU by Erf, in the ops that PyTorch exports."""
        erf = self.node("Erf", self.node("Div", data, self.constant(np.sqrt(2))))
        wide = self.node("Mul", data, self.node("Add", erf, self.constant(1.0)))
        return self.node("Mul", wide, self.constant(0.5))

    def gelu_by_tanh(self, data: str) -> str:
        """GELU by Tanh, in the ops of GPT-2."""
        cube = self.node("Mul", self.node("Pow", data, self.constant(3.0)), self.constant(0.044715))
        inner = self.node("Mul", self.node("Add", data, cube), self.constant(np.sqrt(2 / np.pi)))
        wide = self.node("Add", self.node("Tanh", inner), self.constant(1.0))
        return self.node("Mul", self.node("Mul", data, self.constant(0.5)), wide)

    def heads(self, data: str, count: int, width: int) -> str:
        """Batch, position, feature → batch, head, position, feature."""
        split = self.node("Reshape", data, self.constant([0, 0, count, width], np.int64))
        return self.node("Transpose", split, perm=[0, 2, 1, 3])

    def joined_heads(self, data: str, width: int) -> str:
        """Batch, head, position, feature → batch, position, feature."""
        turned = self.node("Transpose", data, perm=[0, 2, 1, 3])
        return self.node("Reshape", turned, self.constant([0, 0, width], np.int64))

    def attention(self, query: str, key: str, values: str, head: int, mask: str | None = None) -> str:
        """softmax(query · key / √head + mask) · values; axes batch, head, position, feature."""
        scores = self.node("MatMul", query, self.node("Transpose", key, perm=[0, 1, 3, 2]))
        scores = self.node("Div", scores, self.constant(np.sqrt(head)))
        if mask is not None:
            scores = self.node("Add", scores, mask)
        return self.node("MatMul", self.node("Softmax", scores, axis=-1), values)

    # --- the model --------------------------------------------------------------------------------------------------

    def model(self, inputs: Mapping[str, tuple[DTypeLike, Shape]], outputs: Mapping[str, str]) -> onnx.ModelProto:
        """Returns the model. `outputs` maps names to values, whose types are left to the reader to infer."""
        infos = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
            for name, (dtype, shape) in inputs.items()
        ]
        named = [helper.make_node("Identity", [value], [name]) for name, value in outputs.items()]
        results = [helper.make_empty_tensor_value_info(name) for name in outputs]
        for result in results:
            result.type.tensor_type.elem_type = TensorProto.FLOAT
        graph = helper.make_graph([*self._nodes, *named], "network", infos, results, self._stored)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)
