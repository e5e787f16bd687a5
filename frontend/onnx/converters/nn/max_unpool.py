"""MaxUnpool: writes maxima to the positions they were pooled from."""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    NodeView,
    Number,
    Numbers,
    converts,
    numpy_dtype,
    padded,
    shape_text,
)


@converts("MaxUnpool", since=9, attributes=("kernel_shape", "pads", "strides"))
def convert_max_unpool(node: NodeView) -> SSAValue:
    """Zeros in the shape of the pooled data's input, with the maxima at their flat indices.

    A larger `output_shape` adds zeros at the end of each axis.
    """
    numbers = Numbers(node)
    whole = _pooled_shape(node, numbers)
    zero = np.zeros((), numpy_dtype(node.element_type(0)))
    zeros = numbers.filled(zero, [numbers.of("multiply", *whole)], "zeros")
    places, values = (node.emit("reshape", node.input(index), newshape=(-1,)) for index in (1, 0))
    spread = numbers.shaped(node.emit("scatter_elements", zeros, places, values, axis=0), whole)
    return spread if node.optional_input(2) is None else _enlarged(node, numbers, spread, whole)


def _pooled_shape(node: NodeView, numbers: Numbers) -> list[Number]:
    """The extents of the data that was pooled."""
    rank = len(node.shape(0)) - 2
    kernel = node.attribute_ints("kernel_shape") or ()
    strides = node.attribute_ints("strides", (1,) * rank) or ()
    pads = node.attribute_ints("pads", (0,) * (2 * rank)) or ()
    if rank < 1 or (len(kernel), len(strides), len(pads)) != (rank, rank, 2 * rank):
        shape = shape_text(node.shape(0))
        raise node.error(f"a window of {list(kernel)}, strides {list(strides)} and pads {list(pads)} for shape {shape}")
    extents = [numbers.extent(node.input(0), axis) for axis in range(rank + 2)]
    spatial: list[Number] = []
    rows = zip(extents[2:], strides, kernel, pads[:rank], pads[rank:], strict=True)
    for extent, stride, size, before, after in rows:
        moved = numbers.of("multiply", numbers.of("subtract", extent, 1), stride)
        pooled = numbers.of("add", moved, size - before - after)
        if isinstance(pooled, int) and pooled < 0:
            raise node.error(f"the pooled data would have the extent {pooled}")
        spatial.append(numbers.of("maximum", pooled, 0))
    return [*extents[:2], *spatial]


def _enlarged(node: NodeView, numbers: Numbers, value: SSAValue, shape: Sequence[Number]) -> SSAValue:
    """The value with trailing zeros up to `output_shape`."""
    if node.shape(2) != (len(shape),):
        raise node.error(f"{len(shape)} extents are expected, found {node.input(2).type}")
    wanted, found = node.known_ints(2), tuple(extent for extent in shape if isinstance(extent, int))
    if wanted is None or len(found) < len(shape):
        more = node.emit("subtract", node.emit("cast", node.input(2), dtype="int64"), numbers.stacked(shape))
    else:
        more = tuple(map(sub, wanted, found))
        if min(more) < 0:
            raise node.error(f"the output shape {list(wanted)} is less than {list(found)}")
    return padded(node, value, ((0,) * len(shape), more))
