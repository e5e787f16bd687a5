"""Ops that exporters use to compute shapes: they are folded at import, and refused where they are not constant."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts

_FOLDED = {
    "Shape": ("start", "end"),
    "Size": (),
    "Range": (),
    "Floor": (),
    "Ceil": (),
    "Where": (),
    "Mod": ("fmod",),
    "Not": (),
}


def _refuse(node: NodeView) -> SSAValue:
    raise node.error(
        f"{node.proto.op_type} is supported on constants alone (shape arithmetic), and its inputs are not constant",
        help="fix the model's input shapes with shapes={…}",
    )


for _op_type, _attributes in _FOLDED.items():
    converts(_op_type, attributes=_attributes)(_refuse)
