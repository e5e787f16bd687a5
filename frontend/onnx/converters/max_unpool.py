"""MaxUnpool: maxima go back to the places that they came from."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.frontend.onnx.converters.extents import static_shape
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("MaxUnpool", since=9, attributes=("kernel_shape", "pads", "strides"), limits="known extents")
def convert_max_unpool(node: NodeView) -> SSAValue:
    """Zeros of the pooled data's shape, and the maxima at their numbers among its elements.

    An `output_shape` that is larger has zeros behind it, along each axis.
    """
    shape = static_shape(node, node.input(0))
    rank = len(shape) - 2
    kernel = node.attribute_ints("kernel_shape") or ()
    strides, pads = (
        node.attribute_ints("strides", (1,) * rank) or (),
        node.attribute_ints("pads", (0,) * (2 * rank)) or (),
    )
    if rank < 1 or (len(kernel), len(strides), len(pads)) != (rank, rank, 2 * rank):
        raise node.error(
            f"a window of {list(kernel)}, strides {list(strides)} and pads {list(pads)} for shape {list(shape)}"
        )
    spatial = [
        (extent - 1) * stride + size - before - after
        for extent, stride, size, before, after in zip(
            shape[2:], strides, kernel, pads[:rank], pads[rank:], strict=True
        )
    ]
    if min(spatial) < 0:
        raise node.error(f"the pooled data would have the extents {spatial}")
    whole = (*shape[:2], *spatial)
    zeros = node.emit_filled(np.zeros((), numpy_dtype(node.element_type(0))), (prod(whole),), "zeros")
    places, values = (node.reshape(node.input(index), (prod(shape),)) for index in (1, 0))
    spread = node.reshape(node.emit("scatter_elements", zeros, places, values, axis=0), whole)
    return spread if node.optional_input(2) is None else _enlarged(node, spread, whole)


def _enlarged(node: NodeView, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The value with zeros behind it up to `output_shape`."""
    if node.shape(2) != (len(shape),):
        raise node.error(f"{len(shape)} extents are expected, found {node.input(2).type}")
    known = node.known_ints(2)
    if known is not None:
        if any(wanted < found for wanted, found in zip(known, shape, strict=True)):
            raise node.error(f"the output shape {list(known)} is less than {list(shape)}")
        widths = [width for wanted, found in zip(known, shape, strict=True) for width in (0, wanted - found)]
        return node.emit("nn.pad", value, node.scalar_like(0, 0), pad_width=widths) if any(widths) else value
    wanted = node.emit("cast", node.input(2), dtype="int64")
    more = node.emit("subtract", wanted, node.emit_constant(np.array(shape, np.int64), "shape"))
    none = node.emit_constant(np.zeros(len(shape), np.int64), "none")
    widths = node.emit("stack", node.make_tuple([none, more]), axis=1)
    return node.emit("dyn.nn.pad", value, widths, node.scalar_like(0, 0))
