"""Mixtures of experts: MoE, and QMoE, whose weights are small integers.

The output of a token is the sum of the outputs of its `k` experts, weighted by the router. A loop over the experts
computes an expert for all tokens if any token uses it: in a decoder, which has one token at a time, `k` experts run.
A layer has a weight matrix per expert, of floats or packed integers, and activations. Constant integers stay packed: an
expert is a `qnn.block_dense`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.relay.meaning.packed_numbers import pack
from xrelay.dialects.relay.ops.qnn.blocks import WORD
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    Iteration,
    NodeView,
    certainly_differ,
    converts,
    emit_loop,
    numpy_dtype,
    shape_of,
    static_shape,
)
from xrelay.frontend.onnx.converters.microsoft.block_quantized import (
    dequantized,
    first_of_last_axis,
    float32,
    unpacked,
    weight_bits,
    weight_block_size,
)

_BYTE = 8
_ACTIVATIONS = ("relu", "gelu", "silu", "swiglu", "identity")

Product = Callable[[NodeView, SSAValue, SSAValue], SSAValue]
"""Emits the product of tokens and the transposed weight matrix (rows, columns) of an expert, given its index."""


@dataclass(frozen=True)
class _ExpertLayer:
    """A linear layer of every expert: `shape` is (experts, rows, columns)."""

    shape: tuple[int, int, int]
    product: Product
    bias: SSAValue | None

    def apply(self, node: NodeView, x: SSAValue, expert: SSAValue) -> SSAValue:
        """Returns `x` times the transposed weights of `expert`, plus its bias."""
        y = self.product(node, x, expert)
        return y if self.bias is None else node.emit("add", y, _taken(node, self.bias, expert))


def _float_layer(node: NodeView, weights: int, bias: int) -> _ExpertLayer | None:
    """Returns the layer with weights in input `weights`; `None` if that is absent."""
    value = node.optional_input(weights)
    if value is None:
        return None

    def product(inner: NodeView, x: SSAValue, expert: SSAValue) -> SSAValue:
        return inner.emit("nn.dense", x, float32(inner, _taken(inner, value, expert)))

    return _layer(node, weights, bias, product)


def _byte_layer(node: NodeView, number: int) -> _ExpertLayer | None:
    """Returns layer `number` of QMoE, with packed weights, scales, biases and zero points; `None` if it is absent."""
    index, bits = 2 + 3 * number, _bits(node, number)
    weights, points = node.optional_input(index), node.optional_input(11 + number)
    if weights is None:
        return None
    scales = node.input(index + 1)
    experts, rows, columns = _shape(node, index, _BYTE // bits)
    size = weight_block_size(node) if "block_size" in node.attribute_names else max(columns, 1)
    blocks = columns // size
    lists = ((experts, rows, blocks),) if size < columns else ((experts, rows), (experts, rows, 1))
    if not blocks or columns % size or static_shape(node, scales) not in lists:
        raise node.error(f"weights {weights.type} of {bits} bits in blocks of {size} with the scales {scales.type}")
    known = _known_parts(node, number, bits, (experts, rows, blocks)) if size % (WORD // bits) == 0 else None

    def unpacking(inner: NodeView, x: SSAValue, expert: SSAValue) -> SSAValue:
        values = inner.reshape(unpacked(inner, _taken(inner, weights, expert), bits), (rows, blocks, size))
        scale = inner.reshape(float32(inner, _taken(inner, scales, expert)), (rows, blocks, 1))
        zero = inner.scalar(2 ** (bits - 1), values)
        if points is not None:
            zero = _zero_points(inner, _taken(inner, points, expert), bits, (rows, blocks))
        return inner.emit("nn.dense", x, inner.reshape(dequantized(inner, values, scale, zero), (rows, columns)))

    def packed(inner: NodeView, x: SSAValue, expert: SSAValue) -> SSAValue:
        parts = (_taken(inner, each, expert) if shape_of(each.type) else each for each in known or ())
        return inner.emit("qnn.block_dense", x, *parts, bits=bits, block_size=size, biased=True)

    return _layer(node, index, index + 2, unpacking if known is None else packed, columns_in_byte=_BYTE // bits)


def _known_parts(node: NodeView, number: int, bits: int, shape: tuple[int, int, int]) -> list[SSAValue] | None:
    """Returns words, scales and zero points of `qnn.block_dense` for all experts; None unless all inputs are constants.

    `shape` counts experts, rows, and the blocks of a row.
    """
    index, place = 2 + 3 * number, 11 + number
    weights, scales, points = (node.constant(each) for each in (index, index + 1, place))
    if weights is None or scales is None or (points is None and node.optional_input(place) is not None):
        return None
    zero_points = np.array(0, np.int32)
    if points is not None:
        numbers = points[..., np.newaxis] >> np.arange(0, _BYTE, bits, dtype=np.uint8)
        count = shape[2] if points.ndim == 3 else shape[1]
        zero_points = pack(numbers.reshape(*points.shape[:-1], -1)[..., :count].reshape(shape), bits)
    parts = {"weight": weights.view("<i4"), "scales": scales.reshape(shape), "zero_points": zero_points}
    return [node.emit_constant(array, name) for name, array in parts.items()]


def _zero_points(node: NodeView, packed: SSAValue, bits: int, shape: tuple[int, int]) -> SSAValue:
    """The zero points of the blocks of all rows: one list of bytes, or one per row if rows have several blocks."""
    rows, blocks = shape
    count = blocks if len(shape_of(packed.type)) == 2 else rows
    return node.reshape(first_of_last_axis(node, unpacked(node, packed, bits), count), (rows, blocks, 1))


def _layer(node: NodeView, weights: int, bias: int, product: Product, *, columns_in_byte: int = 1) -> _ExpertLayer:
    """A layer whose shapes of weights and biases have been checked."""
    experts, rows, columns = _shape(node, weights, columns_in_byte)
    biases = node.optional_input(bias)
    if biases is not None and static_shape(node, biases) != (experts, rows):
        raise node.error(f"input #{bias} is {biases.type}: {rows} biases for each of {experts} experts are expected")
    return _ExpertLayer((experts, rows, columns), product, None if biases is None else float32(node, biases))


def _shape(node: NodeView, weights: int, columns_in_byte: int) -> tuple[int, int, int]:
    """The numbers of experts, rows and columns of the weights in an input."""
    shape = static_shape(node, node.input(weights))
    if len(shape) != 3:
        raise node.error(f"input #{weights} is {node.input(weights).type}: experts, rows and columns are expected")
    return shape[0], shape[1], shape[2] * columns_in_byte


def _taken(node: NodeView, values: SSAValue, expert: SSAValue) -> SSAValue:
    return node.emit("take", values, expert, axis=0)


def _bits(node: NodeView, number: int) -> int:
    name = f"fc{number + 1}_expert_weight_bits"
    return weight_bits(node, name if name in node.attribute_names else "expert_weight_bits")


@dataclass(frozen=True)
class _GatedLayer:
    """The first layer with its activation, optionally multiplied by a gate: another layer, or half of its outputs."""

    first: _ExpertLayer
    gate: _ExpertLayer | None
    kind: str
    fusion: int
    alpha: float
    beta: float
    limit: float | None

    @staticmethod
    def of(node: NodeView, first: _ExpertLayer, gate: _ExpertLayer | None) -> _GatedLayer:
        """Returns the layer with the attributes of `node`."""
        kind = node.attribute_string("activation_type", "relu", (*_ACTIVATIONS, "relu2", "geglu"))
        if kind not in _ACTIVATIONS or node.attribute_int("swiglu_limit_after_activation", 0):
            raise node.unsupported("relu2, geglu and limits after the activation are not supported")
        fusion = node.attribute_int("swiglu_fusion", 0, check=lambda value: value in (0, 1, 2))
        if kind == "swiglu" and (gate is None) != (fusion > 0):
            raise node.error(f"swiglu_fusion is {fusion}, and the layer FC3 is {'' if gate else 'not '}there")
        limit = node.attribute_float("swiglu_limit", 0.0) if "swiglu_limit" in node.attribute_names else None
        alpha, beta = node.attribute_float("activation_alpha", 1.0), node.attribute_float("activation_beta", 0.0)
        return _GatedLayer(first, gate, kind, fusion, alpha, beta, limit)

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


_ATTRIBUTES = (
    *("k", "activation_type", "activation_alpha", "activation_beta", "normalize_routing_weights"),
    *("swiglu_fusion", "swiglu_limit", "swiglu_limit_after_activation", "use_sparse_mixer"),
)
_BITS = ("expert_weight_bits", "fc1_expert_weight_bits", "fc2_expert_weight_bits", "fc3_expert_weight_bits")
_ROUTER_WEIGHTS = 14
"""The input of QMoE with the weights of the selected experts."""


@dataclass(frozen=True)
class _Routing:
    """The selected experts of each token, and their weights in the sum; both are (tokens, k)."""

    experts: SSAValue
    weights: SSAValue


@converts(
    "MoE",
    domain=MICROSOFT,
    attributes=_ATTRIBUTES,
    limits="relu2, geglu, sparse mixers, limits after the activation",
)
def convert_moe(node: NodeView) -> SSAValue:
    """MoE; a token uses the `k` largest weights of the softmax over all experts."""
    mixture = _Mixture.of(node, [_float_layer(node, index, index + 1) for index in (2, 4, 6)])
    values, experts = mixture.largest(node, node.emit("nn.softmax", mixture.scores(node, 1), axis=1))
    return mixture.summed(node, _Routing(experts, _normalized(node, values)))


@converts(
    "QMoE",
    domain=MICROSOFT,
    attributes=(*_ATTRIBUTES, *_BITS, "block_size", "quant_type", "weights_prepacked", "accuracy_level"),
    limits="float, prepacked or 3-bit weights, and the limits of MoE",
)
def convert_qmoe(node: NodeView) -> SSAValue:
    """QMoE; the weights are the softmax over the `k` selected experts, or come from `router_weights`."""
    if node.attribute_string("quant_type", "int", ("int", "fp4", "nvfp4", "fp8", "wfp4afp8")) != "int":
        raise node.unsupported("weights that are floats of 4 or 8 bits are not supported")
    if node.attribute_int("weights_prepacked", -1, check=lambda value: value in (-1, 0, 1)) == 1:
        raise node.unsupported("weights in a layout of one processor are not supported")
    node.attribute_int("accuracy_level", 0)
    mixture = _Mixture.of(node, [_byte_layer(node, number) for number in range(3)])
    values, experts = mixture.largest(node, mixture.scores(node, 1))
    if node.optional_input(_ROUTER_WEIGHTS) is None:
        return mixture.summed(node, _Routing(experts, node.emit("nn.softmax", values, axis=1)))
    given = node.emit("gather", mixture.scores(node, _ROUTER_WEIGHTS), experts, axis=1)
    return mixture.summed(node, _Routing(experts, _normalized(node, given)))


def _normalized(node: NodeView, weights: SSAValue) -> SSAValue:
    """The weights of each token, divided by their sum if the node requires it."""
    if not node.attribute_flag("normalize_routing_weights"):
        return weights
    return node.emit("divide", weights, node.emit("sum", weights, axis=(1,), keepdims=True))


@dataclass(frozen=True)
class _Mixture:
    """The experts of a node: two layers with an activation between them."""

    inner: _GatedLayer
    outer: _ExpertLayer

    @staticmethod
    def of(node: NodeView, layers: Sequence[_ExpertLayer | None]) -> _Mixture:
        """Returns the layers FC1, FC2 and optionally FC3, after checks of their shapes."""
        first, second, third = layers
        if node.attribute_flag("use_sparse_mixer"):
            raise node.unsupported("sparse mixers are not supported")
        if first is None or second is None or len(node.shape(0)) not in (2, 3):
            raise node.error(f"tokens with the layers FC1 and FC2 are expected, found {node.input(0).type} as input #0")
        inner = _GatedLayer.of(node, first, third)
        experts, _, width = first.shape
        wanted = (experts, width, inner.width)
        if second.shape != wanted or (third is not None and third.shape != first.shape):
            shapes = " and ".join(str(layer.shape) for layer in layers if layer is not None)
            raise node.error(f"the layers have the shapes {shapes}: of FC2 {wanted} is expected")
        if certainly_differ(node.last_extent(0), width) or certainly_differ(node.last_extent(1), experts):
            raise node.error(f"{node.input(0).type} and {node.input(1).type} for {experts} experts of width {width}")
        return _Mixture(inner, second)

    def scores(self, node: NodeView, index: int) -> SSAValue:
        """Returns input `index`, a number per token and expert, in f32; checks the number of tokens."""
        if len(node.shape(index)) != 2:
            raise node.error(f"input #{index} is {node.input(index).type}: tokens and experts are expected")
        given, rows = float32(node, node.input(index)), {"lhs_begin": 0, "lhs_end": 1, "rhs_begin": 0, "rhs_end": 1}
        return node.emit("reshape_like", given, self.tokens(node), **rows)

    def tokens(self, node: NodeView) -> SSAValue:
        """Returns the rows of the input in f32."""
        return node.emit("reshape", float32(node, node.input(0)), newshape=(-1, self.outer.shape[1]))

    def largest(self, node: NodeView, scores: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Returns the `k` largest scores of each token, and their experts."""
        k, experts = node.attribute_int("k", 1), self.outer.shape[0]
        if not 1 <= k <= experts:
            raise node.illegal("k", k, f"a number from 1 to {experts} is expected")
        both = node.emit("topk", scores, k=k, axis=1, is_ascend=False, dtype="int64")
        return node.tuple_field(both, 0), node.tuple_field(both, 1)

    def summed(self, node: NodeView, routing: _Routing) -> SSAValue:
        """Returns the weighted sums of all tokens, in the shape and type of the input."""
        experts = self.outer.shape[0]
        tokens = self.tokens(node)

        def body(inner: NodeView, expert: SSAValue, sums: Sequence[SSAValue]) -> Iteration:
            hit = inner.emit("equal", routing.experts, expert)
            chosen = inner.emit("any", hit, axis=(1,), keepdims=True)
            weights = inner.emit("where", hit, routing.weights, inner.scalar(0.0, routing.weights))
            weight = inner.emit("sum", weights, axis=(1,), keepdims=True)

            def more(branch: NodeView) -> SSAValue:
                y = self.outer.apply(branch, self.inner.apply(branch, tokens, expert), expert)
                y = branch.emit("where", chosen, branch.emit("multiply", y, weight), branch.scalar(0.0, y))
                return branch.emit("add", sums[0], y)

            return Iteration(None, [_if(inner, inner.emit("any", chosen), more, sums[0])], [])

        count = node.emit_ints(experts, "experts")
        (total,) = emit_loop(node, count, None, [node.emit("zeros_like", tokens)], body)
        result = node.emit("reshape_like", total, node.input(0))
        return node.emit("cast", result, dtype=numpy_dtype(node.element_type(0)))


def _if(node: NodeView, condition: SSAValue, make: Callable[[NodeView], SSAValue], otherwise: SSAValue) -> SSAValue:
    """The result of `make` if `condition` holds, else `otherwise`."""
    branches = [node.inside(Block()) for _ in range(2)]
    for branch, value in zip(branches, (make(branches[0]), otherwise), strict=True):
        branch.graph.insert(YieldOp(value), node.name)
    regions = [Region(branch.graph.block) for branch in branches]
    return node.graph.insert(IfOp(condition, otherwise.type, *regions), node.name).result
