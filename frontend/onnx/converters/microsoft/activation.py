"""Activations in the domain com.microsoft, and sums that onnxruntime fuses with them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    NodeView,
    as_input,
    converts,
    in_f32,
    known_extent,
    shape_of,
)
from xrelay.frontend.onnx.converters.shared.activations import ACTIVATIONS, PLAIN


@converts("Gelu", domain=MICROSOFT)
def convert_gelu(node: NodeView) -> SSAValue:
    """`nn.gelu`."""
    return node.emit("nn.gelu", node.input(0))


@converts("BiasGelu", domain=MICROSOFT)
def convert_bias_gelu(node: NodeView) -> SSAValue:
    """`nn.gelu` of the sum."""
    return _gelu_of_sum(node, "none")


@converts("FastGelu", domain=MICROSOFT)
def convert_fast_gelu(node: NodeView) -> SSAValue:
    """`nn.gelu` with the tanh approximation, of the sum if there is a bias."""
    return _gelu_of_sum(node, "tanh")


def _gelu_of_sum(node: NodeView, approximate: str) -> SSAValue:
    """`nn.gelu` of the sum, which is not rounded to 16 bits before the activation."""
    x, bias = node.input(0), node.optional_input(1)
    if bias is None:
        return node.emit("nn.gelu", x, approximate=approximate)
    total = node.emit("add", in_f32(node, x), in_f32(node, bias))
    return as_input(node, node.emit("nn.gelu", total, approximate=approximate))


@converts("QuickGelu", domain=MICROSOFT, attributes=("alpha",))
def convert_quick_gelu(node: NodeView) -> SSAValue:
    """`nn.swish`."""
    return node.emit("nn.swish", node.input(0), alpha=node.attribute_float("alpha", 1.702))


@converts("BiasAdd", domain=MICROSOFT)
def convert_bias_add(node: NodeView) -> SSAValue:
    """The sum of data, bias and residual."""
    data, bias, skipped = (in_f32(node, node.input(index)) for index in range(3))
    return as_input(node, node.emit("add", node.emit("add", data, bias), skipped))


@converts("BiasSplitGelu", domain=MICROSOFT)
def convert_bias_split_gelu(node: NodeView) -> SSAValue:
    """The first half of each sum times the Gelu of the second half."""
    total = node.emit("add", in_f32(node, node.input(0)), in_f32(node, node.input(1)))
    last = len(shape_of(total.type)) - 1
    extent = known_extent(node, total, last) if last >= 0 else 1
    if extent % 2:
        raise node.error(f"{total.type} does not split into halves")
    halves = node.emit("split", total, indices_or_sections=2, axis=last)
    first, second = (node.tuple_field(halves, index) for index in range(2))
    return as_input(node, node.emit("multiply", first, node.emit("nn.gelu", second)))


def activated(node: NodeView, value: SSAValue, numbers: Sequence[float]) -> SSAValue:
    """Returns `value` after the activation of a fused node, if any."""
    name = node.attribute_string("activation", "", ("", *PLAIN, *ACTIVATIONS, "Clip"))
    if not name:
        return value
    if name in PLAIN:
        return node.emit(PLAIN[name], value)
    if name == "Clip":
        if len(numbers) != 2:
            raise node.error(f"a Clip between {list(numbers)}; minimum and maximum are expected")
        return node.emit("clip", value, a_min=numbers[0], a_max=numbers[1])
    known = ACTIVATIONS[name]
    return node.emit(known.op, value, **{**known.attributes, **dict(zip(known.attributes, numbers, strict=False))})
