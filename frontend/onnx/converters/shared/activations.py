"""The activations for which relay has an operator with ONNX's attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@dataclass(frozen=True)
class Activation:
    """The relay op of an ONNX op, its first opset, and its attributes (with equal names in both) with defaults."""

    op: str
    since: int = 1
    attributes: Mapping[str, float] = field(default_factory=dict[str, float])

    def convert(self, node: NodeView) -> SSAValue:
        """Returns the relay op with the node's attributes."""
        given = {name: node.attribute_float(name, default) for name, default in self.attributes.items()}
        return node.emit(self.op, node.input(0), **given)


ACTIVATIONS = {
    "Celu": Activation("nn.celu", 12, {"alpha": 1.0}),
    "Elu": Activation("nn.elu", 1, {"alpha": 1.0}),
    "HardSigmoid": Activation("nn.hard_sigmoid", 1, {"alpha": 0.2, "beta": 0.5}),
    "HardSwish": Activation("nn.hard_swish", 14),
    "LeakyRelu": Activation("nn.leaky_relu", 1, {"alpha": 0.01}),
    "Mish": Activation("nn.mish", 18),
    "Selu": Activation("nn.selu", 1, {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875}),
    "Softplus": Activation("nn.softplus"),
    "Softsign": Activation("nn.softsign"),
    "Swish": Activation("nn.swish", 24, {"alpha": 1.0}),
}


PLAIN = {"Relu": "nn.relu", "Sigmoid": "sigmoid", "Tanh": "tanh"}
"""The activations without attributes, of nodes that name their activations."""


def converts_activation(op_type: str) -> None:
    """Registers the converter of an entry of `ACTIVATIONS`; `consumed_inputs` is an optimisation hint of opset 1."""
    known = ACTIVATIONS[op_type]
    converts(op_type, since=known.since, attributes=(*known.attributes, "consumed_inputs"))(known.convert)
