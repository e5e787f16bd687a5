"""The layers of MoE and QMoE: a weight matrix per expert, of floats or packed integers, with activations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import shape_of
from xrelay.frontend.onnx.converters.microsoft.block_quantized import (
    dequantized,
    first_of_last_axis,
    float32,
    unpacked,
    weight_bits,
    weight_block_size,
)
from xrelay.frontend.onnx.converters.shared.extents import static_shape
from xrelay.frontend.onnx.node import NodeView

_BYTE = 8
_ACTIVATIONS = ("relu", "gelu", "silu", "swiglu", "identity")

Take = Callable[[NodeView, SSAValue], SSAValue]
"""Emits the f32 weight matrix (rows, columns) of an expert, given its index."""


@dataclass(frozen=True)
class ExpertLayer:
    """A linear layer of every expert: `shape` is (experts, rows, columns)."""

    shape: tuple[int, int, int]
    take: Take
    bias: SSAValue | None

    def apply(self, node: NodeView, x: SSAValue, expert: SSAValue) -> SSAValue:
        """Returns `x` times the transposed weights of `expert`, plus its bias."""
        y = node.emit("nn.dense", x, self.take(node, expert))
        return y if self.bias is None else node.emit("add", y, _taken(node, self.bias, expert))


def float_layer(node: NodeView, weights: int, bias: int) -> ExpertLayer | None:
    """Returns the layer with weights in input `weights`; `None` if that is absent."""
    value = node.optional_input(weights)
    if value is None:
        return None
    return _layer(node, weights, bias, lambda inner, expert: float32(inner, _taken(inner, value, expert)))


def byte_layer(node: NodeView, number: int) -> ExpertLayer | None:
    """Returns layer `number` of QMoE, with packed weights, scales, biases and zero points; `None` if it is absent."""
    index, bits = 2 + 3 * number, _bits(node, number)
    weights, points = node.optional_input(index), node.optional_input(11 + number)
    if weights is None:
        return None
    scales = node.input(index + 1)
    layer = _layer(node, index, index + 2, lambda inner, expert: expert, columns_in_byte=_BYTE // bits)
    experts, rows, columns = layer.shape
    size = weight_block_size(node) if "block_size" in node.attribute_names else max(columns, 1)
    blocks = columns // size
    lists = ((experts, rows, blocks),) if size < columns else ((experts, rows), (experts, rows, 1))
    if not blocks or columns % size or static_shape(node, scales) not in lists:
        raise node.error(f"weights {weights.type} of {bits} bits in blocks of {size} with the scales {scales.type}")

    def take(inner: NodeView, expert: SSAValue) -> SSAValue:
        values = inner.reshape(unpacked(inner, _taken(inner, weights, expert), bits), (rows, blocks, size))
        scale = inner.reshape(float32(inner, _taken(inner, scales, expert)), (rows, blocks, 1))
        zero = inner.scalar(2 ** (bits - 1), values)
        if points is not None:
            zero = _zero_points(inner, _taken(inner, points, expert), bits, (rows, blocks))
        return inner.reshape(dequantized(inner, values, scale, zero), (rows, columns))

    return ExpertLayer(layer.shape, take, layer.bias)


def _zero_points(node: NodeView, packed: SSAValue, bits: int, shape: tuple[int, int]) -> SSAValue:
    """The zero points of the blocks of all rows: one list of bytes, or one per row if rows have several blocks."""
    rows, blocks = shape
    count = blocks if len(shape_of(packed.type)) == 2 else rows
    return node.reshape(first_of_last_axis(node, unpacked(node, packed, bits), count), (rows, blocks, 1))


def _layer(node: NodeView, weights: int, bias: int, take: Take, *, columns_in_byte: int = 1) -> ExpertLayer:
    """A layer whose shapes of weights and biases have been checked."""
    shape = static_shape(node, node.input(weights))
    if len(shape) != 3:
        raise node.error(f"input #{weights} is {node.input(weights).type}: experts, rows and columns are expected")
    experts, rows, columns = shape
    biases = node.optional_input(bias)
    if biases is not None and static_shape(node, biases) != (experts, rows):
        raise node.error(f"input #{bias} is {biases.type}: {rows} biases for each of {experts} experts are expected")
    own = None if biases is None else float32(node, biases)
    return ExpertLayer((experts, rows, columns * columns_in_byte), take, own)


def _taken(node: NodeView, values: SSAValue, expert: SSAValue) -> SSAValue:
    return node.emit("take", values, expert, axis=0)


def _bits(node: NodeView, number: int) -> int:
    name = f"fc{number + 1}_expert_weight_bits"
    return weight_bits(node, name if name in node.attribute_names else "expert_weight_bits")


@dataclass(frozen=True)
class GatedLayer:
    """The first layer with its activation, optionally multiplied by a gate: another layer, or half of its outputs."""

    first: ExpertLayer
    gate: ExpertLayer | None
    kind: str
    fusion: int
    alpha: float
    beta: float
    limit: float | None

    @staticmethod
    def of(node: NodeView, first: ExpertLayer, gate: ExpertLayer | None) -> GatedLayer:
        """Returns the layer with the attributes of `node`."""
        kind = node.attribute_string("activation_type", "relu", (*_ACTIVATIONS, "relu2", "geglu"))
        if kind not in _ACTIVATIONS or node.attribute_int("swiglu_limit_after_activation", 0):
            raise node.unsupported("relu2, geglu and limits after the activation are not supported")
        fusion = node.attribute_int("swiglu_fusion", 0, check=lambda value: value in (0, 1, 2))
        if kind == "swiglu" and (gate is None) != (fusion > 0):
            raise node.error(f"swiglu_fusion is {fusion}, and the layer FC3 is {'' if gate else 'not '}there")
        limit = node.attribute_float("swiglu_limit", 0.0) if "swiglu_limit" in node.attribute_names else None
        alpha, beta = node.attribute_float("activation_alpha", 1.0), node.attribute_float("activation_beta", 0.0)
        return GatedLayer(first, gate, kind, fusion, alpha, beta, limit)

    @property
    def width(self) -> int:
        """The number of outputs per token."""
        return self.first.shape[1] // (2 if self.kind == "swiglu" and self.gate is None else 1)

    def apply(self, node: NodeView, x: SSAValue, expert: SSAValue) -> SSAValue:
        """Returns the outputs of `expert` for `x`."""
        y = self.first.apply(node, x, expert)
        if self.kind == "swiglu":
            return self._swish_gated(node, *self._halves(node, x, y, expert))
        y = _activated(node, self.kind, y)
        return y if self.gate is None else node.emit("multiply", y, self.gate.apply(node, x, expert))

    def _halves(self, node: NodeView, x: SSAValue, y: SSAValue, expert: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The gate and the linear part: two layers, or one layer, interleaved or concatenated."""
        if self.gate is not None:
            return y, self.gate.apply(node, x, expert)
        if self.fusion == 1:
            first, second = (
                node.emit("strided_slice", y, begin=(start,), end=(2 * self.width,), strides=(2,), axes=(1,))
                for start in range(2)
            )
            return first, second
        both = node.emit("split", y, indices_or_sections=2, axis=1)
        return node.tuple_field(both, 0), node.tuple_field(both, 1)

    def _swish_gated(self, node: NodeView, gate: SSAValue, linear: SSAValue) -> SSAValue:
        """`G * sigmoid(alpha * G) * (L + beta)`, with the gate G and the linear part L clamped to the limit."""
        if self.limit is not None:
            gate = node.emit("minimum", gate, node.scalar(self.limit, gate))
            linear = node.emit("clip", linear, a_min=-self.limit, a_max=self.limit)
        turned = node.emit("sigmoid", node.emit("multiply", gate, node.scalar(self.alpha, gate)))
        shifted = node.emit("add", linear, node.scalar(self.beta, linear))
        return node.emit("multiply", node.emit("multiply", gate, turned), shifted)


def _activated(node: NodeView, kind: str, y: SSAValue) -> SSAValue:
    if kind == "identity":
        return y
    if kind == "gelu":
        return node.emit("nn.gelu", y, approximate="tanh")
    return node.emit("nn.relu", y) if kind == "relu" else node.emit("nn.swish", y, alpha=1.0)
