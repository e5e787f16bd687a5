"""DFT and STFT: products with the matrix of a transform, from real and imaginary parts to real and imaginary parts.

The matrix of a transform of known length is computed at import.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    NodeView,
    Number,
    Numbers,
    converts,
    element_type_of,
    extent_value,
    extents_of,
    known_axis,
    numpy_dtype,
    padded,
    reshaped,
    shape_of,
    unless,
)
from xrelay.frontend.onnx.folding import evaluate_formula
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES


@dataclass(frozen=True)
class _Transform:
    """A transform of `length` elements, forward or inverse, full or onesided.

    The input of a onesided inverse is the first half of a symmetric spectrum, and its result is real.
    """

    length: Number
    inverse: bool = False
    onesided: bool = False

    @property
    def real(self) -> bool:
        """Whether the result has no imaginary part."""
        return self.inverse and self.onesided

    def bins(self, node: NodeView) -> Number:
        """Returns the number of elements of a spectrum."""
        if not self.onesided:
            return self.length
        numbers = Numbers(node)
        return numbers.of("add", numbers.of("floor_divide", self.length, 2), 1)


def _transformed(node: NodeView, data: SSAValue, transform: _Transform) -> SSAValue:
    """Returns the transform along the second-to-last axis of `data`; for dynamic extents, missing elements are 0."""
    (_, parts), bins, numbers = shape_of(data.type)[-2:], transform.bins(node), Numbers(node)
    dtype = numpy_dtype(element_type_of(data.type))
    extent = numbers.extent(data, len(shape_of(data.type)) - 2)
    results = transform.length if transform.real else bins
    if isinstance(extent, int) and isinstance(results, int):
        node.require_size((extent, 2, results, 2), np.dtype(np.float64).itemsize, MAX_COMPUTED_BYTES)

    def table() -> SSAValue:
        whole = _table(node, transform, *(numbers.value(number) for number in (transform.length, extent, results)))
        whole = node.emit("strided_slice", whole, begin=(0,), end=(1,), axes=(1,)) if parts == 1 else whole
        return node.emit("cast", whole, dtype=dtype)

    return _product(node, data, evaluate_formula(node, table, "table"))


def _product(node: NodeView, data: SSAValue, table: SSAValue) -> SSAValue:
    """The product of the last two axes of the data with the table (elements, parts, results, parts of the result)."""
    lead, out_parts = (0,) * (len(shape_of(data.type)) - 2), shape_of(table.type)[-1]
    if not isinstance(out_parts, int):
        raise node.error(f"a table of {table.type} has no known number of parts")
    rows = node.emit("reshape", data, newshape=(*lead, -3))
    found = node.emit("nn.matmul", rows, node.emit("reshape", table, newshape=(-3, -3)))
    return node.emit("reshape", found, newshape=(*lead, -4, -1, out_parts))


def _table(node: NodeView, transform: _Transform, length: SSAValue, elements: SSAValue, results: SSAValue) -> SSAValue:
    """The table in f64 for `elements` elements; a computed length below 1 is an error at run time.

    The products of indices are reduced modulo the length as integers, so that angles keep their precision.
    """
    length = unless(node, length, node.emit("less", length, node.emit_ints(1)))
    rows = node.emit("expand_dims", Numbers(node).arange(0, elements), axis=1)
    multiples = node.emit("floor_mod", node.emit("multiply", rows, Numbers(node).arange(0, results)), length)
    size = node.emit("cast", length, dtype="float64")
    angles = node.emit("cast", Numbers(node).arange(0, length), dtype="float64")
    angles = node.emit("divide", node.emit("multiply", angles, node.scalar(2 * pi, angles)), size)
    cos, sin = (node.emit("take", node.emit(name, angles), multiples, axis=0, mode="fast") for name in ("cos", "sin"))
    back = node.emit("negative", sin)
    falling, rising = (sin, back) if transform.inverse else (back, sin)
    pairs = [node.emit("stack", node.make_tuple(pair), axis=-1) for pair in ([cos, falling], [rising, cos])]
    table = node.emit("stack", node.make_tuple(pairs), axis=1)
    if transform.real:
        table = node.emit("strided_slice", table, begin=(0,), end=(1,), axes=(3,))
        table = node.emit("multiply", table, _weights_of_half(node, elements, length))
    return node.emit("divide", table, size) if transform.inverse else table


def _weights_of_half(node: NodeView, elements: SSAValue, length: SSAValue) -> SSAValue:
    """The multiplicity of elements of half a spectrum in the full one: 2, except for the first and the middle one."""
    places = Numbers(node).arange(0, elements)
    twice = node.emit("multiply", places, node.emit_ints(2))
    alone = node.emit("logical_or", node.emit("equal", places, node.emit_ints(0)), node.emit("equal", twice, length))
    one, two = (node.emit_constant(np.array(number), "weight") for number in (1.0, 2.0))
    return node.emit("expand_dims", node.emit("where", alone, one, two), axis=1, num_newaxis=3)


@converts("DFT", since=17, until=19, attributes=("axis", "inverse", "onesided"))
def convert_dft_attribute(node: NodeView) -> SSAValue:
    """DFT along the axis in an attribute."""
    return _along_known_axis(node, node.attribute_int("axis", 1))


@converts("DFT", since=20, attributes=("inverse", "onesided"))
def convert_dft_input(node: NodeView) -> SSAValue:
    """DFT along the axis in an input."""
    if node.optional_input(2) is None:
        return _along_known_axis(node, -2)
    if node.is_computed(2):
        return _along_computed_axis(node)
    return _along_known_axis(node, node.required_int(2, "axis"))


def _along_known_axis(node: NodeView, named: int) -> SSAValue:
    """The transform along a known axis; the last axis has the real and imaginary parts."""
    rank, _ = _rank_and_parts(node)
    axis = known_axis(node, named, rank)
    if axis == rank - 1:
        raise node.error(f"axis {named} of {node.input(0).type}: the last axis has one or two parts of a number")
    order = [*(place for place in range(rank - 1) if place != axis), axis, rank - 1]
    if order == list(range(rank)):
        return _along_last(node, node.input(0))
    result = _along_last(node, node.emit("transpose", node.input(0), axes=order))
    return node.emit("transpose", result, axes=[order.index(place) for place in range(rank)])


def _along_computed_axis(node: NodeView) -> SSAValue:
    """The transform along an axis that is known only at run time: the axes before and after it are merged.

    An axis out of range, or the last one, is an index out of range at run time.
    """
    (rank, parts), extents = _rank_and_parts(node), extents_of(node)
    places = node.emit_constant(np.arange(rank), "places")
    axis = node.emit("take", places, Numbers(node).value(Numbers(node).scalar_input(2, "axis")), axis=0, mode="raise")
    lead = node.emit("strided_slice", extents, begin=(0,), end=(rank - 1,))
    extent = node.emit("take", lead, axis, axis=0, mode="raise")
    places = node.emit("strided_slice", places, begin=(0,), end=(rank - 1,))
    before, after = (
        node.emit("prod", node.emit("where", node.emit(side, places, axis), lead, node.emit_ints(1)))
        for side in ("less", "greater")
    )
    numbers = [before, extent, node.emit("multiply", after, node.emit_ints(parts))]
    rows = reshaped(node, node.input(0), node.emit("stack", node.make_tuple(numbers), axis=0))
    rows = node.emit("reshape", rows, newshape=(0, 0, -4, -1, parts))
    result = _along_last(node, node.emit("transpose", rows, axes=(0, 2, 1, 3)))
    count = extent_value(node, result, 2)
    shape = node.emit("where", node.emit("equal", places, axis), count, lead)
    last = node.emit_constant(np.array(shape_of(result.type)[-1:], np.int64), "parts")
    shape = node.emit("concatenate", node.make_tuple([shape, last]), axis=0)
    return reshaped(node, node.emit("transpose", result, axes=(0, 2, 1, 3)), shape)


def _rank_and_parts(node: NodeView) -> tuple[int, int]:
    """The rank of the data, and the extent of its last axis: 1 (real) or 2 (complex)."""
    shape = node.shape(0)
    parts = shape[-1] if len(shape) > 1 else None
    if not isinstance(parts, int) or parts not in (1, 2):
        raise node.error(f"data of {node.input(0).type}: the last axis has one or two parts of a number")
    return len(shape), parts


def _along_last(node: NodeView, data: SSAValue) -> SSAValue:
    """The transform along the second-to-last axis, cut or zero-padded to the given length, if any."""
    inverse, onesided = (node.attribute_flag(name) for name in ("inverse", "onesided"))
    rank = len(shape_of(data.type))
    length = _length(node, data, half=inverse and onesided)
    transform = _Transform(length, inverse, onesided)
    if node.optional_input(1) is not None:
        data = _of_extent(node, data, rank - 2, transform.bins(node) if transform.real else length)
    return _transformed(node, data, transform)


def _length(node: NodeView, data: SSAValue, *, half: bool) -> Number:
    """The length of the transform: the given one, or the extent of the data's signal."""
    if node.optional_input(1) is not None:
        return _checked(node, Numbers(node).scalar_input(1, "dft_length"))
    numbers = Numbers(node)
    extent = numbers.extent(data, len(shape_of(data.type)) - 2)
    return _checked(node, numbers.of("multiply", numbers.of("subtract", extent, 1), 2) if half else extent)


def _checked(node: NodeView, length: Number) -> Number:
    if isinstance(length, int) and length < 1:
        raise node.error(f"a transform of length {length}; it must be positive")
    return length


def _of_extent(node: NodeView, data: SSAValue, axis: int, extent: Number) -> SSAValue:
    """The data cut along an axis, or zero-padded if both extents are known at import."""
    rank, found = len(shape_of(data.type)), shape_of(data.type)[axis]
    if not isinstance(found, int) or not isinstance(extent, int):
        numbers = Numbers(node)
        kept = node.emit("minimum", numbers.value(extent), extent_value(node, data, axis))
        return node.emit("take", data, numbers.arange(0, kept), axis=axis, mode="fast")
    if found >= extent:
        return data if found == extent else node.emit("strided_slice", data, begin=(0,), end=(extent,), axes=(axis,))
    widths = tuple(extent - found if place == axis else 0 for place in range(rank))
    return padded(node, data, ((0,) * rank, widths))


@converts("STFT", since=17, attributes=("onesided",))
def convert_stft(node: NodeView) -> SSAValue:
    """Overlapping frames of the signal, multiplied by the window and transformed.

    A signal shorter than a frame and a step that is not positive have no frames; they are an error if known at import.
    """
    shape = node.shape(0)
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] not in (1, 2)):
        raise node.error(f"a signal of {node.input(0).type}; it has a batch, a length, and one or two parts")
    signal = node.input(0) if len(shape) == 3 else node.emit("expand_dims", node.input(0), axis=2)
    size = _frame_length(node)
    frames = node.emit("take", signal, _frame_indices(node, signal, size), axis=1, mode="fast")
    if node.optional_input(2) is not None:
        frames = node.emit("multiply", frames, node.emit("expand_dims", node.input(2), axis=1))
    onesided = node.attribute_flag("onesided", True)
    return _transformed(node, frames, _Transform(size, onesided=onesided))


def _frame_indices(node: NodeView, signal: SSAValue, size: Number) -> SSAValue:
    """The indices of the elements of each frame; frames start a step apart."""
    length, step = shape_of(signal.type)[1], Numbers(node).scalar_input(1, "frame_step")
    if isinstance(size, int) and not (size >= 1 and (not isinstance(length, int) or size <= length)):
        raise node.error(f"frames of {size} elements of a signal of {length}")
    if isinstance(step, int) and step < 1:
        raise node.error(f"frames every {step} elements")
    numbers = Numbers(node)
    return numbers.places_of_parts(numbers.extent(signal, 1), size, step)


def _frame_length(node: NodeView) -> Number:
    """The number of elements of a frame: that of the window, if given."""
    if node.optional_input(2) is None:
        if node.optional_input(3) is None:
            raise node.error("a window or a frame_length is required")
        return Numbers(node).scalar_input(3, "frame_length")
    shape = node.shape(2)
    if len(shape) != 1:
        raise node.error(f"a window of {node.input(2).type}; it must be a list")
    given = Numbers(node).scalar_input(3, "frame_length") if node.optional_input(3) is not None else shape[0]
    if isinstance(given, int) and isinstance(shape[0], int) and shape[0] != given:
        raise node.error(f"a window of {node.input(2).type} for frames of {given} elements")
    if isinstance(given, SSAValue):
        return unless(node, given, node.emit("not_equal", given, extent_value(node, node.input(2), 0)))
    return shape[0] if isinstance(shape[0], int) else extent_value(node, node.input(2), 0)
