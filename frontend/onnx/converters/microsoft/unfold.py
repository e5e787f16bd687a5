"""UnfoldTensor."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import MICROSOFT, NodeView, Numbers, converts, known_axis, shape_of


@converts("UnfoldTensor", domain=MICROSOFT, attributes=("dim", "size", "step"))
def convert_unfold(node: NodeView) -> SSAValue:
    """All windows of `size` elements along an axis, `step` elements apart; their elements are a new last axis."""
    rank = len(node.shape(0))
    axis = known_axis(node, node.attribute_int("dim", -1), rank)
    size, step = (node.attribute_int(name, 1, check=lambda value: value >= 1) for name in ("size", "step"))
    numbers, extent = Numbers(node), shape_of(node.input(0).type)[axis]
    if isinstance(extent, int) and extent < size:
        raise node.error(f"parts of {size} elements of an axis of {extent}")
    places = numbers.places_of_parts(numbers.extent(node.input(0), axis), size, step)
    parts = node.emit("take", node.input(0), places, axis=axis, mode="fast")
    others = (place for place in range(rank + 1) if place != axis + 1)
    return node.emit("transpose", parts, axes=(*others, axis + 1))
