"""Normalisation by statistics of the data: LayerNormalization, GroupNormalization and similar ops."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    NodeView,
    Numbers,
    axis_attribute,
    converts,
    element_type_of,
    is_half,
    joined_axes,
    known_extent,
    numpy_dtype,
    rounded_once,
    shape_of,
)
from xrelay.frontend.onnx.converters.shared.extents import covers

_LAST_AXES = ("axis", "epsilon", "stash_type")
_STASHED: dict[int, str] = {TensorProto.FLOAT: "float32", TensorProto.BFLOAT16: "bfloat16"}
"""The element types of the statistics."""


@converts("LayerNormalization", attributes=_LAST_AXES)
def convert_layer_normalization(node: NodeView) -> list[SSAValue]:
    """`nn.layer_norm` over the merged last axes, and the statistics if used; onnxruntime writes it before opset 17."""
    result = _over_last_axes(node, "nn.layer_norm", vectors=2)
    return [result, *_statistics(node)] if any(node.outputs[1:]) else [result]


@converts("RMSNormalization", since=23, attributes=_LAST_AXES)
@converts("SimplifiedLayerNormalization", attributes=_LAST_AXES)
@converts("SimplifiedLayerNormalization", domain=MICROSOFT, attributes=_LAST_AXES)
def convert_rms_normalization(node: NodeView) -> SSAValue:
    """`nn.rms_norm` over the merged last axes; the other op names are onnxruntime's."""
    return _over_last_axes(node, "nn.rms_norm", vectors=1)


def _over_last_axes(node: NodeView, op: str, *, vectors: int) -> SSAValue:
    """`op` over the merged axes from `axis` on, with scale and bias as its vectors.

    A scale or bias that broadcasts to these axes is applied afterwards.
    """
    others = (value for value in node.inputs[2:] if value is not None)
    axis, values = axis_attribute(node, -1), [node.input(0), node.input(1), *others]
    fits = all(covers(shape_of(value.type), node.shape(0)[axis:]) for value in values[1:])
    narrow = is_half(node.element_type(0)) and not fits
    x, *factors = [node.emit("cast", value, dtype="float32") for value in values] if narrow else values
    flat, element = joined_axes(node, x, axis), np.ones((), numpy_dtype(element_type_of(x.type)))
    own = [joined_axes(node, value, 0) for value in factors if fits]
    own = own or [node.emit_filled(element, (known_extent(node, flat, -1),), "ones")]
    without: dict[str, AttributeValue] = {} if len(own) == vectors else {"center": False}
    result = node.emit(op, flat, *(own * 2)[:vectors], epsilon=node.attribute_float("epsilon", 1e-5), **without)
    result = node.emit("reshape_like", result, x) if flat is not x else result
    for combine, value in zip(("multiply", "add"), () if fits else factors, strict=False):
        result = node.emit(combine, result, value)
    return node.emit("cast", result, dtype=numpy_dtype(node.element_type(0))) if narrow else result


def _statistics(node: NodeView) -> list[SSAValue]:
    """The mean and the reciprocal standard deviation, in the type of `stash_type`."""
    stash = node.attribute_int("stash_type", TensorProto.FLOAT, check=lambda number: number in _STASHED)
    x, axes = node.input(0), tuple(range(axis_attribute(node, -1), len(node.shape(0))))
    x = node.emit("cast", x, dtype="float32") if is_half(node.element_type(0)) else x
    mean = node.emit("mean", x, axis=axes, keepdims=True)
    variance = node.emit("variance", x, mean, axis=axes, keepdims=True)
    shifted = node.emit("add", variance, node.scalar(node.attribute_float("epsilon", 1e-5), variance))
    return [node.emit("cast", value, dtype=_STASHED[stash]) for value in (mean, node.emit("rsqrt", shifted))]


@converts("InstanceNormalization", attributes=("epsilon", "consumed_inputs"))
def convert_instance_normalization(node: NodeView) -> SSAValue:
    """`nn.instance_norm` over all axes except 0 and 1."""
    epsilon = node.attribute_float("epsilon", 1e-5)
    return node.emit("nn.instance_norm", node.input(0), node.input(1), node.input(2), epsilon=epsilon)


@converts("GroupNormalization", since=18, until=20, attributes=("epsilon", "num_groups"))
@converts("GroupNormalization", since=21, attributes=("epsilon", "num_groups", "stash_type"))
def convert_group_normalization(node: NodeView) -> SSAValue:
    """`nn.group_norm`; before opset 21, scale and bias have one element per group, repeated for its channels."""
    groups = node.attribute_int("num_groups", 0, check=lambda number: number >= 1)
    vectors = [node.input(1), node.input(2)]
    if node.opset < 21:
        numbers = Numbers(node)
        channels = numbers.extent(node.input(0), 1)
        vectors = [numbers.repeated(value, groups, channels) for value in vectors]
    epsilon = node.attribute_float("epsilon", 1e-5)
    return node.emit("nn.group_norm", node.input(0), *vectors, num_groups=groups, epsilon=epsilon)


@converts("LpNormalization", attributes=("axis", "p"))
@rounded_once
def convert_lp_normalization(node: NodeView, x: SSAValue) -> SSAValue:
    """`nn.l2_normalize`, or x divided by the sum of its absolute values; a zero vector is unchanged."""
    axis = axis_attribute(node, -1)
    if not isinstance(element_type_of(x.type), AnyFloat):
        raise node.error(f"the element type must be a float, found {element_type_of(x.type)}")
    least = float(np.finfo(numpy_dtype(element_type_of(x.type))).tiny)
    if node.attribute_int("p", 2, check=lambda power: power in (1, 2)) == 2:
        return node.emit("nn.l2_normalize", x, eps=least, axis=(axis,))
    total = node.emit("sum", node.emit("abs", x), axis=(axis,), keepdims=True)
    return node.emit("divide", x, node.emit("maximum", total, node.scalar(least, x)))


@converts("MeanVarianceNormalization", since=9, attributes=("axes",))
@rounded_once
def convert_mean_variance_normalization(node: NodeView, x: SSAValue) -> SSAValue:
    """(x - mean) / (standard deviation + 1e-9) over the axes."""
    axes = node.attribute_ints("axes", (0, 2, 3)) or ()
    mean = node.emit("mean", x, axis=axes, keepdims=True)
    deviation = node.emit("sqrt", node.emit("variance", x, mean, axis=axes, keepdims=True))
    return node.emit(
        "divide", node.emit("subtract", x, mean), node.emit("add", deviation, node.scalar(1e-9, deviation))
    )
