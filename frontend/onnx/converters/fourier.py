"""DFT and STFT: products with the table of a transform, which is a constant."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import shape_of
from xrelay.dialects.relay.structure.weights import Array
from xrelay.frontend.onnx.converters.extents import known_axis
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.frontend.onnx.tensors import check_size


@converts("DFT", since=17, until=19, attributes=("axis", "inverse", "onesided"), limits="known length of the axis")
def convert_dft_attribute(node: NodeView) -> SSAValue:
    """The axis as an attribute."""
    return _dft(node, node.attribute_int("axis", 1))


@converts("DFT", since=20, attributes=("inverse", "onesided"), limits="constant axis of known length")
def convert_dft_input(node: NodeView) -> SSAValue:
    """The axis as an input."""
    if node.optional_input(2) is None:
        return _dft(node, -2)
    return _dft(node, int(node.required_scalar(2, "axis")))


def _dft(node: NodeView, named: int) -> SSAValue:
    """The axis in front of the last, which has the real and the imaginary part, times the table of the transform."""
    shape = node.shape(0)
    rank, parts = len(shape), shape[-1] if shape else 0
    axis = known_axis(node, named, rank)
    if rank < 2 or axis == rank - 1 or parts not in (1, 2):
        raise node.error(f"axis {named} of {node.input(0).type}: the last axis has one or two parts of a number")
    inverse, onesided = (
        bool(node.attribute_int(name, 0, check=lambda v: v in (0, 1))) for name in ("inverse", "onesided")
    )
    order = [*(place for place in range(rank - 1) if place != axis), axis, rank - 1]
    moved = order != list(range(rank))
    data = node.emit("transpose", node.input(0), axes=order) if moved else node.input(0)
    extent, real = shape[axis], inverse and onesided
    if not isinstance(extent, int):
        raise node.error(f"the axis has the extent {extent}; it must be known", help="fix the shapes with shapes={…}")
    length = _length(node, 2 * (extent - 1) if real else extent)
    bins = length // 2 + 1 if onesided else length
    data = _of_extent(node, data, bins if real else length)
    table = _table(node, length, bins, inverse=inverse, onesided=onesided)[:, : 1 if parts == 1 else 2]
    result = _product(node, data, table)
    return node.emit("transpose", result, axes=[order.index(place) for place in range(rank)]) if moved else result


def _length(node: NodeView, default: int) -> int:
    """The length of the transform."""
    given = node.optional_input(1) is not None
    length = int(node.required_scalar(1, "dft_length")) if given else default
    if length < 1:
        raise node.error(f"a transform of length {length}; it must be positive")
    return length


def _of_extent(node: NodeView, data: SSAValue, extent: int) -> SSAValue:
    """The data cut or filled up with zeros along the axis in front of the last."""
    rank, found = len(shape_of(data.type)), shape_of(data.type)[-2]
    if not isinstance(found, int) or found == extent:
        return data
    if found > extent:
        return node.emit("strided_slice", data, begin=(0,), end=(extent,), axes=(rank - 2,))
    widths = [0] * (2 * rank)
    widths[2 * (rank - 2) + 1] = extent - found
    return node.emit("nn.pad", data, node.scalar(0, data), pad_width=widths, pad_mode="constant")


def _table(node: NodeView, length: int, bins: int, *, inverse: bool, onesided: bool) -> Array:
    """What each part of each element adds to each part of each result: (elements, 2, results, 2) in f64.

    Onesided and backwards the elements are the first half of a symmetric spectrum, and the result is real.
    """
    real = inverse and onesided
    elements, results = (bins, length) if real else (length, bins)
    problem = check_size((elements, 2, results, 2), 8)
    if problem is not None:
        raise node.error(problem)
    # Products of indices are brought into one turn as integers, so that no digits of the angle are lost.
    angle = 2 * np.pi / length * (np.outer(np.arange(elements), np.arange(results)) % length)
    cos, sin = np.cos(angle), np.sin(angle) * (-1 if inverse else 1)
    table = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], 1)
    if not real:
        return table / length if inverse else table
    doubled = np.full((elements, 1, 1, 1), 2.0)
    doubled[0] = 1
    if length % 2 == 0:
        doubled[-1] = 1
    return (table * doubled / length)[..., :1]


def _product(node: NodeView, data: SSAValue, table: Array) -> SSAValue:
    """The last two axes of the data times the table, in the data's type."""
    lead = (0,) * (len(shape_of(data.type)) - 2)
    elements, parts, results, out_parts = table.shape
    matrix = table.reshape(elements * parts, results * out_parts).astype(numpy_dtype(node.element_type(0)))
    rows = node.emit("reshape", data, newshape=(*lead, elements * parts))
    found = node.emit("nn.matmul", rows, node.emit_constant(matrix, "transform"))
    return node.emit("reshape", found, newshape=(*lead, results, out_parts))


@converts("STFT", since=17, attributes=("onesided",), limits="constant frame_length, known length")
def convert_stft(node: NodeView) -> SSAValue:
    """Frames of the signal, which overlap, times the window, each transformed."""
    shape = node.shape(0)
    parts = shape[2] if len(shape) == 3 else 1
    length = shape[1] if len(shape) in (2, 3) else None
    if parts not in (1, 2) or not isinstance(length, int):
        raise node.error(f"a signal of {node.input(0).type}; it has a batch, a known length, and one or two parts")
    signal = node.input(0) if len(shape) == 3 else node.emit("expand_dims", node.input(0), axis=2)
    size = _frame_length(node)
    if not 1 <= size <= length:
        raise node.error(f"frames of {size} elements of a signal of {length}")
    frames = node.emit("take", signal, _places(node, length, size), axis=1, mode="fast")
    if node.optional_input(2) is not None:
        frames = node.emit("multiply", frames, node.reshape(node.input(2), (size, 1)))
    onesided = bool(node.attribute_int("onesided", 1, check=lambda value: value in (0, 1)))
    bins = size // 2 + 1 if onesided else size
    return _product(
        node, frames, _table(node, size, bins, inverse=False, onesided=onesided)[:, : 1 if parts == 1 else 2]
    )


def _places(node: NodeView, length: int, size: int) -> SSAValue:
    """For each frame the places of its elements, of which the first is a step behind that of the frame before."""
    within = node.emit_constant(np.arange(size), "within")
    if node.constant(1) is None:
        if node.shape(1) not in ((), (1,)):
            raise node.error(f"frame_step is {node.input(1).type}; it must be one number")
        given = node.emit("cast", node.reshape(node.input(1), ()), dtype="int64")
        # A step of 0 has no frames: arange refuses it where the program runs.
        bounds = node.emit_constant(np.array(length - size + 1))
        starts = node.emit("arange", node.scalar(0, bounds), bounds, given)
        return node.emit("add", node.emit("expand_dims", starts, axis=1), within)
    step = int(node.required_scalar(1, "frame_step"))
    count = (length - size) // step + 1 if step > 0 else 0
    problem = check_size((count, size), 8) if count else f"frames every {step} elements"
    if problem is not None:
        raise node.error(problem)
    return node.emit_constant(np.arange(count)[:, None] * step + np.arange(size), "places")


def _frame_length(node: NodeView) -> int:
    """The elements of a frame: those of the window, where one is given."""
    if node.optional_input(3) is not None:
        size = int(node.required_scalar(3, "frame_length"))
        if node.optional_input(2) is not None and node.shape(2) != (size,):
            raise node.error(f"a window of {node.input(2).type} for frames of {size} elements")
        return size
    if node.optional_input(2) is None:
        raise node.error("neither a window nor a frame_length is given")
    size = node.shape(2)[0] if len(node.shape(2)) == 1 else None
    if not isinstance(size, int):
        raise node.error(f"a window of {node.input(2).type}; it must be a list of known length")
    return size
