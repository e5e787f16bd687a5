"""Activations in the domain com.microsoft, alone or fused with sums, products and convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import is_half, numpy_dtype
from xrelay.frontend.onnx.converters.nn.conv import convolution
from xrelay.frontend.onnx.converters.nn.matmul import gemm
from xrelay.frontend.onnx.converters.nn.windows import WINDOW_ATTRIBUTES, unsupported_rank
from xrelay.frontend.onnx.converters.shared.activations import ACTIVATIONS
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts


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
    x, bias, element = node.input(0), node.optional_input(1), node.element_type(0)
    if bias is None:
        return node.emit("nn.gelu", x, approximate=approximate)
    terms = [node.emit("cast", term, dtype="float32") for term in (x, bias)] if is_half(element) else [x, bias]
    result = node.emit("nn.gelu", node.emit("add", *terms), approximate=approximate)
    return node.emit("cast", result, dtype=numpy_dtype(element)) if is_half(element) else result


@converts("QuickGelu", domain=MICROSOFT, attributes=("alpha",))
def convert_quick_gelu(node: NodeView) -> SSAValue:
    """`nn.swish`."""
    return node.emit("nn.swish", node.input(0), alpha=node.attribute_float("alpha", 1.702))


@converts(
    "FusedGemm",
    domain=MICROSOFT,
    attributes=(
        *("alpha", "beta", "transA", "transB"),
        *("activation", "activation_alpha", "activation_beta", "activation_gamma"),
    ),
    limits="Clip",
)
def convert_fused_gemm(node: NodeView) -> SSAValue:
    """A Gemm, then an activation."""
    name = node.attribute_text("activation") if "activation" in node.attribute_names else ""
    known = ACTIVATIONS.get(name)
    defaults = () if known is None else known.attributes.items()
    numbers = [node.attribute_float(f"activation_{word}", usual) for word, usual in defaults]
    return _activated(node, gemm(node), numbers)


@converts(
    "FusedConv",
    domain=MICROSOFT,
    attributes=(*WINDOW_ATTRIBUTES, "group", "activation", "activation_params"),
    supports=unsupported_rank,
    limits="1 to 3 spatial axes",
)
def convert_fused_conv(node: NodeView) -> SSAValue:
    """A convolution, plus input 3 if present, then an activation."""
    return fused_convolution(node)


def fused_convolution(node: NodeView) -> SSAValue:
    """Returns the result of FusedConv."""
    result = convolution(node)
    if node.optional_input(3) is not None:
        result = node.emit("add", result, node.input(3))
    return _activated(node, result, node.attribute_floats("activation_params") or ())


_FIXED = {"Relu": "nn.relu", "Sigmoid": "sigmoid", "Tanh": "tanh"}
"""Activations without parameters; those with parameters have their own converters, with default values."""


def _activated(node: NodeView, value: SSAValue, numbers: Sequence[float]) -> SSAValue:
    """`value` after the activation of the node, if any."""
    name = node.attribute_string("activation", "", ("", *_FIXED, *ACTIVATIONS, "Clip"))
    if not name:
        return value
    if name in _FIXED:
        return node.emit(_FIXED[name], value)
    if name == "Clip":
        if len(numbers) != 2:
            raise node.error(f"a Clip between {list(numbers)}; minimum and maximum are expected")
        return node.emit("clip", value, a_min=numbers[0], a_max=numbers[1])
    known = ACTIVATIONS[name]
    return node.emit(known.op, value, **{**known.attributes, **dict(zip(known.attributes, numbers, strict=False))})
