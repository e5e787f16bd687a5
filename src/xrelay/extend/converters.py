"""Converters of ONNX nodes.

    @converts("L1Normalize", domain="com.acme", attributes=("axis",))
    def convert(node: NodeView) -> SSAValue: …

A converter of another package takes precedence over xrelay's for the same op.
"""

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import NodeView, converts

__all__ = ["ModelImportError", "NodeView", "converts"]
