"""LRN."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts


def _refusal(node: NodeView) -> str | None:
    """The reason if `size`, which has no default, is missing."""
    return None if "size" in node.attribute_names else "attribute 'size' is missing; ONNX requires it"


@converts("LRN", since=1, attributes=("alpha", "beta", "bias", "size"), supports=_refusal)
def convert_lrn(node: NodeView) -> SSAValue:
    """`nn.lrn` over axis 1, with ONNX's defaults."""
    size = node.attribute_int("size", 0, check=lambda value: value >= 1)
    return node.emit(
        "nn.lrn",
        node.input(0),
        size=size,
        axis=1,
        bias=node.attribute_float("bias", 1.0),
        alpha=node.attribute_float("alpha", 1e-4),
        beta=node.attribute_float("beta", 0.75),
    )
