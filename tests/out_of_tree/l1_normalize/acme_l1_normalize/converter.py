"""The ONNX node L1Normalize of the domain com.acme."""

from xdsl.ir import SSAValue

from xrelay.extend.converters import NodeView, converts


@converts("L1Normalize", domain="com.acme", attributes=("axis",))
def convert(node: NodeView) -> SSAValue:
    """Converts the node to one op."""
    return node.emit("acme.l1_normalize", node.input(0), axis=node.attribute_int("axis", -1))
