"""Slices of tensors between constant bounds, for Slice, Pad and Shape."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.shape_rules import kept_by_slice
from xrelay.dialects.relay.ops.tensor.movement import INDEX_LIMIT
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.frontend.onnx.node import NodeView

Bounds = tuple[int, int, int]
"""Start, end and step along an axis."""

END_OF_AXIS = np.iinfo(np.int64).max
"""The end of a whole axis."""


def cut(node: NodeView, value: SSAValue, places: dict[int, range]) -> SSAValue:
    """Returns `value` restricted to a range of indices along each axis in `places`, whose extent is known."""
    shape = shape_of(value.type)
    extents = {axis: extent for axis in places if isinstance(extent := shape[axis], int)}
    chosen = {axis: each for axis, each in places.items() if each != range(extents[axis])}
    if not chosen:
        return value
    # A backward range down to element 0 stops at -1, which a slice would count from the end.
    ends = [each.stop if each.stop >= 0 else -extents[axis] - 1 for axis, each in chosen.items()]
    return node.emit(
        "strided_slice",
        value,
        begin=[each.start for each in chosen.values()],
        end=ends,
        strides=[each.step for each in chosen.values()],
        axes=tuple(chosen),
    )


def cut_open(node: NodeView, value: SSAValue, bounds: Mapping[int, Bounds]) -> SSAValue:
    """Returns the elements between constant bounds, along axes of dynamic extent.

    `strided_slice` if its result type is known, else `dyn.strided_slice`, which also counts from the end.
    """
    bounds = {axis: bound for axis, bound in bounds.items() if bound != (0, END_OF_AXIS, 1)}
    if not bounds:
        return value
    begin, end, strides = (list(numbers) for numbers in zip(*bounds.values(), strict=True))
    shape = shape_of(value.type)
    if all(each[0] >= 0 and kept_by_slice(shape[axis], *each) is not None for axis, each in bounds.items()):
        return node.emit("strided_slice", value, begin=begin, end=end, strides=strides, axes=tuple(bounds))
    whole = [bounds.get(axis, (0, END_OF_AXIS, 1)) for axis in range(max(bounds) + 1)]
    lists = (np.clip(np.array(numbers, np.int64), -INDEX_LIMIT, INDEX_LIMIT) for numbers in zip(*whole, strict=True))
    first, last, step = (node.emit_constant(each, "bounds") for each in lists)
    return slice_between(node, value, first, last, step)


def slice_between(node: NodeView, value: SSAValue, begin: SSAValue, end: SSAValue, step: SSAValue) -> SSAValue:
    """`dyn.strided_slice`, with ONNX's meaning of a backward slice whose `begin` is before the axis.

    ONNX starts at the first element, while numpy and Relay return an empty slice.
    """
    dtype, known, steps = numpy_dtype(element_type_of(begin.type)), *map(node.graph.elements.of, (begin, step))
    near = known is not None and all(isinstance(place, int) and place >= -1 for place in known)
    forwards = steps is not None and all(isinstance(each, int) and each > 0 for each in steps)
    (count,) = shape_of(begin.type)
    if dtype.kind == "u" or near or forwards or not isinstance(count, int):
        return node.emit("dyn.strided_slice", value, begin, end, step)
    extents = node.emit("strided_slice", node.emit("shape_of", value), begin=(0,), end=(count,))
    first = node.emit("maximum", node.emit("cast", begin, dtype="int64"), node.emit("negative", extents))
    is_backwards = node.emit("less", step, node.scalar(0, step))
    begin = node.emit("where", is_backwards, node.emit("cast", first, dtype=dtype), begin)
    return node.emit("dyn.strided_slice", value, begin, end, step)
