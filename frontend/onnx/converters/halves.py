"""16-bit floats, which are computed in f32."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import is_half
from xrelay.dialects.shared.types import element_type_of
from xrelay.frontend.onnx.node import NodeView


def in_f32(node: NodeView, value: SSAValue) -> SSAValue:
    """Returns `value`, cast to f32 if its elements are 16-bit floats."""
    return node.emit("cast", value, dtype="float32") if is_half(element_type_of(value.type)) else value
