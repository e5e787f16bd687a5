"""CenterCropPad."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import Integers, NodeView, Numbers, converts, cut, known_axes, padded


@converts("CenterCropPad", since=18, attributes=("axes",))
def convert_center_crop_pad(node: NodeView) -> SSAValue:
    """Crops long axes around their centre, and pads short ones; an odd element is cut or added at the end."""
    numbers, (shape, wanted) = Numbers(node), _shapes(node)
    first = numbers.each("divide", numbers.each("maximum", numbers.each("subtract", shape, wanted), 0), 2)
    last = numbers.each("add", first, numbers.each("minimum", shape, wanted))
    if isinstance(first, SSAValue) or isinstance(last, SSAValue):
        step = node.emit_ints([1] * len(node.shape(0)), "step")
        data = node.emit("dyn.strided_slice", node.input(0), numbers.value(first), numbers.value(last), step)
    else:
        data = cut(node, node.input(0), dict(enumerate(map(range, first, last))))
    missing = numbers.each("maximum", numbers.each("subtract", wanted, shape), 0)
    before = numbers.each("divide", missing, 2)
    return padded(node, data, (before, numbers.each("subtract", missing, before)))


def _shapes(node: NodeView) -> tuple[Integers, Integers]:
    """The shape of the data, and the one of the result; both are known or neither is."""
    rank, named = len(node.shape(0)), node.attribute_ints("axes")
    axes = known_axes(node, tuple(range(rank)) if named is None else named, rank)
    if node.shape(1) != (len(axes),):
        raise node.error(f"{len(axes)} extents are expected, found {node.input(1).type}")
    places = [rank + axes.index(axis) if axis in axes else axis for axis in range(rank)]
    given, known = node.known_ints(1), tuple(extent for extent in node.shape(0) if isinstance(extent, int))
    if given is not None and len(known) == rank:
        if min(given, default=0) < 0:
            raise node.error(f"an extent of {min(given)} is expected")
        node.require_size(given, 8)
        return known, tuple((*known, *given)[place] for place in places)
    shape = node.emit("shape_of", node.input(0))
    joined = node.make_tuple([shape, node.emit("cast", node.input(1), dtype="int64")])
    at = node.emit_ints(places, "places")
    return shape, node.emit("take", node.emit("concatenate", joined, axis=0), at, axis=0, mode="fast")
