"""Normalisations that onnxruntime fuses with the sums before: of layers, embeddings and groups of channels."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.frontend.onnx.converters.definition import (
    FLOAT32,
    MICROSOFT,
    NodeView,
    Numbers,
    as_input,
    channels_first,
    channels_last,
    converted,
    converts,
    extent_value,
    is_half,
    numpy_dtype,
)
from xrelay.frontend.onnx.converters.microsoft.quantization import dequantised_by

_EPSILON = 1e-12
_GROUP_ATTRIBUTES = ("activation", "channels_last", "epsilon", "groups")


@converts("SkipLayerNormalization", domain=MICROSOFT, attributes=("epsilon",), limits="statistics as outputs")
def convert_skip_layer_normalization(node: NodeView) -> list[SSAValue | None]:
    """`nn.layer_norm` of the sum of input, skip and bias, and that sum."""
    gamma, beta = node.input(2), node.optional_input(3)
    return _normalized_sum(node, node.optional_input(4), "nn.layer_norm", gamma, beta)


@converts("SkipSimplifiedLayerNormalization", domain=MICROSOFT, attributes=("epsilon",), limits="statistics as outputs")
def convert_skip_simplified_layer_normalization(node: NodeView) -> list[SSAValue | None]:
    """`nn.rms_norm` of the sum of input, skip and bias, and that sum."""
    return _normalized_sum(node, node.optional_input(3), "nn.rms_norm", node.input(2), None)


def _normalized_sum(
    node: NodeView, bias: SSAValue | None, op: str, gamma: SSAValue, beta: SSAValue | None
) -> list[SSAValue | None]:
    """The normalised sum, two absent outputs for statistics, and the sum."""
    if any(node.outputs[1:3]):
        raise node.unsupported("the statistics, outputs #1 and #2, are for training only")
    total = node.emit("add", _wide(node, node.input(0)), _wide(node, node.input(1)))
    total = total if bias is None else node.emit("add", total, _wide(node, bias))
    return [_narrow(node, _normalized(node, op, total, gamma, beta)), None, None, _narrow(node, total)]


def _normalized(node: NodeView, op: str, total: SSAValue, gamma: SSAValue, beta: SSAValue | None) -> SSAValue:
    """`op` along the last axis."""
    scale, epsilon = _wide(node, gamma), node.attribute_float("epsilon", _EPSILON)
    if op == "nn.rms_norm":
        return node.emit(op, total, scale, epsilon=epsilon)
    without: dict[str, AttributeValue] = {} if beta is not None else {"center": False}
    shift = scale if beta is None else _wide(node, beta)
    return node.emit(op, total, scale, shift, epsilon=epsilon, **without)


def _wide(node: NodeView, value: SSAValue) -> SSAValue:
    """`value`, cast to f32 if the node's elements are 16-bit floats."""
    return node.emit("cast", value, dtype="float32") if is_half(_element(node)) else value


def _narrow(node: NodeView, value: SSAValue) -> SSAValue:
    """`value` in the element type of the node."""
    return node.emit("cast", value, dtype=numpy_dtype(_element(node))) if is_half(_element(node)) else value


def _element(node: NodeView) -> Attribute:
    """The element type of the normalised data; input 0 of an embedding has word indices."""
    return node.element_type(2 if node.proto.op_type == "EmbedLayerNormalization" else 0)


@converts("EmbedLayerNormalization", domain=MICROSOFT, attributes=("epsilon", "mask_index_type"))
def convert_embed_layer_normalization(node: NodeView) -> list[SSAValue | None]:
    """The normalised sum of the word, position and segment embeddings, the number of words, and the sum."""

    def rows(table: int, places: SSAValue) -> SSAValue:
        return node.emit("take", _wide(node, node.input(table)), places, axis=0, mode="raise")

    total = _embedded(node, rows, node.optional_input(8))
    result = _normalized(node, "nn.layer_norm", total, node.input(5), node.input(6))
    return [_narrow(node, result), _counted(node), _narrow(node, total)]


@converts("QEmbedLayerNormalization", domain=MICROSOFT, attributes=("epsilon",))
def convert_quantised_embed_layer_normalization(node: NodeView) -> list[SSAValue | None]:
    """EmbedLayerNormalization of quantised tables; only the selected rows are dequantised.

    The scales of words, positions, segments, gamma and beta follow the mask, and then their zero points.
    """

    def real(table: int, value: SSAValue) -> SSAValue:
        return dequantised_by(node, value, table + 6, table + 11)

    def rows(table: int, places: SSAValue) -> SSAValue:
        return real(table, node.emit("take", node.input(table), places, axis=0, mode="raise"))

    gamma, beta = (real(index, node.input(index)) for index in (5, 6))
    epsilon = node.attribute_float("epsilon", _EPSILON)
    result = node.emit("nn.layer_norm", _embedded(node, rows, None), gamma, beta, epsilon=epsilon)
    return [result, _counted(node)]


def _embedded(node: NodeView, rows: Callable[[int, SSAValue], SSAValue], places: SSAValue | None) -> SSAValue:
    """The sum of the rows for words, positions (`places`, or consecutive ones), and segments."""
    if places is None:
        places = Numbers(node).arange(0, extent_value(node, node.input(0), 1))
    total = node.emit("add", rows(2, node.input(0)), rows(3, places))
    segments = node.optional_input(1)
    return total if segments is None else node.emit("add", total, rows(4, segments))


def _counted(node: NodeView) -> SSAValue:
    """The number of ones in each row of the mask, as i32; 0 without a mask."""
    mask = node.optional_input(7)
    if mask is None:
        return node.emit("sum", node.emit("cast", node.emit("zeros_like", node.input(0)), dtype="int32"), axis=(1,))
    ones = node.emit("equal", mask, node.scalar(1, mask))
    return node.emit("sum", node.emit("cast", ones, dtype="int32"), axis=(1,))


@converts("GroupNorm", domain=MICROSOFT, attributes=_GROUP_ATTRIBUTES)
def convert_group_norm(node: NodeView) -> SSAValue:
    """`nn.group_norm` in f32, by default of channels-last images, then optionally silu."""
    return _group_norm(node, converted(node, node.input(0), FLOAT32))


@converts("SkipGroupNorm", domain=MICROSOFT, attributes=_GROUP_ATTRIBUTES)
def convert_skip_group_norm(node: NodeView) -> list[SSAValue]:
    """GroupNorm of the sum with `skip`, which may have one element per channel of an image, and with a bias."""
    total, skip = (converted(node, node.input(index), FLOAT32) for index in (0, 3))
    rank, last = len(node.shape(0)), _is_channels_last(node)
    if len(node.shape(3)) == 2:
        skip = node.emit("expand_dims", skip, axis=1 if last else 2, num_newaxis=rank - 2)
    total = node.emit("add", total, skip)
    if node.optional_input(4) is not None:
        bias = converted(node, node.input(4), FLOAT32)
        total = node.emit("nn.bias_add", total, bias, axis=rank - 1 if last else 1)
    return [_group_norm(node, total), as_input(node, total)]


def _group_norm(node: NodeView, data: SSAValue) -> SSAValue:
    last = _is_channels_last(node)
    activation = node.attribute_flag("activation")
    if last:
        data = channels_first(node, data)
    result = node.emit(
        "nn.group_norm",
        data,
        *(converted(node, node.input(index), FLOAT32) for index in (1, 2)),
        num_groups=node.attribute_int("groups", 0, check=lambda number: number >= 1),
        epsilon=node.attribute_float("epsilon", 1e-5),
    )
    result = node.emit("nn.swish", result) if activation else result
    if last:
        result = channels_last(node, result)
    return as_input(node, result)


def _is_channels_last(node: NodeView) -> bool:
    if len(node.shape(0)) < 3:
        raise node.error(f"images of {node.input(0).type}; they have a batch, channels and spatial axes")
    return node.attribute_flag("channels_last", True)
