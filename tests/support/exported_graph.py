"""Writes ONNX graphs node by node as an exporter does: computed shapes, older and newer forms of an op.

Weights are random with a fixed seed. Extents are read by Shape and Gather and combined by Unsqueeze and Concat,
although all are known, because exporters of dynamic programs write them so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from support.onnx_models import model

Extent = int | str
"""A known extent, or the name of a value of rank 0 that holds one."""


class ExportedGraph:
    """The nodes and weights written so far; each method returns the name of the value that it adds.

    All names begin with `prefix`, so that the names of a node's body differ from those of the graph around it.
    """

    def __init__(self, opset: int, seed: int = 0, prefix: str = ""):
        self.opset, self._prefix = opset, prefix
        self._rng = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[str, NDArray[Any]] = {}

    def model(self, inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[str]) -> onnx.ModelProto:
        proto = model(self._nodes, inputs, outputs, initializers=self._weights, opset=self.opset)
        proto.ir_version = 8  # onnxruntime refuses the newest
        return proto

    # --- nodes and values ------------------------------------------------------------------------------------------

    def nodes(self, op: str, *inputs: str, count: int, **attributes: Any) -> list[str]:
        number = len(self._nodes)
        outputs = [f"{self._prefix}{op.lower()}_{number}_{index}" for index in range(count)]
        name = f"/{self._prefix}{op}_{number}"
        self._nodes.append(helper.make_node(op, list(inputs), outputs, name=name, **attributes))
        return outputs

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        (output,) = self.nodes(op, *inputs, count=1, **attributes)
        return output

    def named(self, name: str, value: str) -> str:
        """Renames a value to an output name of the model."""
        self._nodes.append(helper.make_node("Identity", [value], [name], name=f"/{name}"))
        return name

    def graph(self, inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[str]) -> onnx.GraphProto:
        """Returns the graph written so far, as a node's body."""
        return self.model(inputs, outputs).graph

    def weight(self, *shape: int, scale: float | None = None, shift: float = 0.0) -> str:
        """An initializer; by default a matrix is scaled to preserve the variance of the other factor."""
        name = f"{self._prefix}weight_{len(self._weights)}"
        scale = (1 / np.sqrt(np.prod(shape[:-1])) if len(shape) > 1 else 0.1) if scale is None else scale
        self._weights[name] = (shift + scale * self._rng.standard_normal(shape)).astype(np.float32)
        return name

    def stored(self, array: NDArray[Any]) -> str:
        """An initializer with given values: a table of positions or a mask."""
        name = f"{self._prefix}buffer_{len(self._weights)}"
        self._weights[name] = array
        return name

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        return self.node("Constant", value=numpy_helper.from_array(np.array(value, dtype)))

    # --- shapes ----------------------------------------------------------------------------------------------------

    def extent(self, value: str, axis: int) -> str:
        return self.node("Gather", self.node("Shape", value), self.constant(axis, np.int64), axis=0)

    def unsqueeze(self, value: str, *axes: int) -> str:
        return self._with_axes("Unsqueeze", value, axes, 13)

    def shape(self, *extents: Extent) -> str:
        """A shape with computed extents."""
        if all(isinstance(extent, int) for extent in extents):
            return self.constant(extents, np.int64)
        parts = [
            self.constant([extent], np.int64) if isinstance(extent, int) else self.unsqueeze(extent, 0)
            for extent in extents
        ]
        return self.node("Concat", *parts, axis=0)

    def reshape(self, value: str, *extents: Extent) -> str:
        return self.node("Reshape", value, self.shape(*extents))

    def transpose(self, value: str, *axes: int) -> str:
        return self.node("Transpose", value, perm=list(axes))

    def expand(self, value: str, *extents: Extent) -> str:
        """torch's `expand`, where -1 keeps an extent."""
        asked = self.shape(*extents)
        ones = self.node("ConstantOfShape", self.node("Shape", asked), value=numpy_helper.from_array(np.array([1])))
        kept = self.node("Equal", asked, self.node("Mul", ones, self.constant(-1, np.int64)))
        return self.node("Expand", value, self.node("Where", kept, ones, asked))

    def slice(self, value: str, start: Extent, end: Extent, axis: int, step: int = 1) -> str:
        return self.node("Slice", value, *(self.shape(bound) for bound in (start, end, axis, step)))

    def split(self, value: str, sizes: Sequence[int], axis: int) -> list[str]:
        if self.opset < 13:
            return self.nodes("Split", value, count=len(sizes), axis=axis, split=list(sizes))
        return self.nodes("Split", value, self.constant(sizes, np.int64), count=len(sizes), axis=axis)

    def pad(self, value: str, *pads: str) -> str:
        """torch's `pad` with zeros; `pads` has pairs of widths from the last axis on, which a Slice reverses."""
        rank = self.node("Gather", self.node("Shape", self.node("Shape", value)), self.constant(0, np.int64))
        asked, count = self.shape(*pads), self.node("Mul", rank, self.constant(2, np.int64))
        missing = self.node("Sub", self.unsqueeze(count, 0), self.node("Shape", asked))
        rest = self.node("ConstantOfShape", missing, value=numpy_helper.from_array(np.array([0])))
        pairs = self.reshape(self.node("Concat", asked, rest, axis=0), -1, 2)
        bounds = (self.constant([bound], np.int64) for bound in (-1, np.iinfo(np.int64).min, 0, -1))
        turned = self.reshape(self.transpose(self.node("Slice", pairs, *bounds), 1, 0), -1)
        widths = self.node("Cast", turned, to=TensorProto.INT64)
        return self.node("Pad", value, widths, self.constant(0.0), mode="constant")

    def mean(self, value: str, *axes: int, keepdims: int = 1) -> str:
        return self._with_axes("ReduceMean", value, axes, 18, keepdims=keepdims)

    def _with_axes(self, op: str, value: str, axes: Sequence[int], since: int, **attributes: Any) -> str:
        """An op whose axes are an input since opset `since`, and an attribute before."""
        if self.opset < since:
            return self.node(op, value, axes=list(axes), **attributes)
        return self.node(op, value, self.constant(axes, np.int64), **attributes)

    # --- layers ----------------------------------------------------------------------------------------------------

    def linear(self, value: str, inputs: int, outputs: int) -> str:
        """A product over the last axis, plus a bias."""
        return self.node("Add", self.weight(outputs), self.node("MatMul", value, self.weight(inputs, outputs)))

    def layer_norm(self, value: str, width: int, epsilon: float = 1e-5) -> str:
        """Layer normalization over the last axis: one op since opset 17, the ops of its definition before."""
        scale, bias = self.weight(width, shift=1.0), self.weight(width)
        if self.opset >= 17:
            return self.node("LayerNormalization", value, scale, bias, axis=-1, epsilon=epsilon)
        return self._written_out(value, -1, epsilon, scale, bias)

    def layer_norm_of_channels(self, value: str, width: int, epsilon: float = 1e-6) -> str:
        """Layer normalization over axis 1 of an image, which no single op computes."""
        scale, bias = (self.weight(width, 1, 1, scale=0.1, shift=shift) for shift in (1.0, 0.0))
        return self._written_out(value, 1, epsilon, scale, bias)

    def _written_out(self, value: str, axis: int, epsilon: float, scale: str, bias: str) -> str:
        centred = self.node("Sub", value, self.mean(value, axis))
        variance = self.mean(self.node("Pow", centred, self.constant(2.0)), axis)
        deviation = self.node("Sqrt", self.node("Add", variance, self.constant(epsilon)))
        return self.node("Add", self.node("Mul", self.node("Div", centred, deviation), scale), bias)

    def gelu(self, value: str) -> str:
        """GELU by Erf, as PyTorch writes it."""
        erf = self.node("Erf", self.node("Div", value, self.constant(np.sqrt(2))))
        bent = self.node("Mul", value, self.node("Add", erf, self.constant(1.0)))
        return self.node("Mul", bent, self.constant(0.5))

    def gelu_by_tanh(self, value: str) -> str:
        """GELU by Tanh, as GPT-2 writes it."""
        cube = self.node("Mul", self.node("Pow", value, self.constant(3.0)), self.constant(0.044715))
        inner = self.node("Mul", self.node("Add", value, cube), self.constant(np.sqrt(2 / np.pi)))
        bent = self.node("Add", self.node("Tanh", inner), self.constant(1.0))
        return self.node("Mul", self.node("Mul", value, self.constant(0.5)), bent)

    def relu6(self, value: str) -> str:
        if self.opset < 11:
            return self.node("Clip", value, min=0.0, max=6.0)
        return self.node("Clip", value, self.constant(0.0), self.constant(6.0))

    def silu(self, value: str) -> str:
        return self.node("Mul", value, self.node("Sigmoid", value))

    def hard_swish(self, value: str) -> str:
        """One op since opset 14."""
        if self.opset >= 14:
            return self.node("HardSwish", value)
        clipped = self.relu6(self.node("Add", value, self.constant(3.0)))
        return self.node("Div", self.node("Mul", value, clipped), self.constant(6.0))

    def attention(self, query: str, key: str, value: str, head: int, mask: str | None = None) -> str:
        """softmax(query · key / √head + mask) · value, with axes batch, head, position, feature."""
        scores = self.node("MatMul", query, self.transpose(key, 0, 1, 3, 2))
        scores = self.node("Div", scores, self.constant(np.sqrt(head)))
        if mask is not None:
            scores = self.node("Add", scores, mask)
        return self.node("MatMul", self.node("Softmax", scores, axis=-1), value)
