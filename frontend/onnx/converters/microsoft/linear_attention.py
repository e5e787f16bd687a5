"""Linear attention and causal convolution of the domain com.microsoft, which precede those of the standard."""

from __future__ import annotations

import onnx
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.conversion import call_definition
from xrelay.frontend.onnx.converters.definition import MICROSOFT, NodeView, converts, numpy_dtype

_OPSET = 27
"""The opset of the standard's definition."""
_CONVOLUTION = {
    **{"ndim": 1, "dilation": 1, "channels_last": 0, "state_window": 0, "state_length": 0, "state_channels_last": -1},
    **{"state_update_capacity": 0, "input_channels": 0, "input_channel_offset": 0},
}
"""The attributes of unsupported forms, with the values that disable them."""


@converts(
    "LinearAttention",
    domain=MICROSOFT,
    attributes=("chunk_size", "kv_num_heads", "q_num_heads", "scale", "update_rule", "state_window"),
    limits="windows of states",
)
def convert_linear_attention(node: NodeView) -> list[SSAValue | None]:
    """LinearAttention of the standard."""
    return call_definition(_plain(node, {"state_window": 0}), _OPSET)


@converts(
    "CausalConvWithState",
    domain=MICROSOFT,
    attributes=("activation", *_CONVOLUTION),
    limits="one axis, channels first, no dilation, no windows of states",
)
def convert_causal_conv(node: NodeView) -> list[SSAValue]:
    """A causal convolution per channel of the state followed by the data; also returns the new state."""
    node = _plain(node, _CONVOLUTION)
    activation = node.attribute_string("activation", "none", ("none", "silu", "swish"))
    filters = node.shape(1)
    known = [extent for extent in filters if isinstance(extent, int)]
    if len(node.shape(0)) != 3 or len(filters) != 3 or len(known) != 3:
        raise node.error(
            f"{node.input(0).type} and filters {node.input(1).type}: one axis and known filters are expected"
        )
    channels, _, window = known
    joined = _after_state(node, window - 1)
    weight = node.emit("cast", node.input(1), dtype="float32")
    result = node.emit("nn.conv1d", joined, weight, groups=channels, channels=channels, kernel_size=(window,))
    if node.optional_input(2) is not None:
        result = node.emit("nn.bias_add", result, node.emit("cast", node.input(2), dtype="float32"), axis=1)
    result = result if activation == "none" else node.emit("nn.swish", result)
    dtype = numpy_dtype(node.element_type(0))
    return [node.emit("cast", each, dtype=dtype) for each in (result, _last(node, joined, window - 1))]


def _after_state(node: NodeView, count: int) -> SSAValue:
    """The `count` places of the state, or zeros, followed by the data, in f32."""
    data, state = node.emit("cast", node.input(0), dtype="float32"), node.optional_input(3)
    if state is None:
        return node.emit("nn.pad", data, node.scalar(0.0, data), pad_width=(0, 0, 0, 0, count, 0))
    if len(node.shape(3)) != 3 or node.shape(3)[2] != count:
        raise node.error(f"a state {state.type} before filters of {count + 1} elements: {count} places are expected")
    return node.emit("concatenate", node.make_tuple([node.emit("cast", state, dtype="float32"), data]), axis=2)


def _last(node: NodeView, value: SSAValue, count: int) -> SSAValue:
    """The last `count` places."""
    begin = -count if count else 2**63 - 1
    return node.emit("strided_slice", value, begin=(begin,), end=(2**63 - 1,), axes=(2,))


def _plain(node: NodeView, usual: dict[str, int]) -> NodeView:
    """The node without the attributes in `usual`, which must have these values."""
    for name, value in usual.items():
        found = node.attribute_int(name, value)
        if found != value:
            raise node.unsupported(f"attribute {name!r} is {found}, only {value} is supported")
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    kept = [attribute for attribute in proto.attribute if attribute.name not in usual]
    del proto.attribute[:]
    proto.attribute.extend(kept)
    return NodeView(proto, node.graph, node.inputs)
