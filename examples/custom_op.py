"""Adds an operator with its semantics, implementation and ONNX converter, and runs it in a model.

An installed package declares such modules as entry points instead: `xrelay new-plugin`, docs/extending.md.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from onnx import TensorProto, helper
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

import xrelay
from xrelay.extend.converters import NodeView, converts
from xrelay.extend.ops import Facts, OpPatternKind, RelayOp, register_relay_op
from xrelay.extend.strategies import Body, TopiBuilder


@register_relay_op
class HalfSquareOp(RelayOp):
    """Half of the square of each element."""

    name = "relay.half_square"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.ELEM_WISE
    data = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of the operand."""
        return facts[0]

    def evaluate(self, data: np.ndarray) -> np.ndarray:
        """Computes with numpy: the reference for native code."""
        return data * data * data.dtype.type(0.5)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Defines an element of the result."""
        data = build.operand(0)

        def element(b: Body) -> SSAValue:
            x = b.read(data, *b.spatial)
            return b.times(b.times(x, x), 0.5)

        return [build.compute("half_square", build.shape(data), build.element(data), element)]


@converts("HalfSquare", domain="com.acme")
def convert(node: NodeView) -> SSAValue:
    """Converts the ONNX node."""
    return node.emit("half_square", node.input(0))


ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"])] for name in "xy"]
graph = helper.make_graph([helper.make_node("HalfSquare", ["x"], ["y"], domain="com.acme")], "graph", *ends)
opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
print(xrelay.compile(helper.make_model(graph, opset_imports=opsets)).run([np.array([1, 2, 3], np.float32)])[0])
