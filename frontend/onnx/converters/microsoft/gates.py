"""Gates of recurrent attention and of expert layers that onnxruntime fuses; they are computed in f32."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    NodeView,
    converts,
    known_extent,
    numpy_dtype,
    shape_of,
)

_GATES = {"silu": "nn.swish", "swish": "nn.swish", "sigmoid": "sigmoid"}


@converts("GatedRMSNorm", domain=MICROSOFT, attributes=("activation", "epsilon"))
def convert_gated_rms_norm(node: NodeView) -> SSAValue:
    """`nn.rms_norm` of groups of as many elements as there are scales, times the activated gate."""
    x, scale, gate = (_wide(node, node.input(index)) for index in range(3))
    name = node.attribute_string("activation", "silu", tuple(_GATES))
    last = len(shape_of(x.type)) - 1
    width, count = known_extent(node, x, last) if last >= 0 else 0, node.last_extent(1)
    if len(node.shape(1)) != 1 or not isinstance(count, int) or not count or width % count:
        raise node.error(f"{x.type} does not split into parts of the size of the scales, {scale.type}")
    parts = node.emit("reshape", x, newshape=(*(0,) * last, width // count, count))
    normal = node.emit("nn.rms_norm", parts, scale, epsilon=node.attribute_float("epsilon", 1e-5))
    normal = node.emit("reshape", normal, newshape=(*(0,) * last, width))
    return _narrow(node, node.emit("multiply", normal, node.emit(_GATES[name], gate)))


@converts("GatedAdd", domain=MICROSOFT, limits="projected gates")
def convert_gated_add(node: NodeView) -> SSAValue:
    """X + y * gate, with the product rounded."""
    if node.optional_input(3) is not None:
        raise node.unsupported("a gate that is projected, input #3, is not supported")
    return node.emit("add", node.input(0), node.emit("multiply", node.input(1), node.input(2)))


@converts("ScaledSiLU", domain=MICROSOFT, attributes=("alpha",))
def convert_scaled_silu(node: NodeView) -> SSAValue:
    """The scaled data times its sigmoid, each rounded to the type of the data."""
    x, given = _wide(node, node.input(0)), node.optional_input(1)
    scale = node.scalar(node.attribute_float("alpha", 1.0), x) if given is None else _wide(node, given)
    scaled = _narrow(node, node.emit("multiply", x, scale))
    gate = _narrow(node, node.emit("sigmoid", _wide(node, scaled)))
    return node.emit("multiply", scaled, gate)


@converts("LinearAttentionGate", domain=MICROSOFT)
def convert_linear_attention_gate(node: NodeView) -> list[SSAValue | None]:
    """The decay, a scale times the softplus of a sum, and the sigmoid of input 3."""
    shifted = node.emit("add", _wide(node, node.input(0)), node.input(1))
    decay = node.emit("multiply", node.emit("nn.softplus", shifted), node.input(2))
    rate = node.optional_input(3)
    beta = None if rate is None else _narrow(node, node.emit("sigmoid", _wide(node, rate)))
    return [_narrow(node, decay), beta]


@converts("SwiGLU", domain=MICROSOFT, attributes=("activation_alpha", "activation_beta", "limit", "round_activation"))
def convert_swiglu(node: NodeView) -> SSAValue:
    """G * sigmoid(alpha * g) * (l + beta), clamped if there is a limit; g and l may be halves of one input."""
    gate, linear = _gate_and_linear(node)
    limit = node.attribute_float("limit", 0.0)
    if limit > 0:
        gate = node.emit("minimum", gate, node.scalar(limit, gate))
        linear = node.emit("clip", linear, a_min=-limit, a_max=limit)
    bent = node.emit("nn.swish", gate, alpha=node.attribute_float("activation_alpha", 1.0))
    if node.attribute_int("round_activation", 0):
        bent = _wide(node, _narrow(node, bent))
    beta = node.attribute_float("activation_beta", 0.0)
    linear = linear if beta == 0 else node.emit("add", linear, node.scalar(beta, linear))
    return _narrow(node, node.emit("multiply", bent, linear))


def _gate_and_linear(node: NodeView) -> list[SSAValue]:
    gate, linear = _wide(node, node.input(0)), node.optional_input(1)
    if linear is not None:
        return [gate, _wide(node, linear)]
    last = len(shape_of(gate.type)) - 1
    if last < 0 or known_extent(node, gate, last) % 2:
        raise node.error(f"{gate.type} does not split into halves")
    halves = node.emit("split", gate, indices_or_sections=2, axis=last)
    return [node.tuple_field(halves, index) for index in range(2)]


def _wide(node: NodeView, value: SSAValue) -> SSAValue:
    """`value` in f32."""
    return node.emit("cast", value, dtype="float32")


def _narrow(node: NodeView, value: SSAValue) -> SSAValue:
    """`value` in the element type of the node."""
    return node.emit("cast", value, dtype=numpy_dtype(node.element_type(0)))
