"""HardSigmoid, HardSwish, Mish, Softplus, Softsign, Swish and Gelu."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts
from xrelay.frontend.onnx.converters.shared.activations import converts_activation

for _op_type in ("HardSigmoid", "HardSwish", "Mish", "Softplus", "Softsign", "Swish"):
    converts_activation(_op_type)


@converts("Gelu", since=20, attributes=("approximate",))
def convert_gelu(node: NodeView) -> SSAValue:
    """`nn.gelu`."""
    approximate = node.attribute_string("approximate", "none", ("none", "tanh"))
    return node.emit("nn.gelu", node.input(0), approximate=approximate)
